CREATE TABLE accounts (
	id text NOT NULL PRIMARY KEY,
	userId text NOT NULL DEFAULT NULL,
	type text NOT NULL DEFAULT NULL,
	provider text NOT NULL DEFAULT NULL,
	providerAccountId text NOT NULL DEFAULT NULL,
	refresh_token text DEFAULT NULL,
	access_token text DEFAULT NULL,
	expires_at number DEFAULT NULL,
	token_type text DEFAULT NULL,
	scope text DEFAULT NULL,
	id_token text DEFAULT NULL,
	session_state text DEFAULT NULL,
	oauth_token_secret text DEFAULT NULL,
	oauth_token text DEFAULT NULL
);

CREATE TABLE sessions (
	id text NOT NULL,
	sessionToken text NOT NULL PRIMARY KEY,
	userId text NOT NULL DEFAULT NULL,
	expires datetime NOT NULL DEFAULT NULL
);

CREATE TABLE users (
	id text NOT NULL DEFAULT '' PRIMARY KEY,
	name text DEFAULT NULL,
	email text DEFAULT NULL,
	emailVerified datetime DEFAULT NULL,
	image text DEFAULT NULL
);

CREATE TABLE verification_tokens (
	identifier text NOT NULL,
	token text NOT NULL DEFAULT NULL PRIMARY KEY,
	expires datetime NOT NULL DEFAULT NULL
);
