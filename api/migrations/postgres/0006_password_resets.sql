-- Links by which a teacher may set a new password, once each.
CREATE TABLE password_resets (
    -- SHA-256 of the token in the link: a database that leaks lets nobody in.
    token_hash BYTEA  NOT NULL PRIMARY KEY,
    teacher_id UUID   NOT NULL REFERENCES teachers (id) ON DELETE CASCADE,
    expires_ms BIGINT NOT NULL
);

CREATE INDEX password_resets_by_teacher ON password_resets (teacher_id, expires_ms);
