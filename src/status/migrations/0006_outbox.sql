-- What is to stand at the Git host, and what stands there.
CREATE TABLE post (
    topic      TEXT    NOT NULL PRIMARY KEY,
    wanted     TEXT    NOT NULL,
    since      INTEGER NOT NULL,
    sent       TEXT,
    handle     TEXT,
    failures   INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER,
    refused    TEXT
) STRICT, WITHOUT ROWID;
