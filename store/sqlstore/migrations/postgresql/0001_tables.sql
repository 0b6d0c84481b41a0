-- Texts that identify something compare byte by byte (collation "C").
-- Times are milliseconds since 1970.

CREATE TABLE pintle_users (
	id             text COLLATE "C" PRIMARY KEY,
	name           text,
	email          text COLLATE "C" UNIQUE,
	email_verified bigint,
	image          text,
	extra          json
);

CREATE TABLE pintle_accounts (
	id                  text NOT NULL,
	user_id             text COLLATE "C" NOT NULL REFERENCES pintle_users (id) ON DELETE CASCADE,
	type                text NOT NULL,
	provider            text COLLATE "C" NOT NULL,
	provider_account_id text COLLATE "C" NOT NULL,
	verified_email      text,
	access_token        text,
	refresh_token       text,
	id_token            text,
	expires_at          bigint,
	token_type          text,
	scope               text,
	session_state       json,
	oauth_token         text,
	oauth_token_secret  text,
	extra               json,
	PRIMARY KEY (provider, provider_account_id)
);

CREATE INDEX pintle_accounts_user ON pintle_accounts (user_id);

-- token_hash is the SHA-256 of the token.
CREATE TABLE pintle_sessions (
	token_hash bytea PRIMARY KEY,
	user_id    text COLLATE "C" NOT NULL REFERENCES pintle_users (id) ON DELETE CASCADE,
	expires    bigint NOT NULL,
	created    bigint,
	data       json
);

CREATE INDEX pintle_sessions_user ON pintle_sessions (user_id);

CREATE INDEX pintle_sessions_expires ON pintle_sessions (expires);

CREATE TABLE pintle_verifications (
	identifier text COLLATE "C" NOT NULL,
	token      text COLLATE "C" NOT NULL,
	expires    bigint NOT NULL,
	PRIMARY KEY (identifier, token)
);

CREATE INDEX pintle_verifications_expires ON pintle_verifications (expires);

CREATE TABLE pintle_authenticators (
	credential_id       text COLLATE "C" PRIMARY KEY,
	user_id             text COLLATE "C" NOT NULL REFERENCES pintle_users (id) ON DELETE CASCADE,
	provider_account_id text NOT NULL,
	public_key          text NOT NULL,
	counter             bigint NOT NULL,
	device_type         text NOT NULL,
	backed_up           boolean NOT NULL,
	transports          text
);

CREATE INDEX pintle_authenticators_user ON pintle_authenticators (user_id);
