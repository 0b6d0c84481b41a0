-- What package account keeps of users. Ids of users are texts without a foreign key:
-- the same tables stand beside those of Auth.js. roles and failures are lists, code
-- is a keyed hash. Times are milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_states (
	user_id      text COLLATE "C" PRIMARY KEY,
	version      bigint NOT NULL,
	roles        json,
	banned_until bigint,
	ban_reason   text,
	delete_at    bigint,
	must         text,
	claim        text,
	suspended    boolean NOT NULL,
	created      bigint,
	last_sign_in bigint,
	failures     json,
	streak       bigint NOT NULL
);

CREATE INDEX IF NOT EXISTS pintle_states_banned_until ON pintle_states (banned_until);

CREATE INDEX IF NOT EXISTS pintle_states_delete_at ON pintle_states (delete_at);

CREATE TABLE IF NOT EXISTS pintle_factors (
	user_id   text COLLATE "C" NOT NULL,
	kind      text COLLATE "C" NOT NULL,
	id        text COLLATE "C" NOT NULL,
	version   bigint NOT NULL,
	secret    text NOT NULL,
	step      bigint NOT NULL,
	name      text NOT NULL,
	created   bigint,
	last_used bigint,
	expires   bigint,
	PRIMARY KEY (user_id, kind, id)
);

CREATE INDEX IF NOT EXISTS pintle_factors_expires ON pintle_factors (expires);

CREATE TABLE IF NOT EXISTS pintle_flows (
	id       bytea PRIMARY KEY,
	kind     text COLLATE "C" NOT NULL,
	subject  text COLLATE "C" NOT NULL,
	version  bigint NOT NULL,
	payload  text NOT NULL,
	code     bytea,
	attempts bigint NOT NULL,
	created  bigint,
	expires  bigint
);

CREATE INDEX IF NOT EXISTS pintle_flows_subject ON pintle_flows (subject, kind);

CREATE INDEX IF NOT EXISTS pintle_flows_expires ON pintle_flows (expires);
