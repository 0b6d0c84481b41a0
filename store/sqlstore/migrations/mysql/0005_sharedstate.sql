-- What the processes of a site decide together. id is a SHA-256. A row of pintle_once is
-- a value that was used, and one of pintle_leases a piece of work that is under way.
-- Times are milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_once (
	id      BINARY(32) NOT NULL PRIMARY KEY,
	expires BIGINT NOT NULL,
	INDEX pintle_once_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS pintle_leases (
	id      BINARY(32) NOT NULL PRIMARY KEY,
	owner   BINARY(16) NOT NULL,
	expires BIGINT NOT NULL,
	INDEX pintle_leases_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;
