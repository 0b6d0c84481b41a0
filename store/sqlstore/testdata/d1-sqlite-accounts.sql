-- createUser
INSERT INTO "users" ("id", "name", "email", "emailVerified", "image") VALUES (?1, ?2, ?3, ?4, ?5) RETURNING "id", "name", "email", "emailVerified", "image";

-- user
SELECT "id", "name", "email", "emailVerified", "image" FROM "users" WHERE "id" = ?1;

-- userByEmail
SELECT "id", "name", "email", "emailVerified", "image" FROM "users" WHERE "email" = ?1;

-- userByAccount
SELECT u."id", u."name", u."email", u."emailVerified", u."image" FROM "accounts" a JOIN "users" u ON u."id" = a."userId" WHERE a."provider" = ?1 AND a."providerAccountId" = ?2;

-- deleteUser[0]
DELETE FROM "sessions" WHERE "userId" = ?1;

-- deleteUser[1]
DELETE FROM "accounts" WHERE "userId" = ?1;

-- deleteUser[2]
DELETE FROM "users" WHERE "id" = ?1;

-- userLocked
SELECT "email" FROM "users" WHERE "id" = ?1;

-- updateUser[1]
UPDATE "users" SET "name" = ?2 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[2]
UPDATE "users" SET "email" = ?2 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[3]
UPDATE "users" SET "name" = ?2, "email" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[4]
UPDATE "users" SET "emailVerified" = ?2 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[5]
UPDATE "users" SET "name" = ?2, "emailVerified" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[6]
UPDATE "users" SET "email" = ?2, "emailVerified" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[7]
UPDATE "users" SET "name" = ?2, "email" = ?3, "emailVerified" = ?4 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[8]
UPDATE "users" SET "image" = ?2 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[9]
UPDATE "users" SET "name" = ?2, "image" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[10]
UPDATE "users" SET "email" = ?2, "image" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[11]
UPDATE "users" SET "name" = ?2, "email" = ?3, "image" = ?4 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[12]
UPDATE "users" SET "emailVerified" = ?2, "image" = ?3 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[13]
UPDATE "users" SET "name" = ?2, "emailVerified" = ?3, "image" = ?4 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[14]
UPDATE "users" SET "email" = ?2, "emailVerified" = ?3, "image" = ?4 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- updateUser[15]
UPDATE "users" SET "name" = ?2, "email" = ?3, "emailVerified" = ?4, "image" = ?5 WHERE "id" = ?1 RETURNING "id", "name", "email", "emailVerified", "image";

-- linkAccount
INSERT INTO "accounts" ("userId", "type", "provider", "providerAccountId", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "oauth_token", "oauth_token_secret", "id") SELECT u."id", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 FROM "users" u WHERE u."id" = ?1;

-- account
SELECT "userId", "type", "provider", "providerAccountId", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "oauth_token", "oauth_token_secret" FROM "accounts" WHERE "provider" = ?1 AND "providerAccountId" = ?2;

-- userAccounts
SELECT "userId", "type", "provider", "providerAccountId", "id", "access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state", "oauth_token", "oauth_token_secret" FROM "accounts" WHERE "userId" = ?1;

-- updateAccount
UPDATE "accounts" SET "access_token" = ?3, "refresh_token" = ?4, "id_token" = ?5, "expires_at" = ?6, "token_type" = ?7, "scope" = ?8, "session_state" = ?9, "oauth_token" = ?10, "oauth_token_secret" = ?11 WHERE "provider" = ?1 AND "providerAccountId" = ?2;

-- swapAccount
UPDATE "accounts" SET "access_token" = ?4, "refresh_token" = ?5, "id_token" = ?6, "expires_at" = ?7, "token_type" = ?8, "scope" = ?9, "session_state" = ?10, "oauth_token" = ?11, "oauth_token_secret" = ?12 WHERE "provider" = ?1 AND "providerAccountId" = ?2 AND COALESCE("refresh_token", '') = ?3;

-- unlinkAccount
DELETE FROM "accounts" WHERE "userId" = ?1 AND "provider" = ?2 AND "providerAccountId" = ?3;

-- ownAccount
SELECT "type" FROM "accounts" WHERE "userId" = ?1 AND "provider" = ?2 AND "providerAccountId" = ?3;

-- createSession
INSERT INTO "sessions" ("sessionToken", "userId", "expires", "id") SELECT ?1, u."id", ?3, ?4 FROM "users" u WHERE u."id" = ?2;

