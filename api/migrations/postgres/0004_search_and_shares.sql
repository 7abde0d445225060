-- The title as it is searched: without case, accents and control characters. Empty until the API has written it anew.
ALTER TABLE quizzes ADD COLUMN title_folded TEXT;

-- A search reads one teacher's part of it in the list's order, and no quiz.
DROP INDEX quizzes_by_change;
CREATE INDEX quizzes_by_change ON quizzes (teacher_id, updated_ms DESC, id DESC)
    INCLUDE (title, questions, title_folded);

-- Quizzes that their teachers share: whoever knows the id may read the quiz. Deleted when it is shared no longer.
CREATE TABLE quiz_shares (
    id         UUID   NOT NULL PRIMARY KEY,
    quiz_id    UUID   NOT NULL UNIQUE REFERENCES quizzes (id) ON DELETE CASCADE,
    created_ms BIGINT NOT NULL
);
