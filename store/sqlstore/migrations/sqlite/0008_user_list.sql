-- What finds a page of a list of users: when they were made, in milliseconds since 1970 and 0
-- for those before this migration, how their names begin, and who has roles and factors. It
-- changes tables that only this layout has.

ALTER TABLE pintle_users ADD COLUMN created INTEGER NOT NULL DEFAULT 0;

CREATE INDEX pintle_users_created ON pintle_users (created, id);

CREATE INDEX pintle_users_name ON pintle_users (lower(substr(name, 1, 100)), id);

CREATE INDEX pintle_states_roles ON pintle_states (user_id) WHERE roles IS NOT NULL;

CREATE INDEX pintle_factors_kind ON pintle_factors (kind, user_id);
