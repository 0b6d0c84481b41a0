CREATE TABLE "users" (
	"id" varchar NOT NULL PRIMARY KEY,
	"name" varchar,
	"email" varchar UNIQUE,
	"emailVerified" varchar,
	"image" varchar
);

CREATE TABLE "accounts" (
	"id" varchar NOT NULL PRIMARY KEY,
	"userId" varchar NOT NULL,
	"type" varchar NOT NULL,
	"provider" varchar NOT NULL,
	"providerAccountId" varchar NOT NULL,
	"refresh_token" varchar,
	"access_token" varchar,
	"expires_at" bigint,
	"token_type" varchar,
	"scope" varchar,
	"id_token" varchar,
	"session_state" varchar,
	FOREIGN KEY ("userId") REFERENCES "users" ("id") ON DELETE NO ACTION
);

CREATE TABLE "sessions" (
	"id" varchar NOT NULL PRIMARY KEY,
	"sessionToken" varchar NOT NULL UNIQUE,
	"userId" varchar NOT NULL,
	"expires" varchar NOT NULL,
	FOREIGN KEY ("userId") REFERENCES "users" ("id") ON DELETE NO ACTION
);

CREATE TABLE "verification_tokens" (
	"id" varchar NOT NULL PRIMARY KEY,
	"token" varchar NOT NULL,
	"identifier" varchar NOT NULL,
	"expires" varchar NOT NULL
);
