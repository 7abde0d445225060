-- Times are Unix milliseconds; ids are the 16 bytes of a UUID.

CREATE TABLE teachers (
    id            BLOB    NOT NULL PRIMARY KEY,
    -- Normalised: trimmed, lower case.
    email         TEXT    NOT NULL UNIQUE,
    name          TEXT    NOT NULL,
    -- argon2id in PHC form.
    password_hash TEXT    NOT NULL,
    created_ms    INTEGER NOT NULL
) STRICT;

-- One row for each browser that is signed in.
CREATE TABLE sessions (
    id         BLOB    NOT NULL PRIMARY KEY,
    teacher_id BLOB    NOT NULL REFERENCES teachers (id) ON DELETE CASCADE,
    -- SHA-256 of the refresh token that is good now, and of the one before it.
    current    BLOB    NOT NULL,
    previous   BLOB,
    issued_ms  INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_teacher ON sessions (teacher_id, issued_ms);

CREATE TABLE quizzes (
    id         BLOB    NOT NULL PRIMARY KEY,
    teacher_id BLOB    NOT NULL REFERENCES teachers (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    -- Copied out of the document, so that a list reads no documents.
    title      TEXT    NOT NULL,
    questions  INTEGER NOT NULL,
    document   TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX quizzes_by_change ON quizzes (teacher_id, updated_ms DESC, id DESC);

CREATE TABLE games (
    id         BLOB    NOT NULL PRIMARY KEY,
    teacher_id BLOB    NOT NULL REFERENCES teachers (id) ON DELETE CASCADE,
    -- No reference: a quiz may be deleted, what was played stays.
    quiz_id    BLOB    NOT NULL,
    code       TEXT    NOT NULL,
    settings   TEXT    NOT NULL,
    -- The quiz as played, and how many of its questions were.
    title      TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    questions  INTEGER NOT NULL,
    players    INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    ended_ms   INTEGER NOT NULL
) STRICT;

CREATE INDEX games_by_end ON games (teacher_id, ended_ms DESC, id DESC);

-- A game that its teacher deleted does not come back when its result is sent once more.
CREATE TABLE deleted_games (
    id BLOB NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE game_questions (
    game_id BLOB    NOT NULL REFERENCES games (id) ON DELETE CASCADE,
    q       INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    PRIMARY KEY (game_id, q)
) STRICT, WITHOUT ROWID;

CREATE TABLE game_players (
    game_id   BLOB    NOT NULL REFERENCES games (id) ON DELETE CASCADE,
    player_id INTEGER NOT NULL,
    -- Position in the ranking, from 0; ranks are shared by equal points.
    position  INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    rank      INTEGER NOT NULL,
    total     INTEGER NOT NULL,
    PRIMARY KEY (game_id, player_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE game_answers (
    game_id    BLOB    NOT NULL,
    player_id  INTEGER NOT NULL,
    q          INTEGER NOT NULL,
    -- Choices from 0, as a JSON array.
    choices    TEXT    NOT NULL,
    elapsed_ms INTEGER NOT NULL,
    correct    INTEGER NOT NULL,
    points     INTEGER NOT NULL,
    PRIMARY KEY (game_id, player_id, q),
    FOREIGN KEY (game_id, player_id) REFERENCES game_players (game_id, player_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
