-- createUser
INSERT INTO "pintle_users" ("id", "name", "email", "email_verified", "image", "extra", "created") VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- user
SELECT "id", "name", "email", "email_verified", "image", "extra" FROM "pintle_users" WHERE "id" = $1;

-- userByEmail
SELECT "id", "name", "email", "email_verified", "image", "extra" FROM "pintle_users" WHERE "email" = $1;

-- userByAccount
SELECT u."id", u."name", u."email", u."email_verified", u."image", u."extra" FROM "pintle_accounts" a JOIN "pintle_users" u ON u."id" = a."user_id" WHERE a."provider" = $1 AND a."provider_account_id" = $2;

-- deleteUser[0]
DELETE FROM "pintle_sessions" WHERE "user_id" = $1;

-- deleteUser[1]
DELETE FROM "pintle_authenticators" WHERE "user_id" = $1;

-- deleteUser[2]
DELETE FROM "pintle_accounts" WHERE "user_id" = $1;

-- deleteUser[3]
DELETE FROM "pintle_users" WHERE "id" = $1;

-- lockUser
SELECT "id" FROM "pintle_users" WHERE "id" = $1 FOR UPDATE;

-- userExtra
SELECT "extra" FROM "pintle_users" WHERE "id" = $1 FOR UPDATE;

-- userLocked
SELECT "email" FROM "pintle_users" WHERE "id" = $1 FOR UPDATE;

-- updateUser[1]
UPDATE "pintle_users" SET "name" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[2]
UPDATE "pintle_users" SET "email" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[3]
UPDATE "pintle_users" SET "name" = $2, "email" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[4]
UPDATE "pintle_users" SET "email_verified" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[5]
UPDATE "pintle_users" SET "name" = $2, "email_verified" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[6]
UPDATE "pintle_users" SET "email" = $2, "email_verified" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[7]
UPDATE "pintle_users" SET "name" = $2, "email" = $3, "email_verified" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[8]
UPDATE "pintle_users" SET "image" = $2 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[9]
UPDATE "pintle_users" SET "name" = $2, "image" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[10]
UPDATE "pintle_users" SET "email" = $2, "image" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[11]
UPDATE "pintle_users" SET "name" = $2, "email" = $3, "image" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[12]
UPDATE "pintle_users" SET "email_verified" = $2, "image" = $3 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[13]
UPDATE "pintle_users" SET "name" = $2, "email_verified" = $3, "image" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[14]
UPDATE "pintle_users" SET "email" = $2, "email_verified" = $3, "image" = $4 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- updateUser[15]
UPDATE "pintle_users" SET "name" = $2, "email" = $3, "email_verified" = $4, "image" = $5 WHERE "id" = $1 RETURNING "id", "name", "email", "email_verified", "image", "extra";

-- linkAccount
INSERT INTO "pintle_accounts" ("user_id", "type", "provider", "provider_account_id", "verified_email", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "oauth_token", "oauth_token_secret", "extra", "id") SELECT u."id", $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16 FROM "pintle_users" u WHERE u."id" = $1 FOR KEY SHARE;

-- account
SELECT "user_id", "type", "provider", "provider_account_id", "verified_email", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "oauth_token", "oauth_token_secret", "extra" FROM "pintle_accounts" WHERE "provider" = $1 AND "provider_account_id" = $2;

-- userAccounts
SELECT "user_id", "type", "provider", "provider_account_id", "verified_email", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "oauth_token", "oauth_token_secret", "extra" FROM "pintle_accounts" WHERE "user_id" = $1;

-- updateAccount
UPDATE "pintle_accounts" SET "access_token" = $3, "refresh_token" = $4, "id_token" = $5, "expires_at" = $6, "token_type" = $7, "scope" = $8, "session_state" = $9, "oauth_token" = $10, "oauth_token_secret" = $11, "extra" = $12 WHERE "provider" = $1 AND "provider_account_id" = $2;

-- swapAccount
UPDATE "pintle_accounts" SET "access_token" = $4, "refresh_token" = $5, "id_token" = $6, "expires_at" = $7, "token_type" = $8, "scope" = $9, "session_state" = $10, "oauth_token" = $11, "oauth_token_secret" = $12, "extra" = $13 WHERE "provider" = $1 AND "provider_account_id" = $2 AND COALESCE("refresh_token", '') = $3;