-- sessionAndUser
SELECT s."id", s."expires", u."id", u."name", u."email", u."emailVerified", u."image", f."user_id", f."data" FROM "sessions" s JOIN "users" u ON u."id" = s."userId" LEFT JOIN "pintle_facts" f ON f."session" = ?2 WHERE s."sessionToken" = ?1;

-- sessionExists
SELECT "expires" FROM "sessions" WHERE "sessionToken" = ?1;

-- deleteSession
DELETE FROM "sessions" WHERE "sessionToken" = ?1 RETURNING "userId", "id", "expires";

-- updateSession[1]
UPDATE "sessions" SET "expires" = ?2 WHERE "sessionToken" = ?1;

-- updateSession[3]
UPDATE "sessions" SET "expires" = ?2 WHERE "sessionToken" = ?1;

-- session
SELECT "userId", "id", "expires" FROM "sessions" WHERE "sessionToken" = ?1;

-- userSessions
SELECT "sessionToken", "userId", "id", "expires" FROM "sessions" WHERE "userId" = ?1;

-- endSession
DELETE FROM "sessions" WHERE "userId" = ?1 AND "sessionToken" = ?2;

-- endUserSessions
DELETE FROM "sessions" WHERE "userId" = ?1;

-- endUserSessionsExcept
DELETE FROM "sessions" WHERE "userId" = ?1 AND NOT ("sessionToken" = ?2);

-- sessionTokens
SELECT "sessionToken" FROM "sessions" WHERE "userId" = ?1;

-- createVerification
INSERT INTO "verification_tokens" ("identifier", "token", "expires") VALUES (?1, ?2, ?3);

-- useVerification
DELETE FROM "verification_tokens" WHERE "identifier" = ?1 AND "token" = ?2 RETURNING "expires";

-- verification
SELECT "expires" FROM "verification_tokens" WHERE "identifier" = ?1 AND "token" = ?2;

-- sweepSessions
DELETE FROM "sessions" WHERE ("sessionToken") IN (SELECT "sessionToken" FROM "sessions" WHERE "expires" < ?1 AND "expires" LIKE '____-%' ORDER BY "expires" LIMIT ?2) AND "expires" < ?1 AND "expires" LIKE '____-%';

-- sweepVerifications
DELETE FROM "verification_tokens" WHERE ("identifier", "token") IN (SELECT "identifier", "token" FROM "verification_tokens" WHERE "expires" < ?1 AND "expires" LIKE '____-%' ORDER BY "expires" LIMIT ?2) AND "expires" < ?1 AND "expires" LIKE '____-%';

-- state
SELECT "version", "roles", "banned_until", "ban_reason", "delete_at", "must", "claim", "suspended", "created", "last_sign_in", "streak" FROM "pintle_states" WHERE "user_id" = ?1;

-- changeState
UPDATE "pintle_states" SET "version" = "version" + 1, "roles" = ?3, "banned_until" = ?4, "ban_reason" = ?5, "delete_at" = ?6, "must" = ?7, "claim" = ?8, "suspended" = ?9, "created" = ?10, "last_sign_in" = ?11 WHERE "user_id" = ?1 AND "version" = ?2;

-- createState
INSERT INTO "pintle_states" ("user_id", "version", "roles", "banned_until", "ban_reason", "delete_at", "must", "claim", "suspended", "created", "last_sign_in", "streak") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0) ON CONFLICT ("user_id") DO NOTHING;

-- ensureState
INSERT INTO "pintle_states" ("user_id", "version", "suspended", "streak") VALUES (?1, ?2, ?3, 0) ON CONFLICT ("user_id") DO NOTHING;

-- lockState
SELECT "failures", "streak" FROM "pintle_states" WHERE "user_id" = ?1;

-- countState
UPDATE "pintle_states" SET "failures" = ?2, "streak" = ?3 WHERE "user_id" = ?1;

-- factors
SELECT "kind", "id", "version", "secret", "step", "name", "created", "last_used", "expires" FROM "pintle_factors" WHERE "user_id" = ?1;

-- addFactor
INSERT INTO "pintle_factors" ("user_id", "kind", "id", "version", "secret", "step", "name", "created", "last_used", "expires") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- replaceFactor
UPDATE "pintle_factors" SET "version" = "version" + 1, "step" = CASE WHEN "step" < ?5 THEN ?5 ELSE "step" END, "secret" = ?6, "name" = ?7, "last_used" = ?8, "expires" = ?9 WHERE "user_id" = ?1 AND "kind" = ?2 AND "id" = ?3 AND "version" = ?4;

