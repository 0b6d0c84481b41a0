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
SELECT s."id", s."expires", u."id", u."name", u."email", u."emailVerified", u."image", f."user_id", f."data" FROM "next_auth"."sessions" s JOIN "next_auth"."users" u ON u."id" = s."userId" LEFT JOIN "next_auth"."pintle_facts" f ON f."session" = $2 WHERE s."sessionToken" = $1;

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

-- state
SELECT "version", "roles", "banned_until", "ban_reason", "delete_at", "must", "claim", "suspended", "created", "last_sign_in", "streak" FROM "next_auth"."pintle_states" WHERE "user_id" = $1;

-- changeState
UPDATE "next_auth"."pintle_states" SET "version" = "version" + 1, "roles" = $3, "banned_until" = $4, "ban_reason" = $5, "delete_at" = $6, "must" = $7, "claim" = $8, "suspended" = $9, "created" = $10, "last_sign_in" = $11 WHERE "user_id" = $1 AND "version" = $2;

-- createState
INSERT INTO "next_auth"."pintle_states" ("user_id", "version", "roles", "banned_until", "ban_reason", "delete_at", "must", "claim", "suspended", "created", "last_sign_in", "streak") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0) ON CONFLICT ("user_id") DO NOTHING;

-- ensureState
INSERT INTO "next_auth"."pintle_states" ("user_id", "version", "suspended", "streak") VALUES ($1, $2, $3, 0) ON CONFLICT ("user_id") DO NOTHING;

-- lockState
SELECT "failures", "streak" FROM "next_auth"."pintle_states" WHERE "user_id" = $1 FOR UPDATE;

-- countState
UPDATE "next_auth"."pintle_states" SET "failures" = $2, "streak" = $3 WHERE "user_id" = $1;

-- factors
SELECT "kind", "id", "version", "secret", "step", "name", "created", "last_used", "expires" FROM "next_auth"."pintle_factors" WHERE "user_id" = $1;

-- addFactor
INSERT INTO "next_auth"."pintle_factors" ("user_id", "kind", "id", "version", "secret", "step", "name", "created", "last_used", "expires") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- replaceFactor
UPDATE "next_auth"."pintle_factors" SET "version" = "version" + 1, "step" = CASE WHEN "step" < $5 THEN $5 ELSE "step" END, "secret" = $6, "name" = $7, "last_used" = $8, "expires" = $9 WHERE "user_id" = $1 AND "kind" = $2 AND "id" = $3 AND "version" = $4;

-- advanceFactor
UPDATE "next_auth"."pintle_factors" SET "step" = $4, "last_used" = $5 WHERE "user_id" = $1 AND "kind" = $2 AND "id" = $3 AND "step" < $4;

-- factorExists
SELECT "version" FROM "next_auth"."pintle_factors" WHERE "user_id" = $1 AND "kind" = $2 AND "id" = $3;

-- deleteFactor
DELETE FROM "next_auth"."pintle_factors" WHERE "user_id" = $1 AND "kind" = $2 AND "id" = $3;

-- createFlow
INSERT INTO "next_auth"."pintle_flows" ("id", "kind", "subject", "version", "payload", "code", "attempts", "created", "expires") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- flow
SELECT "kind", "subject", "version", "payload", "code", "attempts", "created", "expires" FROM "next_auth"."pintle_flows" WHERE "id" = $1;

-- attemptFlow
UPDATE "next_auth"."pintle_flows" SET "attempts" = "attempts" + 1 WHERE "id" = $1 AND "attempts" < $2 RETURNING "attempts";

-- changeFlow
UPDATE "next_auth"."pintle_flows" SET "version" = "version" + 1, "payload" = $3, "code" = $4, "expires" = $5 WHERE "id" = $1 AND "version" = $2;

-- useFlow
DELETE FROM "next_auth"."pintle_flows" WHERE "id" = $1 AND "kind" = $2 RETURNING "kind", "subject", "version", "payload", "code", "attempts", "created", "expires";

-- countFlows
SELECT COUNT(*) FROM "next_auth"."pintle_flows" WHERE "subject" = $1 AND "kind" = $2 AND "expires" > $3;

-- deleteAccountRows[0]
UPDATE "next_auth"."pintle_activity" SET "user_id" = NULL WHERE "user_id" = $1 AND "actor" IS NOT NULL;

-- deleteAccountRows[1]
DELETE FROM "next_auth"."pintle_facts" WHERE "user_id" = $1;

-- deleteAccountRows[2]
DELETE FROM "next_auth"."pintle_states" WHERE "user_id" = $1;

-- deleteAccountRows[3]
DELETE FROM "next_auth"."pintle_factors" WHERE "user_id" = $1;

-- deleteAccountRows[4]
DELETE FROM "next_auth"."pintle_flows" WHERE "subject" = $1;

-- deleteAccountRows[5]
DELETE FROM "next_auth"."pintle_activity" WHERE "user_id" = $1;

