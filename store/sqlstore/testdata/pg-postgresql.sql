-- createUser
INSERT INTO "users" ("name", "email", "emailVerified", "image") VALUES ($1, $2, $3, $4) RETURNING "id", "name", "email", "emailVerified", "image";

-- user
SELECT "id", "name", "email", "emailVerified", "image" FROM "users" WHERE "id" = CAST($1 AS bigint);

-- userByEmail
SELECT "id", "name", "email", "emailVerified", "image" FROM "users" WHERE "email" = $1;

-- userByAccount
SELECT u."id", u."name", u."email", u."emailVerified", u."image" FROM "accounts" a JOIN "users" u ON u."id" = a."userId" WHERE a."provider" = $1 AND a."providerAccountId" = $2;

-- deleteUser[0]
DELETE FROM "sessions" WHERE "userId" = CAST($1 AS bigint);

-- deleteUser[1]
DELETE FROM "accounts" WHERE "userId" = CAST($1 AS bigint);

-- deleteUser[2]
DELETE FROM "users" WHERE "id" = CAST($1 AS bigint);

-- lockUser
SELECT "id" FROM "users" WHERE "id" = CAST($1 AS bigint) FOR UPDATE;

-- userLocked
SELECT "email" FROM "users" WHERE "id" = CAST($1 AS bigint) FOR UPDATE;

-- updateUser[1]
UPDATE "users" SET "name" = $2 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[2]
UPDATE "users" SET "email" = $2 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[3]
UPDATE "users" SET "name" = $2, "email" = $3 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[4]
UPDATE "users" SET "emailVerified" = $2 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[5]
UPDATE "users" SET "name" = $2, "emailVerified" = $3 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[6]
UPDATE "users" SET "email" = $2, "emailVerified" = $3 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[7]
UPDATE "users" SET "name" = $2, "email" = $3, "emailVerified" = $4 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[8]
UPDATE "users" SET "image" = $2 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[9]
UPDATE "users" SET "name" = $2, "image" = $3 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[10]
UPDATE "users" SET "email" = $2, "image" = $3 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[11]
UPDATE "users" SET "name" = $2, "email" = $3, "image" = $4 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[12]
UPDATE "users" SET "emailVerified" = $2, "image" = $3 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[13]
UPDATE "users" SET "name" = $2, "emailVerified" = $3, "image" = $4 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[14]
UPDATE "users" SET "email" = $2, "emailVerified" = $3, "image" = $4 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[15]
UPDATE "users" SET "name" = $2, "email" = $3, "emailVerified" = $4, "image" = $5 WHERE "id" = CAST($1 AS bigint) RETURNING "id", "name", "email", "emailVerified", "image";

-- linkAccount
INSERT INTO "accounts" ("userId", "type", "provider", "providerAccountId", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state") SELECT u."id", $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM "users" u WHERE u."id" = CAST($1 AS bigint) FOR KEY SHARE;

-- account
SELECT "userId", "type", "provider", "providerAccountId", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state" FROM "accounts" WHERE "provider" = $1 AND "providerAccountId" = $2;

-- userAccounts
SELECT "userId", "type", "provider", "providerAccountId", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state" FROM "accounts" WHERE "userId" = CAST($1 AS bigint);

-- updateAccount
UPDATE "accounts" SET "access_token" = $3, "refresh_token" = $4, "id_token" = $5, "expires_at" = $6, "token_type" = $7, "scope" = $8, "session_state" = $9 WHERE "provider" = $1 AND "providerAccountId" = $2;

-- swapAccount
UPDATE "accounts" SET "access_token" = $4, "refresh_token" = $5, "id_token" = $6, "expires_at" = $7, "token_type" = $8, "scope" = $9, "session_state" = $10 WHERE "provider" = $1 AND "providerAccountId" = $2 AND COALESCE("refresh_token", '') = $3;

-- unlinkAccount
DELETE FROM "accounts" WHERE "userId" = CAST($1 AS bigint) AND "provider" = $2 AND "providerAccountId" = $3;

-- ownAccount
SELECT "type" FROM "accounts" WHERE "userId" = CAST($1 AS bigint) AND "provider" = $2 AND "providerAccountId" = $3 FOR UPDATE;

-- createSession
INSERT INTO "sessions" ("sessionToken", "userId", "expires") SELECT $1, u."id", $3 FROM "users" u WHERE u."id" = CAST($2 AS bigint) FOR KEY SHARE;

-- sessionAndUser
SELECT s."id", s."expires", u."id", u."name", u."email", u."emailVerified", u."image" FROM "sessions" s JOIN "users" u ON u."id" = s."userId" WHERE s."sessionToken" = $1;

-- sessionExists
SELECT "expires" FROM "sessions" WHERE "sessionToken" = $1;

-- deleteSession
DELETE FROM "sessions" WHERE "sessionToken" = $1 RETURNING "userId", "id", "expires";

-- updateSession[1]
UPDATE "sessions" SET "expires" = $2 WHERE "sessionToken" = $1;

-- updateSession[3]
UPDATE "sessions" SET "expires" = $2 WHERE "sessionToken" = $1;

-- session
SELECT "userId", "id", "expires" FROM "sessions" WHERE "sessionToken" = $1;

-- userSessions
SELECT "sessionToken", "userId", "id", "expires" FROM "sessions" WHERE "userId" = CAST($1 AS bigint);

-- endSession
DELETE FROM "sessions" WHERE "userId" = CAST($1 AS bigint) AND "sessionToken" = $2;

-- endUserSessions
DELETE FROM "sessions" WHERE "userId" = CAST($1 AS bigint);

-- endUserSessionsExcept
DELETE FROM "sessions" WHERE "userId" = CAST($1 AS bigint) AND NOT ("sessionToken" = $2);

-- sessionTokens
SELECT "sessionToken" FROM "sessions" WHERE "userId" = CAST($1 AS bigint);

-- createVerification
INSERT INTO "verification_token" ("identifier", "token", "expires") VALUES ($1, $2, $3);

-- useVerification
DELETE FROM "verification_token" WHERE "identifier" = $1 AND "token" = $2 RETURNING "expires";

-- verification
SELECT "expires" FROM "verification_token" WHERE "identifier" = $1 AND "token" = $2;

-- sweepSessions
WITH expired AS (SELECT "sessionToken" FROM "sessions" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "sessions" WHERE ("sessionToken") IN (SELECT "sessionToken" FROM expired) AND "expires" < $1;

-- sweepVerifications
WITH expired AS (SELECT "identifier", "token" FROM "verification_token" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "verification_token" WHERE ("identifier", "token") IN (SELECT "identifier", "token" FROM expired) AND "expires" < $1;