-- advanceFactor
UPDATE "pintle_factors" SET "step" = ?4, "last_used" = ?5 WHERE "user_id" = ?1 AND "kind" = ?2 AND "id" = ?3 AND "step" < ?4;

-- factorExists
SELECT "version" FROM "pintle_factors" WHERE "user_id" = ?1 AND "kind" = ?2 AND "id" = ?3;

-- deleteFactor
DELETE FROM "pintle_factors" WHERE "user_id" = ?1 AND "kind" = ?2 AND "id" = ?3;

-- createFlow
INSERT INTO "pintle_flows" ("id", "kind", "subject", "version", "payload", "code", "attempts", "created", "expires") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- flow
SELECT "kind", "subject", "version", "payload", "code", "attempts", "created", "expires" FROM "pintle_flows" WHERE "id" = ?1;

-- attemptFlow
UPDATE "pintle_flows" SET "attempts" = "attempts" + 1 WHERE "id" = ?1 AND "attempts" < ?2 RETURNING "attempts";

-- changeFlow
UPDATE "pintle_flows" SET "version" = "version" + 1, "payload" = ?3, "code" = ?4, "expires" = ?5 WHERE "id" = ?1 AND "version" = ?2;

-- useFlow
DELETE FROM "pintle_flows" WHERE "id" = ?1 AND "kind" = ?2 RETURNING "kind", "subject", "version", "payload", "code", "attempts", "created", "expires";

-- countFlows
SELECT COUNT(*) FROM "pintle_flows" WHERE "subject" = ?1 AND "kind" = ?2 AND "expires" > ?3;

-- deleteAccountRows[0]
UPDATE "pintle_activity" SET "user_id" = NULL WHERE "user_id" = ?1 AND "actor" IS NOT NULL;

-- deleteAccountRows[1]
DELETE FROM "pintle_facts" WHERE "user_id" = ?1;

-- deleteAccountRows[2]
DELETE FROM "pintle_states" WHERE "user_id" = ?1;

-- deleteAccountRows[3]
DELETE FROM "pintle_factors" WHERE "user_id" = ?1;

-- deleteAccountRows[4]
DELETE FROM "pintle_flows" WHERE "subject" = ?1;

-- deleteAccountRows[5]
DELETE FROM "pintle_activity" WHERE "user_id" = ?1;

-- deleteAccountRows[6]
DELETE FROM "pintle_provider_sessions" WHERE "user_id" = ?1;

-- sweepFlows
DELETE FROM "pintle_flows" WHERE ("id") IN (SELECT "id" FROM "pintle_flows" WHERE "expires" < ?1 ORDER BY "expires" LIMIT ?2) AND "expires" < ?1;

-- sweepFactors
DELETE FROM "pintle_factors" WHERE ("user_id", "kind", "id") IN (SELECT "user_id", "kind", "id" FROM "pintle_factors" WHERE "expires" < ?1 ORDER BY "expires" LIMIT ?2) AND "expires" < ?1;

-- stateOwners
SELECT "user_id" FROM "pintle_states" WHERE "user_id" > ?1 AND ("created" IS NULL OR "created" < ?2) ORDER BY "user_id" LIMIT ?3;

-- factorOwners
SELECT DISTINCT "user_id" FROM "pintle_factors" WHERE "user_id" > ?1 AND "created" < ?2 ORDER BY "user_id" LIMIT ?3;

-- dueUsers
SELECT "user_id" FROM "pintle_states" WHERE "user_id" > ?1 AND "delete_at" <= ?2 ORDER BY "user_id" LIMIT ?3;

-- factorUsers
SELECT DISTINCT "user_id" FROM "pintle_factors" WHERE "user_id" > ?1 AND "kind" = ?2 ORDER BY "user_id" LIMIT ?3;

-- dropState
DELETE FROM "pintle_states" WHERE "user_id" = ?1 AND ("created" IS NULL OR "created" < ?2);

-- leftRows
SELECT CASE WHEN EXISTS (SELECT 1 FROM "pintle_facts" WHERE "user_id" = ?1) OR EXISTS (SELECT 1 FROM "pintle_states" WHERE "user_id" = ?1) OR EXISTS (SELECT 1 FROM "pintle_factors" WHERE "user_id" = ?1) OR EXISTS (SELECT 1 FROM "pintle_flows" WHERE "subject" = ?1) OR EXISTS (SELECT 1 FROM "pintle_activity" WHERE "user_id" = ?1) OR EXISTS (SELECT 1 FROM "pintle_provider_sessions" WHERE "user_id" = ?1) THEN 1 ELSE 0 END;

