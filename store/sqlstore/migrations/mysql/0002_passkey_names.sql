-- Passkeys have a name, and times in milliseconds since 1970. Columns that are
-- there already are left out, by way of a text: MySQL has no ADD COLUMN IF NOT
-- EXISTS.

SET @pintle_change = (
	SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE pintle_authenticators
		ADD COLUMN name TEXT CHARACTER SET utf8mb4,
		ADD COLUMN created BIGINT,
		ADD COLUMN last_used BIGINT')
	FROM information_schema.columns
	WHERE table_schema = DATABASE() AND table_name = 'pintle_authenticators' AND column_name = 'last_used'
);

PREPARE pintle_step FROM @pintle_change;

EXECUTE pintle_step;

DEALLOCATE PREPARE pintle_step;
