-- What happened to users: the security activity of package account. subject is a keyed
-- hash, detail has texts by their names. Ids of users are texts without a foreign key:
-- the same table stands beside those of Auth.js. Times are milliseconds since 1970.

CREATE TABLE IF NOT EXISTS pintle_activity (
	id      VARBINARY(64) NOT NULL PRIMARY KEY,
	at      BIGINT NOT NULL,
	kind    VARBINARY(255) NOT NULL,
	outcome VARBINARY(255) NOT NULL,
	user_id VARBINARY(255),
	actor   VARBINARY(255),
	subject BINARY(32),
	detail  JSON,
	count   BIGINT NOT NULL,
	expires BIGINT NOT NULL,
	INDEX pintle_activity_at (at, id),
	INDEX pintle_activity_user (user_id, at, id),
	INDEX pintle_activity_actor (actor, at, id),
	INDEX pintle_activity_kind (kind, at, id),
	INDEX pintle_activity_expires (expires)
) ENGINE = InnoDB, DEFAULT CHARACTER SET utf8mb4;
