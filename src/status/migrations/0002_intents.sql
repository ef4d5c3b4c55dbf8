-- Several objects may share a resource, and each holds its own intent for it.
CREATE TABLE intent_of_object (
    account   TEXT    NOT NULL,
    region    TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    object    TEXT    NOT NULL,
    operation TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (account, region, kind, name, object)
) STRICT, WITHOUT ROWID;

INSERT INTO intent_of_object SELECT account, region, kind, name, object, operation, at FROM intent;
DROP TABLE intent;
ALTER TABLE intent_of_object RENAME TO intent;
CREATE INDEX intent_by_object ON intent (object);
