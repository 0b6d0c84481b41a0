-- createUser
INSERT INTO "user" ("id", "name", "email", "emailVerified", "image") VALUES ($1, $2, $3, $4, $5) RETURNING "id", "name", "email", "emailVerified", "image";

-- user
SELECT "id", "name", "email", "emailVerified", "image" FROM "user" WHERE "id" = $1;

-- userByEmail
SELECT "id", "name", "email", "emailVerified", "image" FROM "user" WHERE "email" = $1;

-- userByAccount
SELECT u."id", u."name", u."email", u."emailVerified", u."image" FROM "account" a JOIN "user" u ON u."id" = a."userId" WHERE a."provider" = $1 AND a."providerAccountId" = $2;

-- deleteUser[0]
DELETE FROM "session" WHERE "userId" = $1;

-- deleteUser[1]
DELETE FROM "authenticator" WHERE "userId" = $1;

-- deleteUser[2]
DELETE FROM "account" WHERE "userId" = $1;

-- deleteUser[3]
DELETE FROM "user" WHERE "id" = $1;

-- lockUser
SELECT "id" FROM "user" WHERE "id" = $1 FOR UPDATE;

-- userLocked
SELECT "email" FROM "user" WHERE "id" = $1 FOR UPDATE;

-- updateUser[1]
UPDATE "user" SET "name" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[2]
UPDATE "user" SET "email" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[3]
UPDATE "user" SET "name" = $2, "email" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[4]
UPDATE "user" SET "emailVerified" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[5]
UPDATE "user" SET "name" = $2, "emailVerified" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[6]
UPDATE "user" SET "email" = $2, "emailVerified" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[7]
UPDATE "user" SET "name" = $2, "email" = $3, "emailVerified" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[8]
UPDATE "user" SET "image" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[9]
UPDATE "user" SET "name" = $2, "image" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[10]
UPDATE "user" SET "email" = $2, "image" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[11]
UPDATE "user" SET "name" = $2, "email" = $3, "image" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[12]
UPDATE "user" SET "emailVerified" = $2, "image" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[13]
UPDATE "user" SET "name" = $2, "emailVerified" = $3, "image" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[14]
UPDATE "user" SET "email" = $2, "emailVerified" = $3, "image" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[15]
UPDATE "user" SET "name" = $2, "email" = $3, "emailVerified" = $4, "image" = $5 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- linkAccount
INSERT INTO "account" ("userId", "type", "provider", "providerAccountId", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state") SELECT u."id", $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM "user" u WHERE u."id" = $1 FOR KEY SHARE;

-- account
SELECT "userId", "type", "provider", "providerAccountId", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state" FROM "account" WHERE "provider" = $1 AND "providerAccountId" = $2;

-- userAccounts
SELECT "userId", "type", "provider", "providerAccountId", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state" FROM "account" WHERE "userId" = $1;

-- updateAccount
UPDATE "account" SET "access_token" = $3, "refresh_token" = $4, "id_token" = $5, "expires_at" = $6, "token_type" = $7, "scope" = $8, "session_state" = $9 WHERE "provider" = $1 AND "providerAccountId" = $2;

-- swapAccount
UPDATE "account" SET "access_token" = $4, "refresh_token" = $5, "id_token" = $6, "expires_at" = $7, "token_type" = $8, "scope" = $9, "session_state" = $10 WHERE "provider" = $1 AND "providerAccountId" = $2 AND COALESCE("refresh_token", '') = $3;

-- unlinkAccount
DELETE FROM "account" WHERE "userId" = $1 AND "provider" = $2 AND "providerAccountId" = $3;

-- ownAccount
SELECT "type" FROM "account" WHERE "userId" = $1 AND "provider" = $2 AND "providerAccountId" = $3 FOR UPDATE;

-- createSession
INSERT INTO "session" ("sessionToken", "userId", "expires") SELECT $1, u."id", $3 FROM "user" u WHERE u."id" = $2 FOR KEY SHARE;

-- sessionAndUser
SELECT s."expires", u."id", u."name", u."email", u."emailVerified", u."image" FROM "session" s JOIN "user" u ON u."id" = s."userId" WHERE s."sessionToken" = $1;

-- sessionExists
SELECT "expires" FROM "session" WHERE "sessionToken" = $1;

-- deleteSession
DELETE FROM "session" WHERE "sessionToken" = $1 RETURNING "userId", "expires";

-- updateSession[1]
UPDATE "session" SET "expires" = $2 WHERE "sessionToken" = $1;

-- updateSession[3]
UPDATE "session" SET "expires" = $2 WHERE "sessionToken" = $1;

-- session
SELECT "userId", "expires" FROM "session" WHERE "sessionToken" = $1;

-- userSessions
SELECT "sessionToken", "userId", "expires" FROM "session" WHERE "userId" = $1;

-- endSession
DELETE FROM "session" WHERE "userId" = $1 AND "sessionToken" = $2;

-- endUserSessions
DELETE FROM "session" WHERE "userId" = $1;

-- endUserSessionsExcept
DELETE FROM "session" WHERE "userId" = $1 AND NOT ("sessionToken" = $2);

-- sessionTokens
SELECT "sessionToken" FROM "session" WHERE "userId" = $1;

-- createVerification
INSERT INTO "verificationToken" ("identifier", "token", "expires") VALUES ($1, $2, $3);

-- useVerification
DELETE FROM "verificationToken" WHERE "identifier" = $1 AND "token" = $2 RETURNING "expires";

-- verification
SELECT "expires" FROM "verificationToken" WHERE "identifier" = $1 AND "token" = $2;

-- createAuthenticator
INSERT INTO "authenticator" ("credentialID", "userId", "providerAccountId", "credentialPublicKey", "counter", "credentialDeviceType", "credentialBackedUp", "transports") SELECT $1, u."id", $3, $4, $5, $6, $7, $8 FROM "user" u WHERE u."id" = $2 FOR KEY SHARE;

-- authenticator
SELECT "credentialID", "userId", "providerAccountId", "credentialPublicKey", "counter", "credentialDeviceType", "credentialBackedUp", "transports" FROM "authenticator" WHERE "credentialID" = $1;

-- userAuthenticators
SELECT "credentialID", "userId", "providerAccountId", "credentialPublicKey", "counter", "credentialDeviceType", "credentialBackedUp", "transports" FROM "authenticator" WHERE "userId" = $1;

-- useAuthenticator
UPDATE "authenticator" SET "counter" = $3, "credentialBackedUp" = $4 WHERE "credentialID" = $1 AND "counter" = $2;

-- deleteAuthenticator
DELETE FROM "authenticator" WHERE "userId" = $1 AND "credentialID" = $2;

-- sweepSessions
WITH expired AS (SELECT "sessionToken" FROM "session" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "session" WHERE ("sessionToken") IN (SELECT "sessionToken" FROM expired) AND "expires" < $1;

-- sweepVerifications
WITH expired AS (SELECT "identifier", "token" FROM "verificationToken" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "verificationToken" WHERE ("identifier", "token") IN (SELECT "identifier", "token" FROM expired) AND "expires" < $1;

