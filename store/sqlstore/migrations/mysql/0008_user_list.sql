-- What finds a page of a list of users: when they were made, in milliseconds since 1970 and 0
-- for those before this migration, how their names begin, and who has roles and factors. It
-- changes tables that only this layout has. What is there already is left out, as in
-- 0002_passkey_names.sql. Each statement makes one thing, so that MySQL copies no table.

SET @pintle_change = (
	SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE pintle_users ADD COLUMN created BIGINT NOT NULL DEFAULT 0')
	FROM information_schema.columns
	WHERE table_schema = DATABASE() AND table_name = 'pintle_users' AND column_name = 'created'
);

PREPARE pintle_step FROM @pintle_change;

EXECUTE pintle_step;

DEALLOCATE PREPARE pintle_step;

SET @pintle_change = (
	SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE pintle_users ADD COLUMN name_key VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin GENERATED ALWAYS AS (LOWER(LEFT(name, 100))) VIRTUAL')
	FROM information_schema.columns
	WHERE table_schema = DATABASE() AND table_name = 'pintle_users' AND column_name = 'name_key'
);

PREPARE pintle_step FROM @pintle_change;

EXECUTE pintle_step;

DEALLOCATE PREPARE pintle_step;

SET @pintle_change = (
	SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX pintle_users_created ON pintle_users (created, id)')
	FROM information_schema.statistics
	WHERE table_schema = DATABASE() AND table_name = 'pintle_users' AND index_name = 'pintle_users_created'
);

PREPARE pintle_step FROM @pintle_change;

EXECUTE pintle_step;

DEALLOCATE PREPARE pintle_step;

SET @pintle_change = (
	SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX pintle_users_name ON pintle_users (name_key, id)')
	FROM information_schema.statistics
	WHERE table_schema = DATABASE() AND table_name = 'pintle_users' AND index_name = 'pintle_users_name'
);

PREPARE pintle_step FROM @pintle_change;

EXECUTE pintle_step;

DEALLOCATE PREPARE pintle_step;

SET @pintle_change = (
	SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE pintle_states ADD COLUMN has_roles BOOLEAN GENERATED ALWAYS AS (roles IS NOT NULL) VIRTUAL')
	FROM information_schema.columns
	WHERE table_schema = DATABASE() AND table_name = 'pintle_states' AND column_name = 'has_roles'
);

PREPARE pintle_step FROM @pintle_change;

EXECUTE pintle_step;

DEALLOCATE PREPARE pintle_step;

SET @pintle_change = (
	SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX pintle_states_roles ON pintle_states (has_roles, user_id)')
	FROM information_schema.statistics
	WHERE table_schema = DATABASE() AND table_name = 'pintle_states' AND index_name = 'pintle_states_roles'
);

PREPARE pintle_step FROM @pintle_change;

EXECUTE pintle_step;

DEALLOCATE PREPARE pintle_step;

SET @pintle_change = (
	SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX pintle_factors_kind ON pintle_factors (kind, user_id)')
	FROM information_schema.statistics
	WHERE table_schema = DATABASE() AND table_name = 'pintle_factors' AND index_name = 'pintle_factors_kind'
);

PREPARE pintle_step FROM @pintle_change;

EXECUTE pintle_step;

DEALLOCATE PREPARE pintle_step;