-- unlinkAccount
DELETE FROM "pintle_accounts" WHERE "user_id" = $1 AND "provider" = $2 AND "provider_account_id" = $3;

-- ownAccount
SELECT "type" FROM "pintle_accounts" WHERE "user_id" = $1 AND "provider" = $2 AND "provider_account_id" = $3 FOR UPDATE;

-- createSession
INSERT INTO "pintle_sessions" ("token_hash", "user_id", "expires", "created", "data") SELECT $1, u."id", $3, $4, $5 FROM "pintle_users" u WHERE u."id" = $2 FOR KEY SHARE;

-- sessionAndUser
SELECT s."expires", s."created", s."data", u."id", u."name", u."email", u."email_verified", u."image", u."extra" FROM "pintle_sessions" s JOIN "pintle_users" u ON u."id" = s."user_id" WHERE s."token_hash" = $1;

-- sessionExists
SELECT "expires" FROM "pintle_sessions" WHERE "token_hash" = $1;

-- deleteSession
DELETE FROM "pintle_sessions" WHERE "token_hash" = $1 RETURNING "user_id", "expires", "created", "data";

-- updateSession[1]
UPDATE "pintle_sessions" SET "expires" = $2 WHERE "token_hash" = $1;

-- updateSession[2]
UPDATE "pintle_sessions" SET "data" = $2 WHERE "token_hash" = $1;

-- updateSession[3]
UPDATE "pintle_sessions" SET "expires" = $2, "data" = $3 WHERE "token_hash" = $1;

-- session
SELECT "user_id", "expires", "created", "data" FROM "pintle_sessions" WHERE "token_hash" = $1;

-- userSessions
SELECT "token_hash", "user_id", "expires", "created", "data" FROM "pintle_sessions" WHERE "user_id" = $1;

-- endSession
DELETE FROM "pintle_sessions" WHERE "user_id" = $1 AND "token_hash" = $2;

-- endUserSessions
DELETE FROM "pintle_sessions" WHERE "user_id" = $1;

-- endUserSessionsExcept
DELETE FROM "pintle_sessions" WHERE "user_id" = $1 AND NOT ("token_hash" = $2);

-- sessionTokens
SELECT "token_hash" FROM "pintle_sessions" WHERE "user_id" = $1;

-- createVerification
INSERT INTO "pintle_verifications" ("identifier", "token", "expires") VALUES ($1, $2, $3);

-- useVerification
DELETE FROM "pintle_verifications" WHERE "identifier" = $1 AND "token" = $2 RETURNING "expires";

-- verification
SELECT "expires" FROM "pintle_verifications" WHERE "identifier" = $1 AND "token" = $2;

-- createAuthenticator
INSERT INTO "pintle_authenticators" ("credential_id", "user_id", "provider_account_id", "public_key", "counter", "device_type", "backed_up", "transports", "name", "created", "last_used") SELECT $1, u."id", $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM "pintle_users" u WHERE u."id" = $2 FOR KEY SHARE;

-- authenticator
SELECT "credential_id", "user_id", "provider_account_id", "public_key", "counter", "device_type", "backed_up", "transports", "name", "created", "last_used" FROM "pintle_authenticators" WHERE "credential_id" = $1;

-- userAuthenticators
SELECT "credential_id", "user_id", "provider_account_id", "public_key", "counter", "device_type", "backed_up", "transports", "name", "created", "last_used" FROM "pintle_authenticators" WHERE "user_id" = $1;

-- useAuthenticator
UPDATE "pintle_authenticators" SET "counter" = $3, "backed_up" = $4, "last_used" = $5 WHERE "credential_id" = $1 AND "counter" = $2;

-- renameAuthenticator
UPDATE "pintle_authenticators" SET "name" = $3 WHERE "user_id" = $1 AND "credential_id" = $2;

-- deleteAuthenticator
DELETE FROM "pintle_authenticators" WHERE "user_id" = $1 AND "credential_id" = $2;