-- record
INSERT INTO "pintle_activity" AS t ("id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT ("id") DO UPDATE SET "count" = t."count" + ?9;

-- activity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "pintle_activity" WHERE (?1 = '' OR "user_id" = ?1) AND (?2 = '' OR "actor" = ?2) AND (?3 = '' OR "kind" = ?3) AND (?4 = '' OR "outcome" = ?4) AND "at" >= ?5 AND "at" <= ?6 AND ("at" < ?6 OR "id" < ?7) ORDER BY "at" DESC, "id" DESC LIMIT ?8;

-- userActivity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "pintle_activity" WHERE "user_id" = ?1 AND (?2 = '' OR "actor" = ?2) AND (?3 = '' OR "kind" = ?3) AND (?4 = '' OR "outcome" = ?4) AND "at" >= ?5 AND "at" <= ?6 AND ("at" < ?6 OR "id" < ?7) ORDER BY "at" DESC, "id" DESC LIMIT ?8;

-- actorActivity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "pintle_activity" WHERE (?1 = '' OR "user_id" = ?1) AND "actor" = ?2 AND (?3 = '' OR "kind" = ?3) AND (?4 = '' OR "outcome" = ?4) AND "at" >= ?5 AND "at" <= ?6 AND ("at" < ?6 OR "id" < ?7) ORDER BY "at" DESC, "id" DESC LIMIT ?8;

-- kindActivity
SELECT "id", "at", "kind", "outcome", "user_id", "actor", "subject", "detail", "count", "expires" FROM "pintle_activity" WHERE (?1 = '' OR "user_id" = ?1) AND (?2 = '' OR "actor" = ?2) AND "kind" = ?3 AND (?4 = '' OR "outcome" = ?4) AND "at" >= ?5 AND "at" <= ?6 AND ("at" < ?6 OR "id" < ?7) ORDER BY "at" DESC, "id" DESC LIMIT ?8;

-- keepActs
UPDATE "pintle_activity" SET "user_id" = NULL WHERE "user_id" = ?1 AND "actor" IS NOT NULL;

-- sweepActivity
DELETE FROM "pintle_activity" WHERE ("id") IN (SELECT "id" FROM "pintle_activity" WHERE "expires" < ?1 ORDER BY "expires" LIMIT ?2) AND "expires" < ?1;

-- lockSession
SELECT "userId", "expires" FROM "sessions" WHERE "sessionToken" = ?1;

-- putFacts
INSERT INTO "pintle_facts" ("session", "user_id", "data", "expires") VALUES (?1, ?2, ?3, ?4) ON CONFLICT ("session") DO UPDATE SET "user_id" = ?2, "data" = ?3, "expires" = ?4;

-- facts
SELECT "user_id", "data" FROM "pintle_facts" WHERE "session" = ?1;

-- userFacts
SELECT "session", "data" FROM "pintle_facts" WHERE "user_id" = ?1;

-- deleteFacts
DELETE FROM "pintle_facts" WHERE "session" = ?1;

-- staleFacts
SELECT "session", "user_id", "expires" FROM "pintle_facts" WHERE "expires" < ?1 ORDER BY "expires" LIMIT ?2;

-- keepFacts
UPDATE "pintle_facts" SET "expires" = ?3 WHERE "session" = ?1 AND "expires" = ?2;

-- dropFacts
DELETE FROM "pintle_facts" WHERE "session" = ?1 AND "expires" = ?2;

-- putSignIn
INSERT INTO "pintle_provider_sessions" AS t ("id", "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT ("id") DO UPDATE SET "role" = CASE WHEN t."role" = 'began' THEN t."role" ELSE ?8 END, "key_sid" = ?6, "key_sub" = ?7, "acr" = ?9, "amr" = ?10, "auth_time" = ?11, "proof" = ?12, "hint" = ?13, "created" = ?14, "expires" = ?15;

-- signIns
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "pintle_provider_sessions" WHERE "session" = ?1;

-- dropSignIn
DELETE FROM "pintle_provider_sessions" WHERE "id" = ?1;

-- dropSignIns
DELETE FROM "pintle_provider_sessions" WHERE "session" = ?1;

-- dropUserSignIns
DELETE FROM "pintle_provider_sessions" WHERE "user_id" = ?1 AND "session" <> ?2;

-- moveSignIns
UPDATE "pintle_provider_sessions" SET "expires" = ?2 WHERE "session" = ?1;

-- rememberEnd
INSERT INTO "pintle_provider_ends" AS t ("id", "ended", "expires") VALUES (?1, ?2, ?3) ON CONFLICT ("id") DO UPDATE SET "ended" = MAX(t."ended", ?2), "expires" = MAX(t."expires", ?3);

-- signInsBy[0]
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "pintle_provider_sessions" WHERE "created" < ?1 AND "key_sid" = ?2;

-- signInsBy[1]
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "pintle_provider_sessions" WHERE "created" < ?1 AND "key_sub" = ?2;

-- signInsBy[2]
SELECT "session", "user_id", "provider", "account_id", "key_sid", "key_sub", "role", "acr", "amr", "auth_time", "proof", "hint", "created", "expires" FROM "pintle_provider_sessions" WHERE "created" < ?1 AND "key_sid" = ?2 AND "key_sub" = ?3;

-- lockEnds[0]
INSERT INTO "pintle_provider_ends" AS t ("id", "ended", "expires") VALUES (?1, 0, ?2) ON CONFLICT ("id") DO UPDATE SET "expires" = MAX(t."expires", ?2) RETURNING "ended";

-- lockEnds[1]
INSERT INTO "pintle_provider_ends" AS t ("id", "ended", "expires") VALUES (?1, 0, ?4), (?2, 0, ?4), (?3, 0, ?4) ON CONFLICT ("id") DO UPDATE SET "expires" = MAX(t."expires", ?4) RETURNING "ended";

-- sweepSignIns
DELETE FROM "pintle_provider_sessions" WHERE ("id") IN (SELECT "id" FROM "pintle_provider_sessions" WHERE "expires" < ?1 ORDER BY "expires" LIMIT ?2) AND "expires" < ?1;

-- sweepEnds
DELETE FROM "pintle_provider_ends" WHERE ("id") IN (SELECT "id" FROM "pintle_provider_ends" WHERE "expires" < ?1 ORDER BY "expires" LIMIT ?2) AND "expires" < ?1;

-- once
INSERT INTO "pintle_once" AS t ("id", "expires") VALUES (?1, ?2) ON CONFLICT ("id") DO UPDATE SET "expires" = ?2 WHERE t."expires" <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER);

-- takeLease
INSERT INTO "pintle_leases" AS t ("id", "owner", "expires") VALUES (?1, ?2, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + ?3) ON CONFLICT ("id") DO UPDATE SET "owner" = ?2, "expires" = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + ?3 WHERE t."owner" = ?2 OR t."expires" <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER);

