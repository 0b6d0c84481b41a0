-- What ended token sessions before their time. id is a SHA-256 of whom or what
-- was ended; sessions that began until the time "ended" are over. Times are
-- milliseconds since 1970.

CREATE TABLE pintle_revocations (
	id      bytea PRIMARY KEY,
	ended   bigint NOT NULL,
	expires bigint NOT NULL
);

CREATE INDEX pintle_revocations_expires ON pintle_revocations (expires);
