CREATE TABLE `users` (
	`id` varchar(36) NOT NULL PRIMARY KEY,
	`name` varchar(255),
	`email` varchar(255) UNIQUE,
	`emailVerified` varchar(255),
	`image` varchar(255)
);

CREATE TABLE `accounts` (
	`id` varchar(36) NOT NULL PRIMARY KEY,
	`userId` varchar(36) NOT NULL,
	`type` varchar(255) NOT NULL,
	`provider` varchar(255) NOT NULL,
	`providerAccountId` varchar(255) NOT NULL,
	`refresh_token` varchar(255),
	`access_token` varchar(255),
	`expires_at` bigint,
	`token_type` varchar(255),
	`scope` varchar(255),
	`id_token` varchar(255),
	`session_state` varchar(255),
	FOREIGN KEY (`userId`) REFERENCES `users` (`id`) ON DELETE NO ACTION
);

CREATE TABLE `sessions` (
	`id` varchar(36) NOT NULL PRIMARY KEY,
	`sessionToken` varchar(255) NOT NULL UNIQUE,
	`userId` varchar(36) NOT NULL,
	`expires` varchar(255) NOT NULL,
	FOREIGN KEY (`userId`) REFERENCES `users` (`id`) ON DELETE NO ACTION
);

CREATE TABLE `verification_tokens` (
	`id` varchar(36) NOT NULL PRIMARY KEY,
	`token` varchar(255) NOT NULL,
	`identifier` varchar(255) NOT NULL,
	`expires` varchar(255) NOT NULL
);
