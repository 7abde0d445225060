-- Games that are being played. Owners are small and change at every append, so that what is large lies elsewhere.
CREATE TABLE games (
    code TEXT NOT NULL PRIMARY KEY,
    -- The game's UUID, since codes come back.
    game BLOB NOT NULL,
    create_key TEXT NOT NULL,
    -- The owner; none after a release.
    server TEXT,
    incarnation BLOB,
    epoch INTEGER NOT NULL,
    claim BLOB NOT NULL,
    -- Number of the last record, in the snapshot or after it.
    last INTEGER NOT NULL,
    -- Unix time in milliseconds after which the game is forgotten.
    remove_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE facts (
    code TEXT NOT NULL PRIMARY KEY REFERENCES games (code) ON DELETE CASCADE,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE snapshots (
    code TEXT NOT NULL PRIMARY KEY REFERENCES games (code) ON DELETE CASCADE,
    -- The last record that it contains.
    through INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;

-- One row an append, in the order of its first record's number.
CREATE TABLE journal (
    code TEXT NOT NULL REFERENCES games (code) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (code, first)
) STRICT, WITHOUT ROWID;
