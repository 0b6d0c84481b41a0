-- What the application keeps with sessions of Auth.js's table, which has no column
-- for it. session is the SHA-256 of the token. expires is when Store.Sweep looks
-- whether the session is still there, in milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_facts (
	session BINARY(32) NOT NULL PRIMARY KEY,
	user_id VARBINARY(255) NOT NULL,
	data    JSON NOT NULL,
	expires BIGINT NOT NULL,
	INDEX pintle_facts_user (user_id),
	INDEX pintle_facts_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;
