-- createUser
INSERT INTO `User` (`id`, `name`, `email`, `emailVerified`, `image`) VALUES (?, ?, ?, ?, ?);

-- user
SELECT `id`, `name`, `email`, `emailVerified`, `image` FROM `User` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userByEmail
SELECT `id`, `name`, `email`, `emailVerified`, `image` FROM `User` WHERE (`email` = ? AND CAST(CONVERT(`email` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userByAccount
SELECT u.`id`, u.`name`, u.`email`, u.`emailVerified`, u.`image` FROM `Account` a JOIN `User` u ON u.`id` = a.`userId` WHERE (a.`provider` = ? AND CAST(CONVERT(a.`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (a.`providerAccountId` = ? AND CAST(CONVERT(a.`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[0]
DELETE FROM `Session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[1]
DELETE FROM `Account` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteUser[2]
DELETE FROM `User` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- lockUser
SELECT `id` FROM `User` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- userLocked
SELECT `email` FROM `User` WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- updateUser[1]
UPDATE `User` SET `name` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[2]
UPDATE `User` SET `email` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[3]
UPDATE `User` SET `name` = ?, `email` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[4]
UPDATE `User` SET `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[5]
UPDATE `User` SET `name` = ?, `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[6]
UPDATE `User` SET `email` = ?, `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[7]
UPDATE `User` SET `name` = ?, `email` = ?, `emailVerified` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[8]
UPDATE `User` SET `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[9]
UPDATE `User` SET `name` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[10]
UPDATE `User` SET `email` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[11]
UPDATE `User` SET `name` = ?, `email` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[12]
UPDATE `User` SET `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[13]
UPDATE `User` SET `name` = ?, `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[14]
UPDATE `User` SET `email` = ?, `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateUser[15]
UPDATE `User` SET `name` = ?, `email` = ?, `emailVerified` = ?, `image` = ? WHERE (`id` = ? AND CAST(CONVERT(`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- linkAccount
INSERT INTO `Account` (`userId`, `type`, `provider`, `providerAccountId`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state`, `id`) SELECT u.`id`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM `User` u WHERE (u.`id` = ? AND CAST(CONVERT(u.`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) LOCK IN SHARE MODE;

-- account
SELECT `userId`, `type`, `provider`, `providerAccountId`, `id`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state` FROM `Account` WHERE (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userAccounts
SELECT `userId`, `type`, `provider`, `providerAccountId`, `id`, `access_token`, `refresh_token`, `id_token`, `expires_at`, `token_type`, `scope`, `session_state` FROM `Account` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateAccount
UPDATE `Account` SET `access_token` = ?, `refresh_token` = ?, `id_token` = ?, `expires_at` = ?, `token_type` = ?, `scope` = ?, `session_state` = ? WHERE (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- swapAccount
UPDATE `Account` SET `access_token` = ?, `refresh_token` = ?, `id_token` = ?, `expires_at` = ?, `token_type` = ?, `scope` = ?, `session_state` = ? WHERE (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND CAST(CONVERT(COALESCE(`refresh_token`, '') USING utf8mb4) AS BINARY) = CAST(? AS BINARY);

-- unlinkAccount
DELETE FROM `Account` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- ownAccount
SELECT `type` FROM `Account` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`provider` = ? AND CAST(CONVERT(`provider` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`providerAccountId` = ? AND CAST(CONVERT(`providerAccountId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) FOR UPDATE;

-- createSession
INSERT INTO `Session` (`sessionToken`, `userId`, `expires`, `id`) SELECT ?, u.`id`, ?, ? FROM `User` u WHERE (u.`id` = ? AND CAST(CONVERT(u.`id` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) LOCK IN SHARE MODE;

-- sessionAndUser
SELECT s.`id`, s.`expires`, u.`id`, u.`name`, u.`email`, u.`emailVerified`, u.`image` FROM `Session` s JOIN `User` u ON u.`id` = s.`userId` WHERE (s.`sessionToken` = ? AND CAST(CONVERT(s.`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- sessionExists
SELECT `expires` FROM `Session` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- deleteSession
DELETE FROM `Session` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateSession[1]
UPDATE `Session` SET `expires` = ? WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- updateSession[3]
UPDATE `Session` SET `expires` = ? WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- session
SELECT `userId`, `id`, `expires` FROM `Session` WHERE (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- userSessions
SELECT `sessionToken`, `userId`, `id`, `expires` FROM `Session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- endSession
DELETE FROM `Session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- endUserSessions
DELETE FROM `Session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- endUserSessionsExcept
DELETE FROM `Session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND NOT ((`sessionToken` = ? AND CAST(CONVERT(`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)));

-- sessionTokens
SELECT `sessionToken` FROM `Session` WHERE (`userId` = ? AND CAST(CONVERT(`userId` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- createVerification
INSERT INTO `VerificationToken` (`identifier`, `token`, `expires`) VALUES (?, ?, ?);

-- useVerification
DELETE FROM `VerificationToken` WHERE (`identifier` = ? AND CAST(CONVERT(`identifier` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`token` = ? AND CAST(CONVERT(`token` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- verification
SELECT `expires` FROM `VerificationToken` WHERE (`identifier` = ? AND CAST(CONVERT(`identifier` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) AND (`token` = ? AND CAST(CONVERT(`token` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

-- sweepSessions
DELETE FROM `Session` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

-- sweepVerifications
DELETE FROM `VerificationToken` WHERE `expires` < ? ORDER BY `expires` LIMIT ?;

