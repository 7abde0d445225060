-- Accepted answers of a game, and how many of them were right: counted once, when the result is saved.
ALTER TABLE games ADD COLUMN answers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE games ADD COLUMN right_answers INTEGER NOT NULL DEFAULT 0;

UPDATE games SET
    answers = (SELECT count(*) FROM game_answers a WHERE a.game_id = games.id),
    right_answers = (SELECT count(*) FROM game_answers a WHERE a.game_id = games.id AND a.correct);

-- Lists read it in its order; the dashboard's counts need nothing but what it holds.
DROP INDEX games_by_end;
CREATE INDEX games_by_end ON games (teacher_id, ended_ms DESC, id DESC, quiz_id, players, answers, right_answers);
