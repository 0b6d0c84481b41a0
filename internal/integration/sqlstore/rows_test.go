package sqlstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// WA-17: rows in a shared table have the form of Auth.js, so that it can read them.
// The files list every column of every row, with times in the form of the database.
func TestRowsHaveTheShapeAuthJSGivesThem(t *testing.T) {
	for _, l := range sharedLayouts {
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			s := l.store(t, db)
			verified := time.Date(2026, 3, 1, 18, 0, 45, 123e6, time.FixedZone("", 5*3600+1800))
			u, err := s.CreateUser(t.Context(), &pintle.User{
				ID: "0b8ec6a1-6d5c-4b1a-9d5e-3f8a4b2c1d0e", Name: "Zoë", Email: "zoe@example.org",
				EmailVerified: verified, Image: "https://example.org/zoe.png", Extra: map[string]any{"role": "nowhere to go"},
			})
			if err != nil {
				t.Fatal(err)
			}
			// Base64 with padding, comma-separated transports, a bare account.
			passkey := &pintle.Passkey{
				CredentialID: "AbC+/w==", UserID: u.ID, ProviderAccountID: "AbC+/w==", PublicKey: "pQECAyYg+/==",
				Counter: 7, DeviceType: "multiDevice", BackedUp: true, Transports: []string{"internal", "hybrid"},
			}
			err = errors.Join(
				s.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "0123", AccessToken: "gho_1", ExpiresAt: 1772368245, TokenType: "bearer", Scope: "read:user,user:email"}),
				s.CreateSession(t.Context(), &pintle.StoredSession{Token: "1d0e0b8e-c6a1-4b1a-9d5e-3f8a4b2c6d5c", UserID: u.ID, Created: verified, Expires: verified, Data: map[string]any{"a": "nowhere to go"}}),
				s.CreateVerification(t.Context(), &pintle.Verification{Identifier: "zoe@example.org", Token: strings.Repeat("0f", 32), Expires: verified}),
			)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.CreatePasskey(t.Context(), passkey); err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Fatal(err)
			}
			var b strings.Builder
			tables := l.tables()
			slices.Sort(tables)
			for _, table := range tables {
				dump(t, &b, db.DB, l.layout.Dialect, table, u.ID)
			}
			golden(t, l.file+".rows", b.String())
		})
	}
}

// S-63: a column for addresses is unique, so the row of a user without one holds
// NULL.
func TestAUserWithoutAnAddressHasNULL(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			s := sqlstore.New(db.DB, d.dialect)
			for range 2 {
				u, err := s.CreateUser(t.Context(), &pintle.User{Name: "Zoë"})
				if err != nil || u.Email != "" {
					t.Fatalf("the user is %+v, error %v", u, err)
				}
			}
			var without int
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pintle_users WHERE email IS NULL").Scan(&without); err != nil || without != 2 {
				t.Errorf("%d users have no address, error %v", without, err)
			}
		})
	}
}

// dump writes the only row of a table, without what is different each time.
func dump(t *testing.T, b *strings.Builder, db *sql.DB, d sqlstore.Dialect, table, userID string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	if d == sqlstore.SQLite {
		// As SQL, for the driver makes a time of text where the column is
		// called one.
		raw, err := db.QueryContext(t.Context(), `SELECT quote("`+strings.Join(columns, `"), quote("`)+`") FROM `+table)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		rows = raw
	}
	for rows.Next() {
		values := make([]any, len(columns))
		dest := make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "%s\n", table)
		for i, column := range columns {
			fmt.Fprintf(b, "  %s: %s\n", column, shown(d, column, values[i], userID))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func shown(d sqlstore.Dialect, column string, value any, userID string) string {
	var text string
	switch v := value.(type) {
	case nil:
		return "NULL"
	case time.Time:
		text = v.UTC().Format(time.RFC3339Nano)
	case []byte:
		text = fmt.Sprintf("%q", v)
	case string:
		text = v
		if d != sqlstore.SQLite {
			text = fmt.Sprintf("%q", v)
		}
	default:
		text = fmt.Sprint(v)
	}
	generated := userID != "0b8ec6a1-6d5c-4b1a-9d5e-3f8a4b2c1d0e" && userID != "1"
	switch {
	case column == "createdAt" || column == "updatedAt":
		return "(now)"
	case strings.Contains(text, userID) && generated:
		return "(the user's id)"
	case column == "id" && !strings.Contains(text, userID):
		return fmt.Sprintf("(%d characters)", len(strings.Trim(text, `"'`)))
	}
	return text
}
