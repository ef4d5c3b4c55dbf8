-- What calls were spent on: in slots of ten seconds, and whole hours for what is older.
CREATE TABLE spent (
    at        INTEGER NOT NULL,
    account   TEXT    NOT NULL,
    region    TEXT    NOT NULL,
    service   TEXT    NOT NULL,
    operation TEXT    NOT NULL,
    cause     TEXT    NOT NULL,
    sent      INTEGER NOT NULL,
    throttled INTEGER NOT NULL,
    withheld  INTEGER NOT NULL,
    PRIMARY KEY (at, account, region, service, operation, cause)
) STRICT, WITHOUT ROWID;

-- How full each API budget was when the agent last looked.
CREATE TABLE bucket (
    account TEXT NOT NULL,
    region  TEXT NOT NULL,
    service TEXT NOT NULL,
    level   TEXT NOT NULL,
    PRIMARY KEY (account, region, service)
) STRICT, WITHOUT ROWID;
