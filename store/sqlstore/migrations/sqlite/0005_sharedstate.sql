-- What the processes of a site decide together. id is a SHA-256. A row of pintle_once is
-- a value that was used, and one of pintle_leases a piece of work that is under way.
-- Times are milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_once (
	id      BLOB NOT NULL PRIMARY KEY,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS pintle_once_expires ON pintle_once (expires);

CREATE TABLE IF NOT EXISTS pintle_leases (
	id      BLOB NOT NULL PRIMARY KEY,
	owner   BLOB NOT NULL,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS pintle_leases_expires ON pintle_leases (expires);
