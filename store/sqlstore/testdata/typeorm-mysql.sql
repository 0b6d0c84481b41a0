-- createUser
INSERT INTO `users` (`id`, `name`, `email`, `emailVerified`, `image`) VALUES (?, ?, ?, ?, ?);

-- user
SELECT `id`, `name`, `email`, `emailVerified`, `image` FROM `users` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userByEmail
SELECT `id`, `name`, `email`, `emailVerified`, `image` FROM `users` WHERE (`email` = ? AND CAST(CONVERT(`email` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userByAccount
SELECT u.`id`, u.`name`, u.`email`, u.`emailVerified`, u.`image` FROM `accounts` a JOIN `users` u ON u.`id` = a.`userId` WHERE (a.`provider` = ? AND CAST(CONVERT(a.`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (a.`providerAccountId` = ? AND CAST(CONVERT(a.`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[0]
DELETE FROM `sessions` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[1]
DELETE FROM `accounts` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[2]
DELETE FROM `users` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- lockUser
SELECT `id` FROM `users` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- userLocked
SELECT `email` FROM `users` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- updateUser[1]
UPDATE `users` SET `name` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[2]
UPDATE `users` SET `email` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[3]
UPDATE `users` SET `name` = ?, `email` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[4]
UPDATE `users` SET `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[5]
UPDATE `users` SET `name` = ?, `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[6]
UPDATE `users` SET `email` = ?, `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[7]
UPDATE `users` SET `name` = ?, `email` = ?, `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[8]
UPDATE `users` SET `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[9]
UPDATE `users` SET `name` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[10]
UPDATE `users` SET `email` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[11]
UPDATE `users` SET `name` = ?, `email` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[12]
UPDATE `users` SET `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[13]
UPDATE `users` SET `name` = ?, `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[14]
UPDATE `users` SET `email` = ?, `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[15]
UPDATE `users` SET `name` = ?, `email` = ?, `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- linkAccount
INSERT INTO `accounts` (`userId`, `type`, `provider`, `providerAccountId`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state`, `id`) SELECT u.`id`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM `users` u WHERE (u.`id` = ? AND CAST(CONVERT(u.`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) LOCK IN SHARE MODE;

-- account
SELECT `userId`, `type`, `provider`, `providerAccountId`, `id`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state` FROM `accounts` WHERE (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userAccounts
SELECT `userId`, `type`, `provider`, `providerAccountId`, `id`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state` FROM `accounts` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateAccount
UPDATE `accounts` SET `access_token` = ?, `refresh_token` = ?, `id_token` = ?, `expires_at` = ?, `token_type` = ?, `scope` = ?, `session_state` = ? WHERE (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- swapAccount
UPDATE `accounts` SET `access_token` = ?, `refresh_token` = ?, `id_token` = ?, `expires_at` = ?, `token_type` = ?, `scope` = ?, `session_state` = ? WHERE (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND CAST(CONVERT(COALESCE(`refresh_token`, '') USING utf8mb4) AS BINARY) = CAST(? AS BINARY);

-- unlinkAccount
DELETE FROM `accounts` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- ownAccount
SELECT `type` FROM `accounts` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- createSession
INSERT INTO `sessions` (`sessionToken`, `userId`, `expires`, `id`) SELECT ?, u.`id`, ?, ? FROM `users` u WHERE (u.`id` = ? AND CAST(CONVERT(u.`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) LOCK IN SHARE MODE;

-- sessionAndUser
SELECT s.`id`, s.`expires`, u.`id`, u.`name`, u.`email`, u.`emailVerified`, u.`image` FROM `sessions` s JOIN `users` u ON u.`id` = s.`userId` WHERE (s.`sessionToken` = ? AND CAST(CONVERT(s.`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- sessionExists
SELECT `expires` FROM `sessions` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteSession
DELETE FROM `sessions` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateSession[1]
UPDATE `sessions` SET `expires` = ? WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateSession[3]
UPDATE `sessions` SET `expires` = ? WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- session
SELECT `userId`, `id`, `expires` FROM `sessions` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userSessions
SELECT `sessionToken`, `userId`, `id`, `expires` FROM `sessions` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- endSession
DELETE FROM `sessions` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- endUserSessions
DELETE FROM `sessions` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- endUserSessionsExcept
DELETE FROM `sessions` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND NOT ((`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)));

-- sessionTokens
SELECT `sessionToken` FROM `sessions` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- createVerification
INSERT INTO `verification_tokens` (`identifier`, `token`, `expires`, `id`) VALUES (?, ?, ?, ?);

-- useVerification
DELETE FROM `verification_tokens` WHERE (`identifier` = ? AND CAST(CONVERT(`identifier` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`token` = ? AND CAST(CONVERT(`token` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- verification
SELECT `expires` FROM `verification_tokens` WHERE (`identifier` = ? AND CAST(CONVERT(`identifier` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`token` = ? AND CAST(CONVERT(`token` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- sweepSessions
DELETE FROM `sessions` WHERE `expires` < ? AND `expires` NOT LIKE '%-%' ORDER BY `expires` LIMIT ?;

-- sweepVerifications
DELETE FROM `verification_tokens` WHERE `expires` < ? AND `expires` NOT LIKE '%-%' ORDER BY `expires` LIMIT ?;

