-- What the processes of a site decide together. id is a SHA-256. A row of pintle_once is
-- a value that was used, and one of pintle_leases a piece of work that is under way.
-- Times are milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_once (
	id      bytea PRIMARY KEY,
	expires bigint NOT NULL
);

CREATE INDEX IF NOT EXISTS pintle_once_expires ON pintle_once (expires);

CREATE TABLE IF NOT EXISTS pintle_leases (
	id      bytea PRIMARY KEY,
	owner   bytea NOT NULL,
	expires bigint NOT NULL
);

CREATE INDEX IF NOT EXISTS pintle_leases_expires ON pintle_leases (expires);
