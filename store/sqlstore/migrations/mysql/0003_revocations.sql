-- What ended token sessions before their time. id is a SHA-256 of whom or what
-- was ended; sessions that began until the time "ended" are over. Times are
-- milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_revocations (
	id      BINARY(32) NOT NULL PRIMARY KEY,
	ended   BIGINT NOT NULL,
	expires BIGINT NOT NULL,
	INDEX pintle_revocations_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;
