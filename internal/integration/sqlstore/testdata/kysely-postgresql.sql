CREATE TABLE "User" (
	"id" uuid DEFAULT gen_random_uuid() PRIMARY KEY,
	"name" text,
	"email" text NOT NULL UNIQUE,
	"emailVerified" timestamptz,
	"image" text
);

CREATE TABLE "Account" (
	"id" uuid DEFAULT gen_random_uuid() PRIMARY KEY,
	"userId" uuid NOT NULL,
	"type" text NOT NULL,
	"provider" text NOT NULL,
	"providerAccountId" text NOT NULL,
	"refresh_token" text,
	"access_token" text,
	"expires_at" bigint,
	"token_type" text,
	"scope" text,
	"id_token" text,
	"session_state" text,
	FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE
);

CREATE TABLE "Session" (
	"id" uuid DEFAULT gen_random_uuid() PRIMARY KEY,
	"userId" uuid NOT NULL,
	"sessionToken" text NOT NULL UNIQUE,
	"expires" timestamptz NOT NULL,
	FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE
);

CREATE TABLE "VerificationToken" (
	"identifier" text NOT NULL,
	"token" text NOT NULL UNIQUE,
	"expires" timestamptz NOT NULL
);

CREATE INDEX "Account_userId_index" ON "Account" ("userId");

CREATE INDEX "Session_userId_index" ON "Session" ("userId");
