-- createUser
INSERT INTO `pintle_users` (`id`, `name`, `email`, `email_verified`, `image`, `extra`, `created`) VALUES (?, ?, ?, ?, ?, ?, ?);

-- user
SELECT `id`, `name`, `email`, `email_verified`, `image`, `extra` FROM `pintle_users` WHERE `id` = ?;

-- userByEmail
SELECT `id`, `name`, `email`, `email_verified`, `image`, `extra` FROM `pintle_users` WHERE `email` = ?;

-- userByAccount
SELECT u.`id`, u.`name`, u.`email`, u.`email_verified`, u.`image`, u.`extra` FROM `pintle_accounts` a JOIN `pintle_users` u ON u.`id` = a.`user_id` WHERE a.`provider` = ? AND a.`provider_account_id` = ?;

-- deleteUser[0]
DELETE FROM `pintle_sessions` WHERE `user_id` = ?;

-- deleteUser[1]
DELETE FROM `pintle_authenticators` WHERE `user_id` = ?;

-- deleteUser[2]
DELETE FROM `pintle_accounts` WHERE `user_id` = ?;

-- deleteUser[3]
DELETE FROM `pintle_users` WHERE `id` = ?;

-- lockUser
SELECT `id` FROM `pintle_users` WHERE `id` = ? FOR UPDATE;

-- userExtra
SELECT `extra` FROM `pintle_users` WHERE `id` = ? FOR UPDATE;

-- userLocked
SELECT `email` FROM `pintle_users` WHERE `id` = ? FOR UPDATE;

-- updateUser[1]
UPDATE `pintle_users` SET `name` = ? WHERE `id` = ?;

-- updateUser[2]
UPDATE `pintle_users` SET `email` = ? WHERE `id` = ?;

-- updateUser[3]
UPDATE `pintle_users` SET `name` = ?, `email` = ? WHERE `id` = ?;

-- updateUser[4]
UPDATE `pintle_users` SET `email_verified` = ? WHERE `id` = ?;

-- updateUser[5]
UPDATE `pintle_users` SET `name` = ?, `email_verified` = ? WHERE `id` = ?;

-- updateUser[6]
UPDATE `pintle_users` SET `email` = ?, `email_verified` = ? WHERE `id` = ?;

-- updateUser[7]
UPDATE `pintle_users` SET `name` = ?, `email` = ?, `email_verified` = ? WHERE `id` = ?;

-- updateUser[8]
UPDATE `pintle_users` SET `image` = ? WHERE `id` = ?;

-- updateUser[9]
UPDATE `pintle_users` SET `name` = ?, `image` = ? WHERE `id` = ?;

-- updateUser[10]
UPDATE `pintle_users` SET `email` = ?, `image` = ? WHERE `id` = ?;

-- updateUser[11]
UPDATE `pintle_users` SET `name` = ?, `email` = ?, `image` = ? WHERE `id` = ?;

-- updateUser[12]
UPDATE `pintle_users` SET `email_verified` = ?, `image` = ? WHERE `id` = ?;

-- updateUser[13]
UPDATE `pintle_users` SET `name` = ?, `email_verified` = ?, `image` = ? WHERE `id` = ?;

-- updateUser[14]
UPDATE `pintle_users` SET `email` = ?, `email_verified` = ?, `image` = ? WHERE `id` = ?;

-- updateUser[15]
UPDATE `pintle_users` SET `name` = ?, `email` = ?, `email_verified` = ?, `image` = ? WHERE `id` = ?;