-- releaseLease
DELETE FROM "pintle_leases" WHERE "id" = ?1 AND "owner" = ?2;

-- sweepOnce
DELETE FROM "pintle_once" WHERE ("id") IN (SELECT "id" FROM "pintle_once" WHERE "expires" < ?1 AND "expires" <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) ORDER BY "expires" LIMIT ?2) AND "expires" < ?1 AND "expires" <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER);

-- sweepLeases
DELETE FROM "pintle_leases" WHERE ("id") IN (SELECT "id" FROM "pintle_leases" WHERE "expires" < ?1 AND "expires" <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) ORDER BY "expires" LIMIT ?2) AND "expires" < ?1 AND "expires" <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER);

-- take
INSERT INTO "pintle_counts" AS t ("id", "expires") VALUES (?1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + ?2) ON CONFLICT ("id") DO UPDATE SET "expires" = MAX(t."expires", CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) + ?2 WHERE t."expires" <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + ?3;

-- count
SELECT "expires" - CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) FROM "pintle_counts" WHERE "id" = ?1;

-- lower
UPDATE "pintle_counts" SET "expires" = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + ?2 WHERE "id" = ?1 AND "expires" > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + ?2;

-- giveBack
UPDATE "pintle_counts" SET "expires" = "expires" - ?2 WHERE "id" = ?1;

-- sweepCounts
DELETE FROM "pintle_counts" WHERE ("id") IN (SELECT "id" FROM "pintle_counts" WHERE "expires" < ?1 AND "expires" <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) ORDER BY "expires" LIMIT ?2) AND "expires" < ?1 AND "expires" <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER);

