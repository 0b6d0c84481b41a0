-- What is kept of sign-ins at providers, so that their sign-out ends sessions here. id,
-- session, key_sid and key_sub are SHA-256, hint is sealed. A row of pintle_provider_ends
-- is an end that a sign-in under way must not overtake. Ids of users are texts without a
-- foreign key: the same tables stand beside those of Auth.js. Times are milliseconds
-- since 1970.

CREATE TABLE IF NOT EXISTS pintle_provider_sessions (
	id         BLOB NOT NULL PRIMARY KEY,
	session    BLOB NOT NULL,
	user_id    TEXT NOT NULL,
	provider   TEXT NOT NULL,
	account_id TEXT NOT NULL,
	key_sid    BLOB,
	key_sub    BLOB,
	role       TEXT NOT NULL,
	acr        TEXT,
	amr        TEXT,
	auth_time  INTEGER,
	proof      INTEGER,
	hint       TEXT,
	created    INTEGER NOT NULL,
	expires    INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_session ON pintle_provider_sessions (session);

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_user ON pintle_provider_sessions (user_id);

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_sid ON pintle_provider_sessions (key_sid);

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_sub ON pintle_provider_sessions (key_sub);

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_expires ON pintle_provider_sessions (expires);

CREATE TABLE IF NOT EXISTS pintle_provider_ends (
	id      BLOB NOT NULL PRIMARY KEY,
	ended   INTEGER NOT NULL,
	expires INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS pintle_provider_ends_expires ON pintle_provider_ends (expires);
