-- What package account keeps of users. Ids of users are texts without a foreign key:
-- the same tables stand beside those of Auth.js. roles and failures are lists, code
-- is a keyed hash. Times are milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_states (
	user_id      VARBINARY(255) NOT NULL PRIMARY KEY,
	version      BIGINT NOT NULL,
	roles        JSON,
	banned_until BIGINT,
	ban_reason   TEXT,
	delete_at    BIGINT,
	must         TEXT,
	claim        TEXT,
	suspended    BOOLEAN NOT NULL,
	created      BIGINT,
	last_sign_in BIGINT,
	failures     JSON,
	streak       BIGINT NOT NULL,
	INDEX pintle_states_banned_until (banned_until),
	INDEX pintle_states_delete_at (delete_at)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS pintle_factors (
	user_id   VARBINARY(255) NOT NULL,
	kind      VARBINARY(255) NOT NULL,
	id        VARBINARY(255) NOT NULL,
	version   BIGINT NOT NULL,
	secret    MEDIUMTEXT NOT NULL,
	step      BIGINT NOT NULL,
	name      TEXT NOT NULL,
	created   BIGINT,
	last_used BIGINT,
	expires   BIGINT,
	PRIMARY KEY (user_id, kind, id),
	INDEX pintle_factors_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS pintle_flows (
	id       BINARY(32) NOT NULL PRIMARY KEY,
	kind     VARBINARY(255) NOT NULL,
	subject  VARBINARY(255) NOT NULL,
	version  BIGINT NOT NULL,
	payload  MEDIUMTEXT NOT NULL,
	code     BINARY(32),
	attempts BIGINT NOT NULL,
	created  BIGINT,
	expires  BIGINT,
	INDEX pintle_flows_subject (subject, kind),
	INDEX pintle_flows_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;
