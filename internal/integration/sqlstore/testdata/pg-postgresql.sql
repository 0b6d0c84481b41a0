CREATE TABLE users (
	id SERIAL PRIMARY KEY,
	name VARCHAR(255),
	email VARCHAR(255),
	"emailVerified" TIMESTAMPTZ,
	image TEXT
);

CREATE TABLE accounts (
	id SERIAL PRIMARY KEY,
	"userId" INTEGER NOT NULL,
	type VARCHAR(255) NOT NULL,
	provider VARCHAR(255) NOT NULL,
	"providerAccountId" VARCHAR(255) NOT NULL,
	refresh_token TEXT,
	access_token TEXT,
	expires_at BIGINT,
	id_token TEXT,
	scope TEXT,
	session_state TEXT,
	token_type TEXT
);

CREATE TABLE sessions (
	id SERIAL PRIMARY KEY,
	"userId" INTEGER NOT NULL,
	expires TIMESTAMPTZ NOT NULL,
	"sessionToken" VARCHAR(255) NOT NULL
);

CREATE TABLE verification_token (
	identifier TEXT NOT NULL,
	expires TIMESTAMPTZ NOT NULL,
	token TEXT NOT NULL,
	PRIMARY KEY (identifier, token)
);
