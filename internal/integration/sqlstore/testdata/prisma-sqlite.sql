CREATE TABLE "User" (
	"id" TEXT NOT NULL PRIMARY KEY,
	"name" TEXT,
	"email" TEXT UNIQUE,
	"emailVerified" DATETIME,
	"image" TEXT,
	"createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" DATETIME NOT NULL
);

CREATE TABLE "Account" (
	"id" TEXT NOT NULL PRIMARY KEY,
	"userId" TEXT NOT NULL,
	"type" TEXT NOT NULL,
	"provider" TEXT NOT NULL,
	"providerAccountId" TEXT NOT NULL,
	"refresh_token" TEXT,
	"access_token" TEXT,
	"expires_at" INTEGER,
	"token_type" TEXT,
	"scope" TEXT,
	"id_token" TEXT,
	"session_state" TEXT,
	"createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" DATETIME NOT NULL,
	UNIQUE ("provider", "providerAccountId"),
	FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "Session" (
	"id" TEXT NOT NULL PRIMARY KEY,
	"sessionToken" TEXT NOT NULL UNIQUE,
	"userId" TEXT NOT NULL,
	"expires" DATETIME NOT NULL,
	"createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" DATETIME NOT NULL,
	FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "VerificationToken" (
	"identifier" TEXT NOT NULL,
	"token" TEXT NOT NULL,
	"expires" DATETIME NOT NULL,
	UNIQUE ("identifier", "token")
);

CREATE TABLE "Authenticator" (
	"credentialID" TEXT NOT NULL UNIQUE,
	"userId" TEXT NOT NULL,
	"providerAccountId" TEXT NOT NULL,
	"credentialPublicKey" TEXT NOT NULL,
	"counter" INTEGER NOT NULL,
	"credentialDeviceType" TEXT NOT NULL,
	"credentialBackedUp" BOOLEAN NOT NULL,
	"transports" TEXT,
	PRIMARY KEY ("userId", "credentialID"),
	FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
