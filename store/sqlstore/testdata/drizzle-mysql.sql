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
SELECT s.`expires`, u.`id`, u.`name`, u.`email`, u.`emailVerified`, u.`image` FROM `session` s JOIN `user` u ON u.`id` = s.`userId` WHERE (s.`sessionToken` = ? AND CAST(CONVERT(s.`sessionToken` USING utf8mb4) AS BINARY) = CAST(? AS BINARY));

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

