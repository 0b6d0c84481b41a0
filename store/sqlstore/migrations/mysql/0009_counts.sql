-- What attempts the limits of a site have counted, in all of its processes. id is a keyed
-- hash. expires is the count: the time until which attempts count, in milliseconds since
-- 1970.

CREATE TABLE IF NOT EXISTS pintle_counts (
	id      BINARY(32) NOT NULL PRIMARY KEY,
	expires BIGINT NOT NULL,
	INDEX pintle_counts_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;
