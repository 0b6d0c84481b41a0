-- createUser
INSERT INTO `user` (`id`, `name`, `email`, `emailVerified`, `image`) VALUES (?, ?, ?, ?, ?);

-- user
SELECT `id`, `name`, `email`, `emailVerified`, `image` FROM `user` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userByEmail
SELECT `id`, `name`, `email`, `emailVerified`, `image` FROM `user` WHERE (`email` = ? AND CAST(CONVERT(`email` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userByAccount
SELECT u.`id`, u.`name`, u.`email`, u.`emailVerified`, u.`image` FROM `account` a JOIN `user` u ON u.`id` = a.`userId` WHERE (a.`provider` = ? AND CAST(CONVERT(a.`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (a.`providerAccountId` = ? AND CAST(CONVERT(a.`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[0]
DELETE FROM `session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[1]
DELETE FROM `authenticator` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[2]
DELETE FROM `account` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[3]
DELETE FROM `user` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- lockUser
SELECT `id` FROM `user` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- userLocked
SELECT `email` FROM `user` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- updateUser[1]
UPDATE `user` SET `name` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[2]
UPDATE `user` SET `email` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[3]
UPDATE `user` SET `name` = ?, `email` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[4]
UPDATE `user` SET `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[5]
UPDATE `user` SET `name` = ?, `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[6]
UPDATE `user` SET `email` = ?, `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[7]
UPDATE `user` SET `name` = ?, `email` = ?, `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[8]
UPDATE `user` SET `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[9]
UPDATE `user` SET `name` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[10]
UPDATE `user` SET `email` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[11]
UPDATE `user` SET `name` = ?, `email` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[12]
UPDATE `user` SET `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[13]
UPDATE `user` SET `name` = ?, `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[14]
UPDATE `user` SET `email` = ?, `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[15]
UPDATE `user` SET `name` = ?, `email` = ?, `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- linkAccount
INSERT INTO `account` (`userId`, `type`, `provider`, `providerAccountId`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state`) SELECT u.`id`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM `user` u WHERE (u.`id` = ? AND CAST(CONVERT(u.`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) LOCK IN SHARE MODE;

-- account
SELECT `userId`, `type`, `provider`, `providerAccountId`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state` FROM `account` WHERE (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userAccounts
SELECT `userId`, `type`, `provider`, `providerAccountId`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state` FROM `account` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateAccount
UPDATE `account` SET `access_token` = ?, `refresh_token` = ?, `id_token` = ?, `expires_at` = ?, `token_type` = ?, `scope` = ?, `session_state` = ? WHERE (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- swapAccount
UPDATE `account` SET `access_token` = ?, `refresh_token` = ?, `id_token` = ?, `expires_at` = ?, `token_type` = ?, `scope` = ?, `session_state` = ? WHERE (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND CAST(CONVERT(COALESCE(`refresh_token`, '') USING utf8mb4) AS BINARY) = CAST(? AS BINARY);

-- unlinkAccount
DELETE FROM `account` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- ownAccount
SELECT `type` FROM `account` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- createSession
INSERT INTO `session` (`sessionToken`, `userId`, `expires`) SELECT ?, u.`id`, ? FROM `user` u WHERE (u.`id` = ? AND CAST(CONVERT(u.`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) LOCK IN SHARE MODE;

-- sessionAndUser
SELECT s.`expires`, u.`id`, u.`name`, u.`email`, u.`emailVerified`, u.`image`, f.`user_id`, f.`data` FROM `session` s JOIN `user` u ON u.`id` = s.`userId` LEFT JOIN `pintle_facts` f ON f.`session` = ? WHERE (s.`sessionToken` = ? AND CAST(CONVERT(s.`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- sessionExists
SELECT `expires` FROM `session` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteSession
DELETE FROM `session` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateSession[1]
UPDATE `session` SET `expires` = ? WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateSession[3]
UPDATE `session` SET `expires` = ? WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- session
SELECT `userId`, `expires` FROM `session` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userSessions
SELECT `sessionToken`, `userId`, `expires` FROM `session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- endSession
DELETE FROM `session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- endUserSessions
DELETE FROM `session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- endUserSessionsExcept
DELETE FROM `session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND NOT ((`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)));

-- sessionTokens
SELECT `sessionToken` FROM `session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- createVerification
INSERT INTO `verificationToken` (`identifier`, `token`, `expires`) VALUES (?, ?, ?);

-- useVerification
DELETE FROM `verificationToken` WHERE (`identifier` = ? AND CAST(CONVERT(`identifier` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`token` = ? AND CAST(CONVERT(`token` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- verification
SELECT `expires` FROM `verificationToken` WHERE (`identifier` = ? AND CAST(CONVERT(`identifier` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`token` = ? AND CAST(CONVERT(`token` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- createAuthenticator
INSERT INTO `authenticator` (`credentialID`, `userId`, `providerAccountId`, `credentialPublicKey`, `counter`, `credentialDeviceType`, `credentialBackedUp`, `transports`) SELECT ?, u.`id`, ?, ?, ?, ?, ?, ? FROM `user` u WHERE (u.`id` = ? AND CAST(CONVERT(u.`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) LOCK IN SHARE MODE;

-- authenticator
SELECT `credentialID`, `userId`, `providerAccountId`, `credentialPublicKey`, `counter`, `credentialDeviceType`, `credentialBackedUp`, `transports` FROM `authenticator` WHERE (`credentialID` = ? AND CAST(CONVERT(`credentialID` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userAuthenticators
SELECT `credentialID`, `userId`, `providerAccountId`, `credentialPublicKey`, `counter`, `credentialDeviceType`, `credentialBackedUp`, `transports` FROM `authenticator` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- useAuthenticator
UPDATE `authenticator` SET `counter` = ?, `credentialBackedUp` = ? WHERE (`credentialID` = ? AND CAST(CONVERT(`credentialID` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND `counter` = ?;

-- deleteAuthenticator
DELETE FROM `authenticator` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`credentialID` = ? AND CAST(CONVERT(`credentialID` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- sweepSessions
DELETE FROM `session` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- sweepVerifications
DELETE FROM `verificationToken` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- state
SELECT `version`, `roles`, `banned_until`, `ban_reason`, `delete_at`, `must`, `claim`, `suspended`, `created`, `last_sign_in`, `streak` FROM `pintle_states` WHERE `user_id` = ?;

-- changeState
UPDATE `pintle_states` SET `version` = `version` + 1, `roles` = ?, `banned_until` = ?, `ban_reason` = ?, `delete_at` = ?, `must` = ?, `claim` = ?, `suspended` = ?, `created` = ?, `last_sign_in` = ? WHERE `user_id` = ? AND `version` = ?;

-- createState
INSERT INTO `pintle_states` (`user_id`, `version`, `roles`, `banned_until`, `ban_reason`, `delete_at`, `must`, `claim`, `suspended`, `created`, `last_sign_in`, `streak`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0);

-- ensureState
INSERT INTO `pintle_states` (`user_id`, `version`, `suspended`, `streak`) VALUES (?, ?, ?, 0) ON DUPLICATE KEY UPDATE `user_id` = `user_id`;

-- lockState
SELECT `failures`, `streak` FROM `pintle_states` WHERE `user_id` = ? FOR UPDATE;

-- countState
UPDATE `pintle_states` SET `failures` = ?, `streak` = ? WHERE `user_id` = ?;

-- factors
SELECT `kind`, `id`, `version`, `secret`, `step`, `name`, `created`, `last_used`, `expires` FROM `pintle_factors` WHERE `user_id` = ?;

-- addFactor
INSERT INTO `pintle_factors` (`user_id`, `kind`, `id`, `version`, `secret`, `step`, `name`, `created`, `last_used`, `expires`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- replaceFactor
UPDATE `pintle_factors` SET `version` = `version` + 1, `step` = CASE WHEN `step` < ? THEN ? ELSE `step` END, `secret` = ?, `name` = ?, `last_used` = ?, `expires` = ? WHERE `user_id` = ? AND `kind` = ? AND `id` = ? AND `version` = ?;

-- advanceFactor
UPDATE `pintle_factors` SET `step` = ?, `last_used` = ? WHERE `user_id` = ? AND `kind` = ? AND `id` = ? AND `step` < ?;

-- factorExists
SELECT `version` FROM `pintle_factors` WHERE `user_id` = ? AND `kind` = ? AND `id` = ?;

-- deleteFactor
DELETE FROM `pintle_factors` WHERE `user_id` = ? AND `kind` = ? AND `id` = ?;

-- createFlow
INSERT INTO `pintle_flows` (`id`, `kind`, `subject`, `version`, `payload`, `code`, `attempts`, `created`, `expires`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- flow
SELECT `kind`, `subject`, `version`, `payload`, `code`, `attempts`, `created`, `expires` FROM `pintle_flows` WHERE `id` = ?;

-- attemptFlow
UPDATE `pintle_flows` SET `attempts` = LAST_INSERT_ID(`attempts` + 1) WHERE `id` = ? AND `attempts` < ?;

-- changeFlow
UPDATE `pintle_flows` SET `version` = `version` + 1, `payload` = ?, `code` = ?, `expires` = ? WHERE `id` = ? AND `version` = ?;

-- useFlow
DELETE FROM `pintle_flows` WHERE `id` = ? AND `kind` = ?;

-- countFlows
SELECT COUNT(*) FROM `pintle_flows` WHERE `subject` = ? AND `kind` = ? AND `expires` > ?;

-- lockFlow
SELECT `kind`, `subject`, `version`, `payload`, `code`, `attempts`, `created`, `expires` FROM `pintle_flows` WHERE `id` = ? AND `kind` = ? FOR UPDATE;

-- deleteAccountRows[0]
UPDATE `pintle_activity` SET `user_id` = NULL WHERE `user_id` = ? AND `actor` IS NOT NULL;

-- deleteAccountRows[1]
DELETE FROM `pintle_facts` WHERE `user_id` = ?;

-- deleteAccountRows[2]
DELETE FROM `pintle_states` WHERE `user_id` = ?;

-- deleteAccountRows[3]
DELETE FROM `pintle_factors` WHERE `user_id` = ?;

-- deleteAccountRows[4]
DELETE FROM `pintle_flows` WHERE `subject` = ?;

-- deleteAccountRows[5]
DELETE FROM `pintle_activity` WHERE `user_id` = ?;

-- deleteAccountRows[6]
DELETE FROM `pintle_provider_sessions` WHERE `user_id` = ?;

-- sweepFlows
DELETE FROM `pintle_flows` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- sweepFactors
DELETE FROM `pintle_factors` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- stateOwners
SELECT `user_id` FROM `pintle_states` WHERE `user_id` > ? AND (`created` IS NULL OR `created` < ?) ORDER BY `user_id` LIMIT ?;

-- factorOwners
SELECT DISTINCT `user_id` FROM `pintle_factors` WHERE `user_id` > ? AND `created` < ? ORDER BY `user_id` LIMIT ?;

-- dueUsers
SELECT `user_id` FROM `pintle_states` WHERE `user_id` > ? AND `delete_at` <= ? ORDER BY `user_id` LIMIT ?;

-- factorUsers
SELECT DISTINCT `user_id` FROM `pintle_factors` WHERE `user_id` > ? AND `kind` = ? ORDER BY `user_id` LIMIT ?;

-- dropState
DELETE FROM `pintle_states` WHERE `user_id` = ? AND (`created` IS NULL OR `created` < ?);

-- leftRows
SELECT CASE WHEN EXISTS (SELECT 1 FROM `pintle_facts` WHERE `user_id` = ?) OR EXISTS (SELECT 1 FROM `pintle_states` WHERE `user_id` = ?) OR EXISTS (SELECT 1 FROM `pintle_factors` WHERE `user_id` = ?) OR EXISTS (SELECT 1 FROM `pintle_flows` WHERE `subject` = ?) OR EXISTS (SELECT 1 FROM `pintle_activity` WHERE `user_id` = ?) OR EXISTS (SELECT 1 FROM `pintle_provider_sessions` WHERE `user_id` = ?) THEN 1 ELSE 0 END;

-- record
INSERT INTO `pintle_activity` (`id`, `at`, `kind`, `outcome`, `user_id`, `actor`, `subject`, `detail`, `count`, `expires`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE `count` = `count` + ?;

-- activity
SELECT `id`, `at`, `kind`, `outcome`, `user_id`, `actor`, `subject`, `detail`, `count`, `expires` FROM `pintle_activity` WHERE (? = '' OR `user_id` = ?) AND (? = '' OR `actor` = ?) AND (? = '' OR `kind` = ?) AND (? = '' OR `outcome` = ?) AND `at` >= ? AND `at` <= ? AND (`at` < ? OR `id` < ?) ORDER BY `at` DESC, `id` DESC LIMIT ?;

-- userActivity
SELECT `id`, `at`, `kind`, `outcome`, `user_id`, `actor`, `subject`, `detail`, `count`, `expires` FROM `pintle_activity` WHERE `user_id` = ? AND (? = '' OR `actor` = ?) AND (? = '' OR `kind` = ?) AND (? = '' OR `outcome` = ?) AND `at` >= ? AND `at` <= ? AND (`at` < ? OR `id` < ?) ORDER BY `at` DESC, `id` DESC LIMIT ?;

-- actorActivity
SELECT `id`, `at`, `kind`, `outcome`, `user_id`, `actor`, `subject`, `detail`, `count`, `expires` FROM `pintle_activity` WHERE (? = '' OR `user_id` = ?) AND `actor` = ? AND (? = '' OR `kind` = ?) AND (? = '' OR `outcome` = ?) AND `at` >= ? AND `at` <= ? AND (`at` < ? OR `id` < ?) ORDER BY `at` DESC, `id` DESC LIMIT ?;

-- kindActivity
SELECT `id`, `at`, `kind`, `outcome`, `user_id`, `actor`, `subject`, `detail`, `count`, `expires` FROM `pintle_activity` WHERE (? = '' OR `user_id` = ?) AND (? = '' OR `actor` = ?) AND `kind` = ? AND (? = '' OR `outcome` = ?) AND `at` >= ? AND `at` <= ? AND (`at` < ? OR `id` < ?) ORDER BY `at` DESC, `id` DESC LIMIT ?;

-- keepActs
UPDATE `pintle_activity` SET `user_id` = NULL WHERE `user_id` = ? AND `actor` IS NOT NULL;

-- sweepActivity
DELETE FROM `pintle_activity` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- lockSession
SELECT `userId`, `expires` FROM `session` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- putFacts
INSERT INTO `pintle_facts` (`session`, `user_id`, `data`, `expires`) VALUES (?, ?, ?, ?) ON DUPLICATE KEY UPDATE `user_id` = ?, `data` = ?, `expires` = ?;

-- facts
SELECT `user_id`, `data` FROM `pintle_facts` WHERE `session` = ?;

-- userFacts
SELECT `session`, `data` FROM `pintle_facts` WHERE `user_id` = ?;

-- deleteFacts
DELETE FROM `pintle_facts` WHERE `session` = ?;

-- staleFacts
SELECT `session`, `user_id`, `expires` FROM `pintle_facts` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- keepFacts
UPDATE `pintle_facts` SET `expires` = ? WHERE `session` = ? AND `expires` = ?;

-- dropFacts
DELETE FROM `pintle_facts` WHERE `session` = ? AND `expires` = ?;

-- putSignIn
INSERT INTO `pintle_provider_sessions` (`id`, `session`, `user_id`, `provider`, `account_id`, `key_sid`, `key_sub`, `role`, `acr`, `amr`, `auth_time`, `proof`, `hint`, `created`, `expires`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE `role` = CASE WHEN `role` = 'began' THEN `role` ELSE ? END, `key_sid` = ?, `key_sub` = ?, `acr` = ?, `amr` = ?, `auth_time` = ?, `proof` = ?, `hint` = ?, `created` = ?, `expires` = ?;

-- signIns
SELECT `session`, `user_id`, `provider`, `account_id`, `key_sid`, `key_sub`, `role`, `acr`, `amr`, `auth_time`, `proof`, `hint`, `created`, `expires` FROM `pintle_provider_sessions` WHERE `session` = ?;

-- dropSignIn
DELETE FROM `pintle_provider_sessions` WHERE `id` = ?;

-- dropSignIns
DELETE FROM `pintle_provider_sessions` WHERE `session` = ?;

-- dropUserSignIns
DELETE FROM `pintle_provider_sessions` WHERE `user_id` = ? AND `session` <> ?;

-- moveSignIns
UPDATE `pintle_provider_sessions` SET `expires` = ? WHERE `session` = ?;

-- rememberEnd
INSERT INTO `pintle_provider_ends` (`id`, `ended`, `expires`) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE `ended` = GREATEST(`ended`, ?), `expires` = GREATEST(`expires`, ?);

-- signInsBy[0]
SELECT `session`, `user_id`, `provider`, `account_id`, `key_sid`, `key_sub`, `role`, `acr`, `amr`, `auth_time`, `proof`, `hint`, `created`, `expires` FROM `pintle_provider_sessions` WHERE `created` < ? AND `key_sid` = ?;

-- signInsBy[1]
SELECT `session`, `user_id`, `provider`, `account_id`, `key_sid`, `key_sub`, `role`, `acr`, `amr`, `auth_time`, `proof`, `hint`, `created`, `expires` FROM `pintle_provider_sessions` WHERE `created` < ? AND `key_sub` = ?;

-- signInsBy[2]
SELECT `session`, `user_id`, `provider`, `account_id`, `key_sid`, `key_sub`, `role`, `acr`, `amr`, `auth_time`, `proof`, `hint`, `created`, `expires` FROM `pintle_provider_sessions` WHERE `created` < ? AND `key_sid` = ? AND `key_sub` = ?;

-- lockSignInsBy[0]
SELECT `session`, `user_id`, `provider`, `account_id`, `key_sid`, `key_sub`, `role`, `acr`, `amr`, `auth_time`, `proof`, `hint`, `created`, `expires` FROM `pintle_provider_sessions` WHERE `created` < ? AND `key_sid` = ? FOR UPDATE;

-- lockSignInsBy[1]
SELECT `session`, `user_id`, `provider`, `account_id`, `key_sid`, `key_sub`, `role`, `acr`, `amr`, `auth_time`, `proof`, `hint`, `created`, `expires` FROM `pintle_provider_sessions` WHERE `created` < ? AND `key_sub` = ? FOR UPDATE;

-- lockSignInsBy[2]
SELECT `session`, `user_id`, `provider`, `account_id`, `key_sid`, `key_sub`, `role`, `acr`, `amr`, `auth_time`, `proof`, `hint`, `created`, `expires` FROM `pintle_provider_sessions` WHERE `created` < ? AND `key_sid` = ? AND `key_sub` = ? FOR UPDATE;

-- lockEnds[0]
INSERT INTO `pintle_provider_ends` (`id`, `ended`, `expires`) VALUES (?, 0, ?) ON DUPLICATE KEY UPDATE `expires` = GREATEST(`expires`, ?);

-- lockEnds[1]
INSERT INTO `pintle_provider_ends` (`id`, `ended`, `expires`) VALUES (?, 0, ?), (?, 0, ?), (?, 0, ?) ON DUPLICATE KEY UPDATE `expires` = GREATEST(`expires`, ?);

-- lockedEnd
SELECT `ended` FROM `pintle_provider_ends` WHERE `id` = ? FOR UPDATE;

-- sweepSignIns
DELETE FROM `pintle_provider_sessions` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- sweepEnds
DELETE FROM `pintle_provider_ends` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- once
INSERT INTO `pintle_once` (`id`, `expires`) VALUES (?, ?);

-- forgetOnce
DELETE FROM `pintle_once` WHERE `id` = ? AND `expires` <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000;

-- takeLease
UPDATE `pintle_leases` SET `owner` = ?, `expires` = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + ? WHERE `id` = ? AND (`owner` = ? OR `expires` <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000);

-- addLease
INSERT INTO `pintle_leases` (`id`, `owner`, `expires`) VALUES (?, ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + ?);

-- ownLease
SELECT 1 FROM `pintle_leases` WHERE `id` = ? AND `owner` = ? AND `expires` > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000;

-- releaseLease
DELETE FROM `pintle_leases` WHERE `id` = ? AND `owner` = ?;

-- sweepOnce
DELETE FROM `pintle_once` WHERE `expires` < ? AND `expires` <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 ORDER BY `expires` LIMIT ?;

-- sweepLeases
DELETE FROM `pintle_leases` WHERE `expires` < ? AND `expires` <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 ORDER BY `expires` LIMIT ?;

-- take
UPDATE `pintle_counts` SET `expires` = GREATEST(`expires`, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) + ? WHERE `id` = ? AND `expires` <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + ?;

-- addCount
INSERT INTO `pintle_counts` (`id`, `expires`) VALUES (?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + ?);

-- count
SELECT `expires` - TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 FROM `pintle_counts` WHERE `id` = ?;

-- lower
UPDATE `pintle_counts` SET `expires` = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + ? WHERE `id` = ? AND `expires` > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + ?;

-- giveBack
UPDATE `pintle_counts` SET `expires` = `expires` - ? WHERE `id` = ?;

-- sweepCounts
DELETE FROM `pintle_counts` WHERE `expires` < ? AND `expires` <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 ORDER BY `expires` LIMIT ?;

