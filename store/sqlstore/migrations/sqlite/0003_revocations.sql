-- What ended token sessions before their time. id is a SHA-256 of whom or what
-- was ended; sessions that began until the time "ended" are over. Times are
-- milliseconds since 1970.

CREATE TABLE pintle_revocations (
	id      BLOB NOT NULL PRIMARY KEY,
	ended   INTEGER NOT NULL,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX pintle_revocations_expires ON pintle_revocations (expires);
