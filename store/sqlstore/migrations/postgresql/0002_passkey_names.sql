-- Passkeys have a name, and times in milliseconds since 1970.

ALTER TABLE pintle_authenticators
	ADD COLUMN name text,
	ADD COLUMN created bigint,
	ADD COLUMN last_used bigint;
