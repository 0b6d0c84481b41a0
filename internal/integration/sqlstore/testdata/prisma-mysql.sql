CREATE TABLE `User` (
	`id` VARCHAR(191) NOT NULL PRIMARY KEY,
	`name` VARCHAR(191),
	`username` VARCHAR(191) UNIQUE,
	`email` VARCHAR(191) UNIQUE,
	`emailVerified` DATETIME(3),
	`image` VARCHAR(191),
	`createdAt` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
	`updatedAt` DATETIME(3) NOT NULL
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Account` (
	`id` VARCHAR(191) NOT NULL PRIMARY KEY,
	`userId` VARCHAR(191) NOT NULL,
	`type` VARCHAR(191) NOT NULL,
	`provider` VARCHAR(191) NOT NULL,
	`providerAccountId` VARCHAR(191) NOT NULL,
	`refresh_token` TEXT,
	`refresh_token_expires_in` INT,
	`access_token` TEXT,
	`expires_at` INT,
	`token_type` VARCHAR(191),
	`scope` VARCHAR(191),
	`id_token` TEXT,
	`session_state` VARCHAR(191),
	`createdAt` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
	`updatedAt` DATETIME(3) NOT NULL,
	UNIQUE (`provider`, `providerAccountId`),
	UNIQUE (`userId`),
	FOREIGN KEY (`userId`) REFERENCES `User` (`id`) ON DELETE RESTRICT ON UPDATE CASCADE
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Session` (
	`id` VARCHAR(191) NOT NULL PRIMARY KEY,
	`sessionToken` VARCHAR(191) NOT NULL UNIQUE,
	`userId` VARCHAR(191) NOT NULL,
	`expires` DATETIME(3) NOT NULL,
	`createdAt` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
	`updatedAt` DATETIME(3) NOT NULL,
	INDEX (`userId`),
	FOREIGN KEY (`userId`) REFERENCES `User` (`id`) ON DELETE RESTRICT ON UPDATE CASCADE
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `VerificationToken` (
	`identifier` VARCHAR(191) NOT NULL,
	`token` VARCHAR(191) NOT NULL,
	`expires` DATETIME(3) NOT NULL,
	UNIQUE (`identifier`, `token`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Authenticator` (
	`credentialID` VARCHAR(191) NOT NULL UNIQUE,
	`userId` VARCHAR(191) NOT NULL,
	`providerAccountId` VARCHAR(191) NOT NULL,
	`credentialPublicKey` VARCHAR(191) NOT NULL,
	`counter` INT NOT NULL,
	`credentialDeviceType` VARCHAR(191) NOT NULL,
	`credentialBackedUp` BOOLEAN NOT NULL,
	`transports` VARCHAR(191),
	PRIMARY KEY (`userId`, `credentialID`),
	FOREIGN KEY (`userId`) REFERENCES `User` (`id`) ON DELETE CASCADE ON UPDATE CASCADE
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
