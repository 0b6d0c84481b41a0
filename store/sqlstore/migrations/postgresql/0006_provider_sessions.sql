-- What is kept of sign-ins at providers, so that their sign-out ends sessions here. id,
-- session, key_sid and key_sub are SHA-256, hint is sealed. A row of pintle_provider_ends
-- is an end that a sign-in under way must not overtake. Ids of users are texts without a
-- foreign key: the same tables stand beside those of Auth.js. Times are milliseconds
-- since 1970.

CREATE TABLE IF NOT EXISTS pintle_provider_sessions (
	id         bytea PRIMARY KEY,
	session    bytea NOT NULL,
	user_id    text COLLATE "C" NOT NULL,
	provider   text NOT NULL,
	account_id text NOT NULL,
	key_sid    bytea,
	key_sub    bytea,
	role       text NOT NULL,
	acr        text,
	amr        json,
	auth_time  bigint,
	proof      bigint,
	hint       text,
	created    bigint NOT NULL,
	expires    bigint NOT NULL
);

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_session ON pintle_provider_sessions (session);

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_user ON pintle_provider_sessions (user_id);

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_sid ON pintle_provider_sessions (key_sid);

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_sub ON pintle_provider_sessions (key_sub);

CREATE INDEX IF NOT EXISTS pintle_provider_sessions_expires ON pintle_provider_sessions (expires);

CREATE TABLE IF NOT EXISTS pintle_provider_ends (
	id      bytea PRIMARY KEY,
	ended   bigint NOT NULL,
	expires bigint NOT NULL
);

CREATE INDEX IF NOT EXISTS pintle_provider_ends_expires ON pintle_provider_ends (expires);