-- deleteAccountRows[6]
DELETE FROM "next_auth"."pintle_provider_sessions" WHERE "user_id" = $1;

-- sweepFlows
WITH expired AS (SELECT "id" FROM "next_auth"."pintle_flows" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."pintle_flows" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1;

-- sweepFactors
WITH expired AS (SELECT "user_id", "kind", "id" FROM "next_auth"."pintle_factors" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."pintle_factors" WHERE ("user_id", "kind", "id") IN (SELECT "user_id", "kind", "id" FROM expired) AND "expires" < $1;

-- stateOwners
SELECT "user_id" FROM "next_auth"."pintle_states" WHERE "user_id" > $1 AND ("created" IS NULL OR "created" < $2) ORDER BY "user_id" LIMIT $3;

-- factorOwners
SELECT DISTINCT "user_id" FROM "next_auth"."pintle_factors" WHERE "user_id" > $1 AND "created" < $2 ORDER BY "user_id" LIMIT $3;

-- dueUsers
SELECT "user_id" FROM "next_auth"."pintle_states" WHERE "user_id" > $1 AND "delete_at" <= $2 ORDER BY "user_id" LIMIT $3;

-- factorUsers
SELECT DISTINCT "user_id" FROM "next_auth"."pintle_factors" WHERE "user_id" > $1 AND "kind" = $2 ORDER BY "user_id" LIMIT $3;

-- dropState
DELETE FROM "next_auth"."pintle_states" WHERE "user_id" = $1 AND ("created" IS NULL OR "created" < $2);

-- leftRows
SELECT CASE WHEN EXISTS (SELECT 1 FROM "next_auth"."pintle_facts" WHERE "user_id" = $1) OR EXISTS (SELECT 1 FROM "next_auth"."pintle_states" WHERE "user_id" = $1) OR EXISTS (SELECT 1 FROM "next_auth"."pintle_factors" WHERE "user_id" = $1) OR EXISTS (SELECT 1 FROM "next_auth"."pintle_flows" WHERE "subject" = $1) OR EXISTS (SELECT 1 FROM "next_auth"."pintle_activity" WHERE "user_id" = $1) OR EXISTS (SELECT 1 FROM "next_auth"."pintle_provider_sessions" WHERE "user_id" = $1) THEN 1 ELSE 0 END;

-- record
INSERT INTO "next_auth"."pintle_activity" AS t ("id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT ("id") DO UPDATE SET "count" = t."count" + $9;

-- activity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "next_auth"."pintle_activity" WHERE ($1 = '' OR "user_id" = $1) AND ($2 = '' OR "actor" = $2) AND ($3 = '' OR "kind" = $3) AND ($4 = '' OR "outcome" = $4) AND "at" >= $5 AND "at" <= $6 AND ("at" < $6 OR "id" < $7) ORDER BY "at" DESC, "id" DESC LIMIT $8;

-- userActivity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "next_auth"."pintle_activity" WHERE "user_id" = $1 AND ($2 = '' OR "actor" = $2) AND ($3 = '' OR "kind" = $3) AND ($4 = '' OR "outcome" = $4) AND "at" >= $5 AND "at" <= $6 AND ("at" < $6 OR "id" < $7) ORDER BY "at" DESC, "id" DESC LIMIT $8;

-- actorActivity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "next_auth"."pintle_activity" WHERE ($1 = '' OR "user_id" = $1) AND "actor" = $2 AND ($3 = '' OR "kind" = $3) AND ($4 = '' OR "outcome" = $4) AND "at" >= $5 AND "at" <= $6 AND ("at" < $6 OR "id" < $7) ORDER BY "at" DESC, "id" DESC LIMIT $8;

-- kindActivity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "next_auth"."pintle_activity" WHERE ($1 = '' OR "user_id" = $1) AND ($2 = '' OR "actor" = $2) AND "kind" = $3 AND ($4 = '' OR "outcome" = $4) AND "at" >= $5 AND "at" <= $6 AND ("at" < $6 OR "id" < $7) ORDER BY "at" DESC, "id" DESC LIMIT $8;

-- keepActs
UPDATE "next_auth"."pintle_activity" SET "user_id" = NULL WHERE "user_id" = $1 AND "actor" IS NOT NULL;

-- sweepActivity
WITH expired AS (SELECT "id" FROM "next_auth"."pintle_activity" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."pintle_activity" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1;

-- lockSession
SELECT "userId", "expires" FROM "next_auth"."sessions" WHERE "sessionToken" = $1 FOR UPDATE;

-- putFacts
INSERT INTO "next_auth"."pintle_facts" ("session", "user_id", "data", "expires") VALUES ($1, $2, $3, $4) ON CONFLICT ("session") DO UPDATE SET "user_id" = $2, "data" = $3, "expires" = $4;

-- facts
SELECT "user_id", "data" FROM "next_auth"."pintle_facts" WHERE "session" = $1;

-- userFacts
SELECT "session", "data" FROM "next_auth"."pintle_facts" WHERE "user_id" = $1;

-- deleteFacts
DELETE FROM "next_auth"."pintle_facts" WHERE "session" = $1;

-- staleFacts
SELECT "session", "user_id", "expires" FROM "next_auth"."pintle_facts" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2;

-- keepFacts
UPDATE "next_auth"."pintle_facts" SET "expires" = $3 WHERE "session" = $1 AND "expires" = $2;

-- dropFacts
DELETE FROM "next_auth"."pintle_facts" WHERE "session" = $1 AND "expires" = $2;

-- putSignIn
INSERT INTO "next_auth"."pintle_provider_sessions" AS t ("id", "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT ("id") DO UPDATE SET "role" = CASE WHEN t."role" = 'began' THEN t."role" ELSE $8 END, "key_sid" = $6, "key_sub" = $7, "acr" = $9, "amr" = $10, "auth_time" = $11, "proof" = $12, "hint" = $13, "created" = $14, "expires" = $15;

-- signIns
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "next_auth"."pintle_provider_sessions" WHERE "session" = $1;

-- dropSignIn
DELETE FROM "next_auth"."pintle_provider_sessions" WHERE "id" = $1;

-- dropSignIns
DELETE FROM "next_auth"."pintle_provider_sessions" WHERE "session" = $1;

-- dropUserSignIns
DELETE FROM "next_auth"."pintle_provider_sessions" WHERE "user_id" = $1 AND "session" <> $2;

-- moveSignIns
UPDATE "next_auth"."pintle_provider_sessions" SET "expires" = $2 WHERE "session" = $1;

-- rememberEnd
INSERT INTO "next_auth"."pintle_provider_ends" AS t ("id", "ended", "expires") VALUES ($1, $2, $3) ON CONFLICT ("id") DO UPDATE SET "ended" = GREATEST(t."ended", $2), "expires" = GREATEST(t."expires", $3);

-- signInsBy[0]
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "next_auth"."pintle_provider_sessions" WHERE "created" < $1 AND "key_sid" = $2;

-- signInsBy[1]
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "next_auth"."pintle_provider_sessions" WHERE "created" < $1 AND "key_sub" = $2;

-- signInsBy[2]
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "next_auth"."pintle_provider_sessions" WHERE "created" < $1 AND "key_sid" = $2 AND "key_sub" = $3;

-- lockEnds[0]
INSERT INTO "next_auth"."pintle_provider_ends" AS t ("id", "ended", "expires") VALUES ($1, 0, $2) ON CONFLICT ("id") DO UPDATE SET "expires" = GREATEST(t."expires", $2) RETURNING "ended";

-- lockEnds[1]
INSERT INTO "next_auth"."pintle_provider_ends" AS t ("id", "ended", "expires") VALUES ($1, 0, $4), ($2, 0, $4), ($3, 0, $4) ON CONFLICT ("id") DO UPDATE SET "expires" = GREATEST(t."expires", $4) RETURNING "ended";

-- sweepSignIns
WITH expired AS (SELECT "id" FROM "next_auth"."pintle_provider_sessions" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."pintle_provider_sessions" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1;

-- sweepEnds
WITH expired AS (SELECT "id" FROM "next_auth"."pintle_provider_ends" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."pintle_provider_ends" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1;

-- once
INSERT INTO "next_auth"."pintle_once" AS t ("id", "expires") VALUES ($1, $2) ON CONFLICT ("id") DO UPDATE SET "expires" = $2 WHERE t."expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

-- takeLease
INSERT INTO "next_auth"."pintle_leases" AS t ("id", "owner", "expires") VALUES ($1, $2, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $3) ON CONFLICT ("id") DO UPDATE SET "owner" = $2, "expires" = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $3 WHERE t."owner" = $2 OR t."expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

-- releaseLease
DELETE FROM "next_auth"."pintle_leases" WHERE "id" = $1 AND "owner" = $2;

-- sweepOnce
WITH expired AS (SELECT "id" FROM "next_auth"."pintle_once" WHERE "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."pintle_once" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

-- sweepLeases
WITH expired AS (SELECT "id" FROM "next_auth"."pintle_leases" WHERE "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."pintle_leases" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

-- take
INSERT INTO "next_auth"."pintle_counts" AS t ("id", "expires") VALUES ($1, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $2) ON CONFLICT ("id") DO UPDATE SET "expires" = GREATEST(t."expires", CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)) + $2 WHERE t."expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $3;

-- count
SELECT "expires" - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) FROM "next_auth"."pintle_counts" WHERE "id" = $1;

-- lower
UPDATE "next_auth"."pintle_counts" SET "expires" = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $2 WHERE "id" = $1 AND "expires" > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $2;

-- giveBack
UPDATE "next_auth"."pintle_counts" SET "expires" = "expires" - $2 WHERE "id" = $1;

-- sweepCounts
WITH expired AS (SELECT "id" FROM "next_auth"."pintle_counts" WHERE "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "next_auth"."pintle_counts" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