-- sweepSessions
WITH expired AS (SELECT "token_hash" FROM "pintle_sessions" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_sessions" WHERE ("token_hash") IN (SELECT "token_hash" FROM expired) AND "expires" < $1;

-- sweepVerifications
WITH expired AS (SELECT "identifier", "token" FROM "pintle_verifications" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_verifications" WHERE ("identifier", "token") IN (SELECT "identifier", "token" FROM expired) AND "expires" < $1;

-- state
SELECT "version", "roles", "banned_until", "ban_reason", "delete_at", "must", "claim", "suspended", "created", "last_sign_in", "streak" FROM "pintle_states" WHERE "user_id" = $1;

-- changeState
UPDATE "pintle_states" SET "version" = "version" + 1, "roles" = $3, "banned_until" = $4, "ban_reason" = $5, "delete_at" = $6, "must" = $7, "claim" = $8, "suspended" = $9, "created" = $10, "last_sign_in" = $11 WHERE "user_id" = $1 AND "version" = $2;

-- createState
INSERT INTO "pintle_states" ("user_id", "version", "roles", "banned_until", "ban_reason", "delete_at", "must", "claim", "suspended", "created", "last_sign_in", "streak") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0) ON CONFLICT ("user_id") DO NOTHING;

-- ensureState
INSERT INTO "pintle_states" ("user_id", "version", "suspended", "streak") VALUES ($1, $2, $3, 0) ON CONFLICT ("user_id") DO NOTHING;

-- lockState
SELECT "failures", "streak" FROM "pintle_states" WHERE "user_id" = $1 FOR UPDATE;

-- countState
UPDATE "pintle_states" SET "failures" = $2, "streak" = $3 WHERE "user_id" = $1;

-- factors
SELECT "kind", "id", "version", "secret", "step", "name", "created", "last_used", "expires" FROM "pintle_factors" WHERE "user_id" = $1;

-- addFactor
INSERT INTO "pintle_factors" ("user_id", "kind", "id", "version", "secret", "step", "name", "created", "last_used", "expires") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- replaceFactor
UPDATE "pintle_factors" SET "version" = "version" + 1, "step" = CASE WHEN "step" < $5 THEN $5 ELSE "step" END, "secret" = $6, "name" = $7, "last_used" = $8, "expires" = $9 WHERE "user_id" = $1 AND "kind" = $2 AND "id" = $3 AND "version" = $4;

-- advanceFactor
UPDATE "pintle_factors" SET "step" = $4, "last_used" = $5 WHERE "user_id" = $1 AND "kind" = $2 AND "id" = $3 AND "step" < $4;

-- factorExists
SELECT "version" FROM "pintle_factors" WHERE "user_id" = $1 AND "kind" = $2 AND "id" = $3;

-- deleteFactor
DELETE FROM "pintle_factors" WHERE "user_id" = $1 AND "kind" = $2 AND "id" = $3;

-- createFlow
INSERT INTO "pintle_flows" ("id", "kind", "subject", "version", "payload", "code", "attempts", "created", "expires") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- flow
SELECT "kind", "subject", "version", "payload", "code", "attempts", "created", "expires" FROM "pintle_flows" WHERE "id" = $1;

-- attemptFlow
UPDATE "pintle_flows" SET "attempts" = "attempts" + 1 WHERE "id" = $1 AND "attempts" < $2 RETURNING "attempts";

-- changeFlow
UPDATE "pintle_flows" SET "version" = "version" + 1, "payload" = $3, "code" = $4, "expires" = $5 WHERE "id" = $1 AND "version" = $2;

-- useFlow
DELETE FROM "pintle_flows" WHERE "id" = $1 AND "kind" = $2 RETURNING "kind", "subject", "version", "payload", "code", "attempts", "created", "expires";

-- countFlows
SELECT COUNT(*) FROM "pintle_flows" WHERE "subject" = $1 AND "kind" = $2 AND "expires" > $3;

-- deleteAccountRows[0]
UPDATE "pintle_activity" SET "user_id" = NULL WHERE "user_id" = $1 AND "actor" IS NOT NULL;

-- deleteAccountRows[1]
DELETE FROM "pintle_states" WHERE "user_id" = $1;

-- deleteAccountRows[2]
DELETE FROM "pintle_factors" WHERE "user_id" = $1;

-- deleteAccountRows[3]
DELETE FROM "pintle_flows" WHERE "subject" = $1;

-- deleteAccountRows[4]
DELETE FROM "pintle_activity" WHERE "user_id" = $1;

-- deleteAccountRows[5]
DELETE FROM "pintle_provider_sessions" WHERE "user_id" = $1;

-- sweepFlows
WITH expired AS (SELECT "id" FROM "pintle_flows" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_flows" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1;

-- sweepFactors
WITH expired AS (SELECT "user_id", "kind", "id" FROM "pintle_factors" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_factors" WHERE ("user_id", "kind", "id") IN (SELECT "user_id", "kind", "id" FROM expired) AND "expires" < $1;

-- stateOwners
SELECT "user_id" FROM "pintle_states" WHERE "user_id" > $1 AND ("created" IS NULL OR "created" < $2) ORDER BY "user_id" LIMIT $3;

-- factorOwners
SELECT DISTINCT "user_id" FROM "pintle_factors" WHERE "user_id" > $1 AND "created" < $2 ORDER BY "user_id" LIMIT $3;

-- dueUsers
SELECT "user_id" FROM "pintle_states" WHERE "user_id" > $1 AND "delete_at" <= $2 ORDER BY "user_id" LIMIT $3;

-- factorUsers
SELECT DISTINCT "user_id" FROM "pintle_factors" WHERE "user_id" > $1 AND "kind" = $2 ORDER BY "user_id" LIMIT $3;

-- dropState
DELETE FROM "pintle_states" WHERE "user_id" = $1 AND ("created" IS NULL OR "created" < $2);

-- leftRows
SELECT CASE WHEN EXISTS (SELECT 1 FROM "pintle_states" WHERE "user_id" = $1) OR EXISTS (SELECT 1 FROM "pintle_factors" WHERE "user_id" = $1) OR EXISTS (SELECT 1 FROM "pintle_flows" WHERE "subject" = $1) OR EXISTS (SELECT 1 FROM "pintle_activity" WHERE "user_id" = $1) OR EXISTS (SELECT 1 FROM "pintle_provider_sessions" WHERE "user_id" = $1) THEN 1 ELSE 0 END;

-- record
INSERT INTO "pintle_activity" AS t ("id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT ("id") DO UPDATE SET "count" = t."count" + $9;

-- activity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "pintle_activity" WHERE ($1 = '' OR "user_id" = $1) AND ($2 = '' OR "actor" = $2) AND ($3 = '' OR "kind" = $3) AND ($4 = '' OR "outcome" = $4) AND "at" >= $5 AND "at" <= $6 AND ("at" < $6 OR "id" < $7) ORDER BY "at" DESC, "id" DESC LIMIT $8;

-- userActivity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "pintle_activity" WHERE "user_id" = $1 AND ($2 = '' OR "actor" = $2) AND ($3 = '' OR "kind" = $3) AND ($4 = '' OR "outcome" = $4) AND "at" >= $5 AND "at" <= $6 AND ("at" < $6 OR "id" < $7) ORDER BY "at" DESC, "id" DESC LIMIT $8;

-- actorActivity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "pintle_activity" WHERE ($1 = '' OR "user_id" = $1) AND "actor" = $2 AND ($3 = '' OR "kind" = $3) AND ($4 = '' OR "outcome" = $4) AND "at" >= $5 AND "at" <= $6 AND ("at" < $6 OR "id" < $7) ORDER BY "at" DESC, "id" DESC LIMIT $8;

-- kindActivity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "pintle_activity" WHERE ($1 = '' OR "user_id" = $1) AND ($2 = '' OR "actor" = $2) AND "kind" = $3 AND ($4 = '' OR "outcome" = $4) AND "at" >= $5 AND "at" <= $6 AND ("at" < $6 OR "id" < $7) ORDER BY "at" DESC, "id" DESC LIMIT $8;

-- keepActs
UPDATE "pintle_activity" SET "user_id" = NULL WHERE "user_id" = $1 AND "actor" IS NOT NULL;

-- sweepActivity
WITH expired AS (SELECT "id" FROM "pintle_activity" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_activity" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1;

-- putSignIn
INSERT INTO "pintle_provider_sessions" AS t ("id", "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT ("id") DO UPDATE SET "role" = CASE WHEN t."role" = 'began' THEN t."role" ELSE $8 END, "key_sid" = $6, "key_sub" = $7, "acr" = $9, "amr" = $10, "auth_time" = $11, "proof" = $12, "hint" = $13, "created" = $14, "expires" = $15;

-- signIns
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "pintle_provider_sessions" WHERE "session" = $1;

-- dropSignIn
DELETE FROM "pintle_provider_sessions" WHERE "id" = $1;

-- dropSignIns
DELETE FROM "pintle_provider_sessions" WHERE "session" = $1;

-- dropUserSignIns
DELETE FROM "pintle_provider_sessions" WHERE "user_id" = $1 AND "session" <> $2;

-- moveSignIns
UPDATE "pintle_provider_sessions" SET "expires" = $2 WHERE "session" = $1;

-- rememberEnd
INSERT INTO "pintle_provider_ends" AS t ("id", "ended", "expires") VALUES ($1, $2, $3) ON CONFLICT ("id") DO UPDATE SET "ended" = GREATEST(t."ended", $2), "expires" = GREATEST(t."expires", $3);

-- signInsBy[0]
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "pintle_provider_sessions" WHERE "created" < $1 AND "key_sid" = $2;

-- signInsBy[1]
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "pintle_provider_sessions" WHERE "created" < $1 AND "key_sub" = $2;

-- signInsBy[2]
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "pintle_provider_sessions" WHERE "created" < $1 AND "key_sid" = $2 AND "key_sub" = $3;

-- lockEnds[0]
INSERT INTO "pintle_provider_ends" AS t ("id", "ended", "expires") VALUES ($1, 0, $2) ON CONFLICT ("id") DO UPDATE SET "expires" = GREATEST(t."expires", $2) RETURNING "ended";

-- lockEnds[1]
INSERT INTO "pintle_provider_ends" AS t ("id", "ended", "expires") VALUES ($1, 0, $4), ($2, 0, $4), ($3, 0, $4) ON CONFLICT ("id") DO UPDATE SET "expires" = GREATEST(t."expires", $4) RETURNING "ended";

-- sweepSignIns
WITH expired AS (SELECT "id" FROM "pintle_provider_sessions" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_provider_sessions" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1;

-- sweepEnds
WITH expired AS (SELECT "id" FROM "pintle_provider_ends" WHERE "expires" < $1 ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_provider_ends" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1;

-- once
INSERT INTO "pintle_once" AS t ("id", "expires") VALUES ($1, $2) ON CONFLICT ("id") DO UPDATE SET "expires" = $2 WHERE t."expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

-- takeLease
INSERT INTO "pintle_leases" AS t ("id", "owner", "expires") VALUES ($1, $2, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $3) ON CONFLICT ("id") DO UPDATE SET "owner" = $2, "expires" = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $3 WHERE t."owner" = $2 OR t."expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

-- releaseLease
DELETE FROM "pintle_leases" WHERE "id" = $1 AND "owner" = $2;

-- sweepOnce
WITH expired AS (SELECT "id" FROM "pintle_once" WHERE "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_once" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

-- sweepLeases
WITH expired AS (SELECT "id" FROM "pintle_leases" WHERE "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_leases" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

-- take
INSERT INTO "pintle_counts" AS t ("id", "expires") VALUES ($1, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $2) ON CONFLICT ("id") DO UPDATE SET "expires" = GREATEST(t."expires", CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)) + $2 WHERE t."expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $3;

-- count
SELECT "expires" - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) FROM "pintle_counts" WHERE "id" = $1;

-- lower
UPDATE "pintle_counts" SET "expires" = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $2 WHERE "id" = $1 AND "expires" > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) + $2;

-- giveBack
UPDATE "pintle_counts" SET "expires" = "expires" - $2 WHERE "id" = $1;

-- sweepCounts
WITH expired AS (SELECT "id" FROM "pintle_counts" WHERE "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) ORDER BY "expires" LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM "pintle_counts" WHERE ("id") IN (SELECT "id" FROM expired) AND "expires" < $1 AND "expires" <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint);

