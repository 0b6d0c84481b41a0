-- What the application keeps with sessions of Auth.js's table, which has no column
-- for it. session is the SHA-256 of the token. expires is when Store.Sweep looks
-- whether the session is still there, in milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_facts (
	session bytea PRIMARY KEY,
	user_id text COLLATE "C" NOT NULL,
	data    json NOT NULL,
	expires bigint NOT NULL
);

CREATE INDEX IF NOT EXISTS pintle_facts_user ON pintle_facts (user_id);

CREATE INDEX IF NOT EXISTS pintle_facts_expires ON pintle_facts (expires);
