-- What is kept of sign-ins at providers, so that their sign-out ends sessions here. id,
-- session, key_sid and key_sub are SHA-256, hint is sealed. A row of pintle_provider_ends
-- is an end that a sign-in under way must not overtake. Ids of users are texts without a
-- foreign key: the same tables stand beside those of Auth.js. Times are milliseconds
-- since 1970.

CREATE TABLE IF NOT EXISTS pintle_provider_sessions (
	id         BINARY(32) NOT NULL PRIMARY KEY,
	session    BINARY(32) NOT NULL,
	user_id    VARBINARY(255) NOT NULL,
	provider   TEXT NOT NULL,
	account_id TEXT NOT NULL,
	key_sid    BINARY(32),
	key_sub    BINARY(32),
	role       TEXT NOT NULL,
	acr        TEXT,
	amr        JSON,
	auth_time  BIGINT,
	proof      BIGINT,
	hint       MEDIUMTEXT,
	created    BIGINT NOT NULL,
	expires    BIGINT NOT NULL,
	INDEX pintle_provider_sessions_session (session),
	INDEX pintle_provider_sessions_user (user_id),
	INDEX pintle_provider_sessions_sid (key_sid),
	INDEX pintle_provider_sessions_sub (key_sub),
	INDEX pintle_provider_sessions_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS pintle_provider_ends (
	id      BINARY(32) NOT NULL PRIMARY KEY,
	ended   BIGINT NOT NULL,
	expires BIGINT NOT NULL,
	INDEX pintle_provider_ends_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;
