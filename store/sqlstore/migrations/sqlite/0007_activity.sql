-- What happened to users: the security activity of package account. subject is a keyed
-- hash, detail has texts by their names. Ids of users are texts without a foreign key:
-- the same table stands beside those of Auth.js. Times are milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_activity (
	id      TEXT NOT NULL PRIMARY KEY,
	at      INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	outcome TEXT NOT NULL,
	user_id TEXT,
	actor   TEXT,
	subject BLOB,
	detail  TEXT,
	count   INTEGER NOT NULL,
	expires INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS pintle_activity_at ON pintle_activity (at, id);

CREATE INDEX IF NOT EXISTS pintle_activity_user ON pintle_activity (user_id, at, id);

CREATE INDEX IF NOT EXISTS pintle_activity_actor ON pintle_activity (actor, at, id);

CREATE INDEX IF NOT EXISTS pintle_activity_kind ON pintle_activity (kind, at, id);

CREATE INDEX IF NOT EXISTS pintle_activity_expires ON pintle_activity (expires);
