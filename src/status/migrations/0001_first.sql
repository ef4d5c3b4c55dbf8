-- "LVST": tells our file from another program's (SQLite, pragma application_id).
PRAGMA application_id = 1280725844;

-- Times are milliseconds since 1970 in UTC. Documents are JSON text.

CREATE TABLE object (
    object     TEXT    NOT NULL PRIMARY KEY,
    generation INTEGER NOT NULL,
    digest     TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    memory     TEXT    NOT NULL,
    token      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A resource holds at most one unresolved intent.
CREATE TABLE intent (
    account   TEXT    NOT NULL,
    region    TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    object    TEXT    NOT NULL,
    operation TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (account, region, kind, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX intent_by_object ON intent (object);

CREATE TABLE event (
    id      INTEGER PRIMARY KEY,
    object  TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    reason  TEXT    NOT NULL,
    message TEXT    NOT NULL
) STRICT;

CREATE INDEX event_by_object ON event (object, id);
CREATE INDEX event_by_time ON event (at);

-- The highest fencing token seen for each shard.
CREATE TABLE shard (
    shard INTEGER NOT NULL PRIMARY KEY,
    token INTEGER NOT NULL
) STRICT;
