-- What the application keeps with sessions of Auth.js's table, which has no column
-- for it. session is the SHA-256 of the token. expires is when Store.Sweep looks
-- whether the session is still there, in milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_facts (
	session BLOB NOT NULL PRIMARY KEY,
	user_id TEXT NOT NULL,
	data    TEXT NOT NULL,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS pintle_facts_user ON pintle_facts (user_id);

CREATE INDEX IF NOT EXISTS pintle_facts_expires ON pintle_facts (expires);
