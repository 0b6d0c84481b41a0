-- Passkeys have a name, and times in milliseconds since 1970.

ALTER TABLE pintle_authenticators ADD COLUMN name TEXT;

ALTER TABLE pintle_authenticators ADD COLUMN created INTEGER;

ALTER TABLE pintle_authenticators ADD COLUMN last_used INTEGER;
