-- When an object was last looked at and found as its record says.
CREATE TABLE look (
    object     TEXT    NOT NULL PRIMARY KEY,
    at         INTEGER NOT NULL,
    next_run   INTEGER,
    not_before INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
