-- createUser
INSERT INTO "next_auth"."users" ("id", "name", "email", "emailVerified", "image") VALUES ($1, $2, $3, $4, $5) RETURNING "id", "name", "email", "emailVerified", "image";

-- user
SELECT "id", "name", "email", "emailVerified", "image" FROM "next_auth"."users" WHERE "id" = $1;

-- userByEmail
SELECT "id", "name", "email", "emailVerified", "image" FROM "next_auth"."users" WHERE "email" = $1;

-- userByAccount
SELECT u."id", u."name", u."email", u."emailVerified", u."image" FROM "next_auth"."accounts" a JOIN "next_auth"."users" u ON u."id" = a."userId" WHERE a."provider" = $1 AND a."providerAccountId" = $2;

-- deleteUser[0]
DELETE FROM "next_auth"."sessions" WHERE "userId" = $1;

-- deleteUser[1]
DELETE FROM "next_auth"."accounts" WHERE "userId" = $1;

-- deleteUser[2]
DELETE FROM "next_auth"."users" WHERE "id" = $1;

-- lockUser
SELECT "id" FROM "next_auth"."users" WHERE "id" = $1 FOR UPDATE;

-- userLocked
SELECT "email" FROM "next_auth"."users" WHERE "id" = $1 FOR UPDATE;

-- updateUser[1]
UPDATE "next_auth"."users" SET "name" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[2]
UPDATE "next_auth"."users" SET "email" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[3]
UPDATE "next_auth"."users" SET "name" = $2, "email" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[4]
UPDATE "next_auth"."users" SET "emailVerified" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[5]
UPDATE "next_auth"."users" SET "name" = $2, "emailVerified" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[6]
UPDATE "next_auth"."users" SET "email" = $2, "emailVerified" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[7]
UPDATE "next_auth"."users" SET "name" = $2, "email" = $3, "emailVerified" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[8]
UPDATE "next_auth"."users" SET "image" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[9]
UPDATE "next_auth"."users" SET "name" = $2, "image" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[10]
UPDATE "next_auth"."users" SET "email" = $2, "image" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[11]
UPDATE "next_auth"."users" SET "name" = $2, "email" = $3, "image" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[12]
UPDATE "next_auth"."users" SET "emailVerified" = $2, "image" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[13]
UPDATE "next_auth"."users" SET "name" = $2, "emailVerified" = $3, "image" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[14]
UPDATE "next_auth"."users" SET "email" = $2, "emailVerified" = $3, "image" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[15]
UPDATE "next_auth"."users" SET "name" = $2, "email" = $3, "emailVerified" = $4, "image" = $5 WHERE "id" = $1 RETURNING "id", "name", "email", "emailVerified", "image";

-- linkAccount
INSERT INTO "next_auth"."accounts" ("userId", "type", "provider", "providerAccountId", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "oauth_token", "oauth_token_secret", "id") SELECT u."id", $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 FROM "next_auth"."users" u WHERE u."id" = $1 FOR KEY SHARE;

-- account
SELECT "userId", "type", "provider", "providerAccountId", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "oauth_token", "oauth_token_secret" FROM "next_auth"."accounts" WHERE "provider" = $1 AND "providerAccountId" = $2;

-- userAccounts
SELECT "userId", "type", "provider", "providerAccountId", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "oauth_token", "oauth_token_secret" FROM "next_auth"."accounts" WHERE "userId" = $1;

-- updateAccount
UPDATE "next_auth"."accounts" SET "access_token" = $3, "refresh_token" = $4, "id_token" = $5, "expires_at" = $6, "token_type" = $7, "scope" = $8, "session_state" = $9, "oauth_token" = $10, "oauth_token_secret" = $11 WHERE "provider" = $1 AND "providerAccountId" = $2;

-- swapAccount
UPDATE "next_auth"."accounts" SET "access_token" = $4, "refresh_token" = $5, "id_token" = $6, "expires_at" = $7, "token_type" = $8, "scope" = $9, "session_state" = $10, "oauth_token" = $11, "oauth_token_secret" = $12 WHERE "provider" = $1 AND "providerAccountId" = $2 AND COALESCE("refresh_token", '') = $3;

-- unlinkAccount
DELETE FROM "next_auth"."accounts" WHERE "userId" = $1 AND "provider" = $2 AND "providerAccountId" = $3;

-- ownAccount
SELECT "type" FROM "next_auth"."accounts" WHERE "userId" = $1 AND "provider" = $2 AND "providerAccountId" = $3 FOR UPDATE;

-- createSession
INSERT INTO "next_auth"."sessions" ("sessionToken", "userId", "expires", "id") SELECT $1, u."id", $3, $4 FROM "next_auth"."users" u WHERE u."id" = $2 FOR KEY SHARE;

-- sessionAndUser
SELECT s."id", s."expires", u."id", u."name", u."email", u."emailVerified", u."image" FROM "next_auth"."sessions" s JOIN "next_auth"."users" u ON u."id" = s."userId" WHERE s."sessionToken" = $1;

-- sessionExists
SELECT "expires" FROM "next_auth"."sessions" WHERE "sessionToken" = $1;

-- deleteSession
DELETE FROM "next_auth"."sessions" WHERE "sessionToken" = $1 RETURNING "userId", "id", "expires";

-- updateSession[1]
UPDATE "next_auth"."sessions" SET "expires" = $2 WHERE "sessionToken" = $1;

-- updateSession[3]
UPDATE "next_auth"."sessions" SET "expires" = $2 WHERE "sessionToken" = $1;

-- session
SELECT "userId", "id", "expires" FROM "next_auth"."sessions" WHERE "sessionToken" = $1;

-- userSessions
SELECT "sessionToken", "userId", "id", "expires" FROM "next_auth"."sessions" WHERE "userId" = $1;

-- endSession
DELETE FROM "next_auth"."sessions" WHERE "userId" = $1 AND "sessionToken" = $2;

-- endUserSessions
DELETE FROM "next_auth"."sessions" WHERE "userId" = $1;

-- endUserSessionsExcept
DELETE FROM "next_auth"."sessions" WHERE "userId" = $1 AND NOT ("sessionToken" = $2);

-- sessionTokens
SELECT "sessionToken" FROM "next_auth"."sessions" WHERE "userId" = $1;

-- createVerification
INSERT INTO "next_auth"."verification_tokens" ("identifier", "token", "expires") VALUES ($1, $2, $3);

-- useVerification
DELETE FROM "next_auth"."verification_tokens" WHERE "identifier" = $1 AND "token" = $2 RETURNING "expires";

-- verification
SELECT "expires" FROM "next_auth"."verification_tokens" WHERE "identifier" = $1 AND "token" = $2;

-- sweepSessions
WITH expired AS (SELECT "sessionToken" FROM "next_auth"."sessions" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."sessions" WHERE ("sessionToken") IN (SELECT "sessionToken" FROM expired) AND "expires" < $1;

-- sweepVerifications
WITH expired AS (SELECT "identifier", "token" FROM "next_auth"."verification_tokens" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."verification_tokens" WHERE ("identifier", "token") IN (SELECT "identifier", "token" FROM expired) AND "expires" < $1;

