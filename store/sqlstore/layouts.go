package sqlstore

import "maps"

// PG is the layout of @auth/pg-adapter and @auth/neon-adapter. The database
// numbers users. Its documented tables lack indices that [Store.Check] names.
//
// https://authjs.dev/getting-started/adapters/pg
func PG() Layout {
	return Layout{
		Dialect:       PostgreSQL,
		Times:         Timestamp,
		Users:         Table{Name: "users", ID: Integer},
		Accounts:      Table{Name: "accounts", ID: Integer},
		Sessions:      Table{Name: "sessions", ID: Integer},
		Verifications: Table{Name: "verification_token"},
	}
}

// Drizzle is the layout of the default tables of @auth/drizzle-adapter, which
// applications usually rename: see [Layout].
//
// On MySQL these tables end access tokens at 255 characters and times of
// sessions at whole seconds.
//
// https://authjs.dev/getting-started/adapters/drizzle
func Drizzle(d Dialect) Layout {
	l := Layout{
		Dialect:        d,
		Times:          Timestamp,
		Users:          Table{Name: "user", ID: TextID},
		Accounts:       Table{Name: "account"},
		Sessions:       Table{Name: "session"},
		Verifications:  Table{Name: "verificationToken"},
		Authenticators: Table{Name: "authenticator"},
	}
	if d == SQLite {
		l.Times = Milliseconds
	}
	return l
}

// Prisma is the layout of the documented schemas of @auth/prisma-adapter. The
// store makes ids and sets updatedAt, as Prisma's client does and the database
// does not. Where the schema has no updatedAt, remove it from the Columns.
//
// On SQLite times are milliseconds, as Prisma's own engine writes them. Its
// driver adapters write text unless told otherwise: set Times to ISOText.
//
// https://authjs.dev/getting-started/adapters/prisma
func Prisma(d Dialect) Layout {
	touched := map[string]string{"updatedAt": "updatedAt"}
	l := Layout{
		Dialect:        d,
		Times:          Timestamp,
		Users:          Table{Name: "User", ID: CUID, Columns: touched},
		Accounts:       Table{Name: "Account", Columns: maps.Clone(touched)},
		Sessions:       Table{Name: "Session", Columns: maps.Clone(touched)},
		Verifications:  Table{Name: "VerificationToken"},
		Authenticators: Table{Name: "Authenticator"},
	}
	if d != PostgreSQL {
		l.Accounts.ID, l.Sessions.ID = CUID, CUID
	}
	if d == SQLite {
		l.Times = Milliseconds
	}
	return l
}

// D1 is the layout of @auth/d1-adapter, for a SQLite file in its form.
//
// https://authjs.dev/getting-started/adapters/d1
func D1() Layout {
	return Layout{
		Dialect:       SQLite,
		Times:         ISOText,
		Users:         Table{Name: "users", ID: TextID},
		Accounts:      Table{Name: "accounts", ID: TextID, Columns: oauth1()},
		Sessions:      Table{Name: "sessions", ID: TextID},
		Verifications: Table{Name: "verification_tokens"},
	}
}

// Kysely is the layout of @auth/kysely-adapter.
//
// https://authjs.dev/getting-started/adapters/kysely
func Kysely(d Dialect) Layout {
	l := Layout{
		Dialect:       d,
		Times:         Timestamp,
		Users:         Table{Name: "User", ID: TextID},
		Accounts:      Table{Name: "Account", ID: TextID},
		Sessions:      Table{Name: "Session", ID: TextID},
		Verifications: Table{Name: "VerificationToken"},
	}
	switch d {
	case PostgreSQL:
		l.Users.ID, l.Accounts.ID, l.Sessions.ID = UUID, UUID, UUID
	case SQLite:
		l.Times = ISOText
	}
	return l
}

// TypeORM is the layout of the default entities of @auth/typeorm-adapter.
// Times are text there, in every database.
//
// https://authjs.dev/getting-started/adapters/typeorm
func TypeORM(d Dialect) Layout {
	id := TextID
	if d == PostgreSQL {
		id = UUID
	}
	return Layout{
		Dialect:       d,
		Times:         MillisecondText,
		Users:         Table{Name: "users", ID: id},
		Accounts:      Table{Name: "accounts", ID: id},
		Sessions:      Table{Name: "sessions", ID: id},
		Verifications: Table{Name: "verification_tokens", ID: id},
	}
}

// Supabase is the layout of @auth/supabase-adapter, in its schema next_auth.
//
// https://authjs.dev/getting-started/adapters/supabase
func Supabase() Layout {
	return Layout{
		Dialect:       PostgreSQL,
		Times:         Timestamp,
		Users:         Table{Name: "next_auth.users", ID: UUID},
		Accounts:      Table{Name: "next_auth.accounts", ID: UUID, Columns: oauth1()},
		Sessions:      Table{Name: "next_auth.sessions", ID: UUID},
		Verifications: Table{Name: "next_auth.verification_tokens"},
	}
}

func oauth1() map[string]string {
	return map[string]string{"oauth_token": "oauth_token", "oauth_token_secret": "oauth_token_secret"}
}
