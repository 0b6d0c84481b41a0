CREATE SCHEMA next_auth;

CREATE TABLE next_auth.users (
	id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
	name text,
	email text UNIQUE,
	"emailVerified" timestamp with time zone,
	image text
);

CREATE TABLE next_auth.sessions (
	id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
	expires timestamp with time zone NOT NULL,
	"sessionToken" text NOT NULL UNIQUE,
	"userId" uuid REFERENCES next_auth.users (id) ON DELETE CASCADE
);

CREATE TABLE next_auth.accounts (
	id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
	type text NOT NULL,
	provider text NOT NULL,
	"providerAccountId" text NOT NULL,
	refresh_token text,
	access_token text,
	expires_at bigint,
	token_type text,
	scope text,
	id_token text,
	session_state text,
	oauth_token_secret text,
	oauth_token text,
	"userId" uuid REFERENCES next_auth.users (id) ON DELETE CASCADE,
	UNIQUE (provider, "providerAccountId")
);

CREATE TABLE next_auth.verification_tokens (
	identifier text,
	token text PRIMARY KEY,
	expires timestamp with time zone NOT NULL,
	UNIQUE (token, identifier)
);
