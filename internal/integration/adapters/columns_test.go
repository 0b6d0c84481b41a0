package adapters_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// The application's data of a session is in columns that the adapter does not
// have. The adapter returns the same as before, and leaves these columns unchanged
// when it extends the session.
func TestAuthJSLeavesFurtherColumnsAsTheyAre(t *testing.T) {
	t.Parallel()
	db := services.PostgreSQLDatabase(t)
	authjs := startPeer(t, "pg", map[string]string{"url": db.DSN})
	if _, err := db.ExecContext(t.Context(), `ALTER TABLE sessions ADD data text, ADD created timestamptz`); err != nil {
		t.Fatal(err)
	}
	layout := sqlstore.PG()
	layout.Sessions.Columns = map[string]string{"data": "data", "created": "created"}
	s, err := sqlstore.NewShared(db.DB, layout)
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.CreateUser(t.Context(), &pintle.User{Name: "Ada", Email: "ada@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Truncate(time.Millisecond).UTC()
	kept := pintle.StoredSession{Token: "t", UserID: u.ID, Created: now, Expires: now.Add(time.Hour), Data: map[string]any{"theme": "dark 🦊"}}
	if err := s.CreateSession(t.Context(), &kept); err != nil {
		t.Fatal(err)
	}
	answer, ok := authjs.call(t, "session", "t", (2 * time.Hour).Seconds()).(map[string]any)
	if !ok || !cmp.Equal(answer["user"], any(map[string]any{"name": "Ada", "email": "ada@example.org", "image": nil})) {
		t.Errorf("the session route of Auth.js answers %v", answer)
	}
	found, _, err := s.SessionAndUser(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if !found.Expires.After(kept.Expires) {
		t.Errorf("Auth.js did not extend the session beyond %v", kept.Expires)
	}
	if !found.Created.Equal(now) || !maps.Equal(found.Data, kept.Data) {
		t.Errorf("Auth.js left %v and %v, want %v and %v", found.Created, found.Data, now, kept.Data)
	}
}
