-- Times are milliseconds since 1970.

CREATE TABLE pintle_users (
	id             TEXT NOT NULL PRIMARY KEY,
	name           TEXT,
	email          TEXT UNIQUE,
	email_verified INTEGER,
	image          TEXT,
	extra          TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE pintle_accounts (
	id                  TEXT NOT NULL,
	user_id             TEXT NOT NULL REFERENCES pintle_users (id) ON DELETE CASCADE,
	type                TEXT NOT NULL,
	provider            TEXT NOT NULL,
	provider_account_id TEXT NOT NULL,
	verified_email      TEXT,
	access_token        TEXT,
	refresh_token       TEXT,
	id_token            TEXT,
	expires_at          INTEGER,
	token_type          TEXT,
	scope               TEXT,
	session_state       TEXT,
	oauth_token         TEXT,
	oauth_token_secret  TEXT,
	extra               TEXT,
	PRIMARY KEY (provider, provider_account_id)
) STRICT;

CREATE INDEX pintle_accounts_user ON pintle_accounts (user_id);

-- token_hash is the SHA-256 of the token.
CREATE TABLE pintle_sessions (
	token_hash BLOB NOT NULL PRIMARY KEY,
	user_id    TEXT NOT NULL REFERENCES pintle_users (id) ON DELETE CASCADE,
	expires    INTEGER NOT NULL,
	created    INTEGER,
	data       TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX pintle_sessions_user ON pintle_sessions (user_id);

CREATE INDEX pintle_sessions_expires ON pintle_sessions (expires);

CREATE TABLE pintle_verifications (
	identifier TEXT NOT NULL,
	token      TEXT NOT NULL,
	expires    INTEGER NOT NULL,
	PRIMARY KEY (identifier, token)
) STRICT, WITHOUT ROWID;

CREATE INDEX pintle_verifications_expires ON pintle_verifications (expires);

CREATE TABLE pintle_authenticators (
	credential_id       TEXT NOT NULL PRIMARY KEY,
	user_id             TEXT NOT NULL REFERENCES pintle_users (id) ON DELETE CASCADE,
	provider_account_id TEXT NOT NULL,
	public_key          TEXT NOT NULL,
	counter             INTEGER NOT NULL,
	device_type         TEXT NOT NULL,
	backed_up           INTEGER NOT NULL,
	transports          TEXT
) STRICT;

CREATE INDEX pintle_authenticators_user ON pintle_authenticators (user_id);
