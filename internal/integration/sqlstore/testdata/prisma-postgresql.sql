CREATE TABLE "User" (
	"id" TEXT NOT NULL PRIMARY KEY,
	"name" TEXT,
	"email" TEXT NOT NULL UNIQUE,
	"emailVerified" TIMESTAMP(3),
	"image" TEXT,
	"createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" TIMESTAMP(3) NOT NULL
);

CREATE TABLE "Account" (
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
	"createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" TIMESTAMP(3) NOT NULL,
	PRIMARY KEY ("provider", "providerAccountId"),
	FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "Session" (
	"sessionToken" TEXT NOT NULL UNIQUE,
	"userId" TEXT NOT NULL,
	"expires" TIMESTAMP(3) NOT NULL,
	"createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" TIMESTAMP(3) NOT NULL,
	FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "VerificationToken" (
	"identifier" TEXT NOT NULL,
	"token" TEXT NOT NULL,
	"expires" TIMESTAMP(3) NOT NULL,
	PRIMARY KEY ("identifier", "token")
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
