CREATE TABLE `User` (
	`id` varchar(36) DEFAULT (UUID()) PRIMARY KEY,
	`name` varchar(255),
	`email` varchar(255) NOT NULL UNIQUE,
	`emailVerified` DATETIME(3),
	`image` varchar(255)
);

CREATE TABLE `Account` (
	`id` varchar(36) DEFAULT (UUID()) PRIMARY KEY,
	`userId` varchar(36) NOT NULL,
	`type` varchar(255) NOT NULL,
	`provider` varchar(255) NOT NULL,
	`providerAccountId` varchar(255) NOT NULL,
	`refresh_token` text,
	`access_token` text,
	`expires_at` bigint,
	`token_type` varchar(255),
	`scope` varchar(255),
	`id_token` text,
	`session_state` varchar(255),
	FOREIGN KEY (`userId`) REFERENCES `User` (`id`) ON DELETE CASCADE
);

CREATE TABLE `Session` (
	`id` varchar(36) DEFAULT (UUID()) PRIMARY KEY,
	`userId` varchar(36) NOT NULL,
	`sessionToken` varchar(255) NOT NULL UNIQUE,
	`expires` DATETIME(3) NOT NULL,
	FOREIGN KEY (`userId`) REFERENCES `User` (`id`) ON DELETE CASCADE
);

CREATE TABLE `VerificationToken` (
	`identifier` varchar(255) NOT NULL,
	`token` varchar(255) NOT NULL UNIQUE,
	`expires` DATETIME(3) NOT NULL
);
