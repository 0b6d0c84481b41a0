-- Texts that identify something are binary: the collations of text ignore case
-- and accents, and nearly all of them trailing spaces. They are UTF-8.
-- Times are milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_users (
	id             VARBINARY(255) NOT NULL PRIMARY KEY,
	name           TEXT,
	email          VARBINARY(500) UNIQUE,
	email_verified BIGINT,
	image          MEDIUMTEXT,
	extra          JSON
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS pintle_accounts (
	id                  VARBINARY(255) NOT NULL,
	user_id             VARBINARY(255) NOT NULL,
	type                VARCHAR(32) NOT NULL,
	provider            VARBINARY(255) NOT NULL,
	provider_account_id VARBINARY(1000) NOT NULL,
	verified_email      TEXT,
	access_token        MEDIUMTEXT,
	refresh_token       MEDIUMTEXT,
	id_token            MEDIUMTEXT,
	expires_at          BIGINT,
	token_type          TEXT,
	scope               TEXT,
	session_state       JSON,
	oauth_token         TEXT,
	oauth_token_secret  TEXT,
	extra               JSON,
	PRIMARY KEY (provider, provider_account_id),
	INDEX pintle_accounts_user (user_id),
	FOREIGN KEY (user_id) REFERENCES pintle_users (id) ON DELETE CASCADE
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;

-- token_hash is the SHA-256 of the token.
CREATE TABLE IF NOT EXISTS pintle_sessions (
	token_hash BINARY(32) NOT NULL PRIMARY KEY,
	user_id    VARBINARY(255) NOT NULL,
	expires    BIGINT NOT NULL,
	created    BIGINT,
	data       JSON,
	INDEX pintle_sessions_user (user_id),
	INDEX pintle_sessions_expires (expires),
	FOREIGN KEY (user_id) REFERENCES pintle_users (id) ON DELETE CASCADE
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS pintle_verifications (
	identifier VARBINARY(1000) NOT NULL,
	token      VARBINARY(255) NOT NULL,
	expires    BIGINT NOT NULL,
	PRIMARY KEY (identifier, token),
	INDEX pintle_verifications_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS pintle_authenticators (
	credential_id       VARBINARY(1500) NOT NULL PRIMARY KEY,
	user_id             VARBINARY(255) NOT NULL,
	provider_account_id VARBINARY(1500) NOT NULL,
	public_key          TEXT NOT NULL,
	counter             BIGINT NOT NULL,
	device_type         VARCHAR(32) NOT NULL,
	backed_up           BOOLEAN NOT NULL,
	transports          TEXT,
	INDEX pintle_authenticators_user (user_id),
	FOREIGN KEY (user_id) REFERENCES pintle_users (id) ON DELETE CASCADE
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;
