-- What people asked of the agent and what stands, beside the records of its passes.
-- AUTOINCREMENT: no number comes twice, so that whoever has seen one has seen all before it.
CREATE TABLE asked (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    verb    TEXT    NOT NULL,
    -- The object, or the digest that is confirmed.
    subject TEXT    NOT NULL,
    ask     TEXT    NOT NULL,
    person  TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    UNIQUE (subject, verb)
) STRICT;

-- What the guards hold back until a person confirms it; each guard holds one set.
CREATE TABLE freeze (
    guard  TEXT NOT NULL PRIMARY KEY,
    freeze TEXT NOT NULL
) STRICT, WITHOUT ROWID;
