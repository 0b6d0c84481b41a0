-- What attempts the limits of a site have counted, in all of its processes. id is a keyed
-- hash. expires is the count: the time until which attempts count, in milliseconds since
-- 1970.

CREATE TABLE IF NOT EXISTS pintle_counts (
	id      bytea PRIMARY KEY,
	expires bigint NOT NULL
);

CREATE INDEX IF NOT EXISTS pintle_counts_expires ON pintle_counts (expires);
