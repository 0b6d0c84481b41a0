-- createUser
INSERT INTO "User" ("id", "name", "email", "emailVerified", "image") VALUES (?1, ?2, ?3, ?4, ?5) RETURNING "id", "name", "email", "emailVerified", "image";

-- user
SELECT "id", "name", "email", "emailVerified", "image" FROM "User" WHERE "id" = ?1;

-- userByEmail
SELECT "id", "name", "email", "emailVerified", "image" FROM "User" WHERE "email" = ?1;

-- userByAccount
SELECT u."id", u."name", u."email", u."emailVerified", u."image" FROM "Account" a JOIN "User" u ON u."id" = a."userId" WHERE a."provider" = ?1 AND a."providerAccountId" = ?2;

-- deleteUser[0]
DELETE FROM "Session" WHERE "userId" = ?1;

-- deleteUser[1]
DELETE FROM "Account" WHERE "userId" = ?1;

-- deleteUser[2]
DELETE FROM "User" WHERE "id" = ?1;

-- userLocked
SELECT "email" FROM "User" WHERE "id" = ?1;

-- updateUser[1]
UPDATE "User" SET "name" = ?2 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[2]
UPDATE "User" SET "email" = ?2 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[3]
UPDATE "User" SET "name" = ?2, "email" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[4]
UPDATE "User" SET "emailVerified" = ?2 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[5]
UPDATE "User" SET "name" = ?2, "emailVerified" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[6]
UPDATE "User" SET "email" = ?2, "emailVerified" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[7]
UPDATE "User" SET "name" = ?2, "email" = ?3, "emailVerified" = ?4 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[8]
UPDATE "User" SET "image" = ?2 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[9]
UPDATE "User" SET "name" = ?2, "image" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[10]
UPDATE "User" SET "email" = ?2, "image" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[11]
UPDATE "User" SET "name" = ?2, "email" = ?3, "image" = ?4 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[12]
UPDATE "User" SET "emailVerified" = ?2, "image" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[13]
UPDATE "User" SET "name" = ?2, "emailVerified" = ?3, "image" = ?4 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[14]
UPDATE "User" SET "email" = ?2, "emailVerified" = ?3, "image" = ?4 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[15]
UPDATE "User" SET "name" = ?2, "email" = ?3, "emailVerified" = ?4, "image" = ?5 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- linkAccount
INSERT INTO "Account" ("userId", "type", "provider", "providerAccountId", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "id") SELECT u."id", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM "User" u WHERE u."id" = ?1;

-- account
SELECT "userId", "type", "provider", "providerAccountId", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state" FROM "Account" WHERE "provider" = ?1 AND "providerAccountId" = ?2;

-- userAccounts
SELECT "userId", "type", "provider", "providerAccountId", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state" FROM "Account" WHERE "userId" = ?1;

-- updateAccount
UPDATE "Account" SET "access_token" = ?3, "refresh_token" = ?4, "id_token" = ?5, "expires_at" = ?6, "token_type" = ?7, "scope" = ?8, "session_state" = ?9 WHERE "provider" = ?1 AND "providerAccountId" = ?2;

-- swapAccount
UPDATE "Account" SET "access_token" = ?4, "refresh_token" = ?5, "id_token" = ?6, "expires_at" = ?7, "token_type" = ?8, "scope" = ?9, "session_state" = ?10 WHERE "provider" = ?1 AND "providerAccountId" = ?2 AND COALESCE("refresh_token", '') = ?3;

-- unlinkAccount
DELETE FROM "Account" WHERE "userId" = ?1 AND "provider" = ?2 AND "providerAccountId" = ?3;

-- ownAccount
SELECT "type" FROM "Account" WHERE "userId" = ?1 AND "provider" = ?2 AND "providerAccountId" = ?3;

-- createSession
INSERT INTO "Session" ("sessionToken", "userId", "expires", "id") SELECT ?1, u."id", ?3, ?4 FROM "User" u WHERE u."id" = ?2;

-- sessionAndUser
SELECT s."id", s."expires", u."id", u."name", u."email", u."emailVerified", u."image" FROM "Session" s JOIN "User" u ON u."id" = s."userId" WHERE s."sessionToken" = ?1;

-- sessionExists
SELECT "expires" FROM "Session" WHERE "sessionToken" = ?1;

-- deleteSession
DELETE FROM "Session" WHERE "sessionToken" = ?1 RETURNING "userId", "id", "expires";

-- updateSession[1]
UPDATE "Session" SET "expires" = ?2 WHERE "sessionToken" = ?1;

-- updateSession[3]
UPDATE "Session" SET "expires" = ?2 WHERE "sessionToken" = ?1;

-- session
SELECT "userId", "id", "expires" FROM "Session" WHERE "sessionToken" = ?1;

-- userSessions
SELECT "sessionToken", "userId", "id", "expires" FROM "Session" WHERE "userId" = ?1;

-- endSession
DELETE FROM "Session" WHERE "userId" = ?1 AND "sessionToken" = ?2;

-- endUserSessions
DELETE FROM "Session" WHERE "userId" = ?1;

-- endUserSessionsExcept
DELETE FROM "Session" WHERE "userId" = ?1 AND NOT ("sessionToken" = ?2);

-- sessionTokens
SELECT "sessionToken" FROM "Session" WHERE "userId" = ?1;

-- createVerification
INSERT INTO "VerificationToken" ("identifier", "token", "expires") VALUES (?1, ?2, ?3);

-- useVerification
DELETE FROM "VerificationToken" WHERE "identifier" = ?1 AND "token" = ?2 RETURNING "expires";

-- verification
SELECT "expires" FROM "VerificationToken" WHERE "identifier" = ?1 AND "token" = ?2;

-- sweepSessions
DELETE FROM "Session" WHERE ("sessionToken") IN (SELECT "sessionToken" FROM "Session" WHERE "expires" < ?1 AND "expires" LIKE '____-%' ORDER BY "expires" LIMIT ?2) AND "expires" < ?1 AND "expires" LIKE '____-%';

-- sweepVerifications
DELETE FROM "VerificationToken" WHERE ("identifier", "token") IN (SELECT "identifier", "token" FROM "VerificationToken" WHERE "expires" < ?1 AND "expires" LIKE '____-%' ORDER BY "expires" LIMIT ?2) AND "expires" < ?1 AND "expires" LIKE '____-%';

