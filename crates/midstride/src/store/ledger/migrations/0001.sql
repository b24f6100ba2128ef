-- A record is one append; its events stand in it as CloudEvents. `position` never gives a number
-- twice, so a cursor that was read stays valid.
CREATE TABLE records (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    stream   TEXT    NOT NULL,
    number   INTEGER NOT NULL,
    events   TEXT    NOT NULL,
    UNIQUE (stream, number)
) STRICT;

CREATE TABLE blobs (
    hash  TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT, WITHOUT ROWID;
