CREATE TABLE "users" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY,
	"name" character varying,
	"email" character varying UNIQUE,
	"emailVerified" character varying,
	"image" character varying
);

CREATE TABLE "accounts" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY,
	"userId" uuid NOT NULL,
	"type" character varying NOT NULL,
	"provider" character varying NOT NULL,
	"providerAccountId" character varying NOT NULL,
	"refresh_token" character varying,
	"access_token" character varying,
	"expires_at" bigint,
	"token_type" character varying,
	"scope" character varying,
	"id_token" character varying,
	"session_state" character varying,
	FOREIGN KEY ("userId") REFERENCES "users" ("id") ON DELETE NO ACTION
);

CREATE TABLE "sessions" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY,
	"sessionToken" character varying NOT NULL UNIQUE,
	"userId" uuid NOT NULL,
	"expires" character varying NOT NULL,
	FOREIGN KEY ("userId") REFERENCES "users" ("id") ON DELETE NO ACTION
);

CREATE TABLE "verification_tokens" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY,
	"token" character varying NOT NULL,
	"identifier" character varying NOT NULL,
	"expires" character varying NOT NULL
);