-- linkAccount
INSERT INTO `pintle_accounts` (`user_id`, `type`, `provider`, `provider_account_id`, `verified_email`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state`, `oauth_token`, `oauth_token_secret`, `extra`, `id`) SELECT u.`id`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM `pintle_users` u WHERE u.`id` = ? LOCK IN SHARE MODE;

-- account
SELECT `user_id`, `type`, `provider`, `provider_account_id`, `verified_email`, `id`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state`, `oauth_token`, `oauth_token_secret`, `extra` FROM `pintle_accounts` WHERE `provider` = ? AND `provider_account_id` = ?;

-- userAccounts
SELECT `user_id`, `type`, `provider`, `provider_account_id`, `verified_email`, `id`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state`, `oauth_token`, `oauth_token_secret`, `extra` FROM `pintle_accounts` WHERE `user_id` = ?;

-- updateAccount
UPDATE `pintle_accounts` SET `access_token` = ?, `refresh_token` = ?, `id_token` = ?, `expires_at` = ?, `token_type` = ?, `scope` = ?, `session_state` = ?, `oauth_token` = ?, `oauth_token_secret` = ?, `extra` = ? WHERE `provider` = ? AND `provider_account_id` = ?;

-- swapAccount
UPDATE `pintle_accounts` SET `access_token` = ?, `refresh_token` = ?, `id_token` = ?, `expires_at` = ?, `token_type` = ?, `scope` = ?, `session_state` = ?, `oauth_token` = ?, `oauth_token_secret` = ?, `extra` = ? WHERE `provider` = ? AND `provider_account_id` = ? AND CAST(CONVERT(COALESCE(`refresh_token`, '') USING utf8mb4) AS BINARY) = CAST(? AS BINARY);

-- unlinkAccount
DELETE FROM `pintle_accounts` WHERE `user_id` = ? AND `provider` = ? AND `provider_account_id` = ?;

-- ownAccount
SELECT `type` FROM `pintle_accounts` WHERE `user_id` = ? AND `provider` = ? AND `provider_account_id` = ? FOR UPDATE;

-- createSession
INSERT INTO `pintle_sessions` (`token_hash`, `user_id`, `expires`, `created`, `data`) SELECT ?, u.`id`, ?, ?, ? FROM `pintle_users` u WHERE u.`id` = ? LOCK IN SHARE MODE;

-- sessionAndUser
SELECT s.`expires`, s.`created`, s.`data`, u.`id`, u.`name`, u.`email`, u.`email_verified`, u.`image`, u.`extra` FROM `pintle_sessions` s JOIN `pintle_users` u ON u.`id` = s.`user_id` WHERE s.`token_hash` = ?;

-- sessionExists
SELECT `expires` FROM `pintle_sessions` WHERE `token_hash` = ?;

-- deleteSession
DELETE FROM `pintle_sessions` WHERE `token_hash` = ?;

-- updateSession[1]
UPDATE `pintle_sessions` SET `expires` = ? WHERE `token_hash` = ?;

-- updateSession[2]
UPDATE `pintle_sessions` SET `data` = ? WHERE `token_hash` = ?;

-- updateSession[3]
UPDATE `pintle_sessions` SET `expires` = ?, `data` = ? WHERE `token_hash` = ?;

-- session
SELECT `user_id`, `expires`, `created`, `data` FROM `pintle_sessions` WHERE `token_hash` = ?;

-- userSessions
SELECT `token_hash`, `user_id`, `expires`, `created`, `data` FROM `pintle_sessions` WHERE `user_id` = ?;

-- endSession
DELETE FROM `pintle_sessions` WHERE `user_id` = ? AND `token_hash` = ?;

-- endUserSessions
DELETE FROM `pintle_sessions` WHERE `user_id` = ?;

-- endUserSessionsExcept
DELETE FROM `pintle_sessions` WHERE `user_id` = ? AND NOT (`token_hash` = ?);

-- sessionTokens
SELECT `token_hash` FROM `pintle_sessions` WHERE `user_id` = ?;

-- createVerification
INSERT INTO `pintle_verifications` (`identifier`, `token`, `expires`) VALUES (?, ?, ?);

-- useVerification
DELETE FROM `pintle_verifications` WHERE `identifier` = ? AND `token` = ?;

-- verification
SELECT `expires` FROM `pintle_verifications` WHERE `identifier` = ? AND `token` = ?;

-- createAuthenticator
INSERT INTO `pintle_authenticators` (`credential_id`, `user_id`, `provider_account_id`, `public_key`, `counter`, `device_type`, `backed_up`, `transports`, `name`, `created`, `last_used`) SELECT ?, u.`id`, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM `pintle_users` u WHERE u.`id` = ? LOCK IN SHARE MODE;

-- authenticator
SELECT `credential_id`, `user_id`, `provider_account_id`, `public_key`, `counter`, `device_type`, `backed_up`, `transports`, `name`, `created`, `last_used` FROM `pintle_authenticators` WHERE `credential_id` = ?;

-- userAuthenticators
SELECT `credential_id`, `user_id`, `provider_account_id`, `public_key`, `counter`, `device_type`, `backed_up`, `transports`, `name`, `created`, `last_used` FROM `pintle_authenticators` WHERE `user_id` = ?;

-- useAuthenticator
UPDATE `pintle_authenticators` SET `counter` = ?, `backed_up` = ?, `last_used` = ? WHERE `credential_id` = ? AND `counter` = ?;

-- renameAuthenticator
UPDATE `pintle_authenticators` SET `name` = ? WHERE `user_id` = ? AND `credential_id` = ?;

-- deleteAuthenticator
DELETE FROM `pintle_authenticators` WHERE `user_id` = ? AND `credential_id` = ?;

-- sweepSessions
DELETE FROM `pintle_sessions` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- sweepVerifications
DELETE FROM `pintle_verifications` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

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
DELETE FROM `pintle_states` WHERE `user_id` = ?;

-- deleteAccountRows[2]
DELETE FROM `pintle_factors` WHERE `user_id` = ?;

-- deleteAccountRows[3]
DELETE FROM `pintle_flows` WHERE `subject` = ?;

-- deleteAccountRows[4]
DELETE FROM `pintle_activity` WHERE `user_id` = ?;

-- deleteAccountRows[5]
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
SELECT CASE WHEN EXISTS (SELECT 1 FROM `pintle_states` WHERE `user_id` = ?) OR EXISTS (SELECT 1 FROM `pintle_factors` WHERE `user_id` = ?) OR EXISTS (SELECT 1 FROM `pintle_flows` WHERE `subject` = ?) OR EXISTS (SELECT 1 FROM `pintle_activity` WHERE `user_id` = ?) OR EXISTS (SELECT 1 FROM `pintle_provider_sessions` WHERE `user_id` = ?) THEN 1 ELSE 0 END;

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

