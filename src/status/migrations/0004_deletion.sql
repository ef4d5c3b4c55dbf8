-- What the generation says about deletion, in the words of `reconcilePolicy.deletion`.
ALTER TABLE object ADD COLUMN deletion TEXT NOT NULL DEFAULT 'retain';

-- How far the generations of removed objects had come: they grow for ever.
CREATE TABLE forgotten (
    object     TEXT    NOT NULL PRIMARY KEY,
    generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
