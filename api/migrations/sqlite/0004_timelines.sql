-- What happened to a game, for support: JSON, or nothing for games that were saved before. It goes with its game.
ALTER TABLE games ADD COLUMN timeline TEXT;

-- Support asks by the code that the class typed, of those that have one.
CREATE INDEX games_by_code ON games (code, ended_ms DESC) WHERE timeline IS NOT NULL;
