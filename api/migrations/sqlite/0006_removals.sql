-- Whether the rows of a student were deleted: then the result as it was saved is recognised no longer by what is stored.
ALTER TABLE games ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0;
