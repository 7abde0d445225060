-- Times are Unix milliseconds. What the SQLite schema calls an INTEGER has here the smallest type that holds it.

CREATE TABLE teachers (
    id            UUID   NOT NULL PRIMARY KEY,
    -- Normalised: trimmed, lower case.
    email         TEXT   NOT NULL UNIQUE,
    name          TEXT   NOT NULL,
    -- argon2id in PHC form.
    password_hash TEXT   NOT NULL,
    created_ms    BIGINT NOT NULL,
    -- Grows with every change to this teacher's quizzes and games. Whoever changes them updates it first, which also makes
    -- such changes of one teacher take turns.
    revision      BIGINT NOT NULL DEFAULT 0
);

-- One row for each browser that is signed in.
CREATE TABLE sessions (
    id         UUID   NOT NULL PRIMARY KEY,
    teacher_id UUID   NOT NULL REFERENCES teachers (id) ON DELETE CASCADE,
    -- SHA-256 of the refresh token that is good now, and of the one before it.
    current    BYTEA  NOT NULL,
    previous   BYTEA,
    issued_ms  BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
);

CREATE INDEX sessions_by_teacher ON sessions (teacher_id, issued_ms);

CREATE TABLE quizzes (
    id         UUID    NOT NULL PRIMARY KEY,
    teacher_id UUID    NOT NULL REFERENCES teachers (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    -- Copied out of the document, so that a list reads no documents.
    title      TEXT    NOT NULL,
    questions  INTEGER NOT NULL,
    -- JSON as it was written: JSONB would reorder it, and nothing looks into it.
    document   TEXT    NOT NULL,
    created_ms BIGINT  NOT NULL,
    updated_ms BIGINT  NOT NULL
);

CREATE INDEX quizzes_by_change ON quizzes (teacher_id, updated_ms DESC, id DESC);

CREATE TABLE games (
    id            UUID    NOT NULL PRIMARY KEY,
    teacher_id    UUID    NOT NULL REFERENCES teachers (id) ON DELETE CASCADE,
    -- No reference: a quiz may be deleted, what was played stays.
    quiz_id       UUID    NOT NULL,
    code          TEXT    NOT NULL,
    settings      TEXT    NOT NULL,
    -- The quiz as played, and how many of its questions were.
    title         TEXT    NOT NULL,
    document      TEXT    NOT NULL,
    questions     INTEGER NOT NULL,
    players       INTEGER NOT NULL,
    -- Accepted answers, and how many of them were right: counted once, when the result is saved.
    answers       INTEGER NOT NULL,
    right_answers INTEGER NOT NULL,
    created_ms    BIGINT  NOT NULL,
    ended_ms      BIGINT  NOT NULL
);

-- Lists read it in its order; the dashboard's counts need nothing but what it holds.
CREATE INDEX games_by_end ON games (teacher_id, ended_ms DESC, id DESC)
    INCLUDE (quiz_id, players, answers, right_answers);

-- A game that its teacher deleted does not come back when its result is sent once more.
CREATE TABLE deleted_games (
    id UUID NOT NULL PRIMARY KEY
);

CREATE TABLE game_questions (
    game_id UUID    NOT NULL REFERENCES games (id) ON DELETE CASCADE,
    q       INTEGER NOT NULL,
    skipped BOOLEAN NOT NULL,
    PRIMARY KEY (game_id, q)
);

CREATE TABLE game_players (
    game_id   UUID    NOT NULL REFERENCES games (id) ON DELETE CASCADE,
    player_id INTEGER NOT NULL,
    -- Position in the ranking, from 0; ranks are shared by equal points.
    position  INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    rank      INTEGER NOT NULL,
    total     INTEGER NOT NULL,
    PRIMARY KEY (game_id, player_id)
);

CREATE TABLE game_answers (
    game_id    UUID    NOT NULL,
    player_id  INTEGER NOT NULL,
    q          INTEGER NOT NULL,
    elapsed_ms INTEGER NOT NULL,
    points     INTEGER NOT NULL,
    correct    BOOLEAN NOT NULL,
    -- Choices from 0, a byte each.
    choices    BYTEA   NOT NULL,
    PRIMARY KEY (game_id, player_id, q),
    FOREIGN KEY (game_id, player_id) REFERENCES game_players (game_id, player_id) ON DELETE CASCADE
);
