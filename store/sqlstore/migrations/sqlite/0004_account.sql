-- What package account keeps of users. Ids of users are texts without a foreign key:
-- the same tables stand beside those of Auth.js. roles and failures are lists, code
-- is a keyed hash. Times are milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_states (
	user_id      TEXT NOT NULL PRIMARY KEY,
	version      INTEGER NOT NULL,
	roles        TEXT,
	banned_until INTEGER,
	ban_reason   TEXT,
	delete_at    INTEGER,
	must         TEXT,
	claim        TEXT,
	suspended    INTEGER NOT NULL,
	created      INTEGER,
	last_sign_in INTEGER,
	failures     TEXT,
	streak       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS pintle_states_banned_until ON pintle_states (banned_until);

CREATE INDEX IF NOT EXISTS pintle_states_delete_at ON pintle_states (delete_at);

CREATE TABLE IF NOT EXISTS pintle_factors (
	user_id   TEXT NOT NULL,
	kind      TEXT NOT NULL,
	id        TEXT NOT NULL,
	version   INTEGER NOT NULL,
	secret    TEXT NOT NULL,
	step      INTEGER NOT NULL,
	name      TEXT NOT NULL,
	created   INTEGER,
	last_used INTEGER,
	expires   INTEGER,
	PRIMARY KEY (user_id, kind, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS pintle_factors_expires ON pintle_factors (expires);

CREATE TABLE IF NOT EXISTS pintle_flows (
	id       BLOB NOT NULL PRIMARY KEY,
	kind     TEXT NOT NULL,
	subject  TEXT NOT NULL,
	version  INTEGER NOT NULL,
	payload  TEXT NOT NULL,
	code     BLOB,
	attempts INTEGER NOT NULL,
	created  INTEGER,
	expires  INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS pintle_flows_subject ON pintle_flows (subject, kind);

CREATE INDEX IF NOT EXISTS pintle_flows_expires ON pintle_flows (expires);
