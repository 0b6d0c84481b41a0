package mongostore_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
)

// "pintle sweep" removes what has expired from the database in the path of the URL, the list of ended
// sessions with it.
func TestTheCommandSweepsMongoDB(t *testing.T) {
	command := filepath.Join(t.TempDir(), "pintle")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", command, "github.com/pintleauth/pintle/cmd/pintle")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	db := services.MongoDatabase(t)
	s := open(t, db)
	user, err := s.CreateUser(t.Context(), &pintle.User{})
	if err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	for i := range 7 {
		if err := s.CreateSession(t.Context(), &pintle.StoredSession{Token: fmt.Sprint(i), UserID: user.ID, Expires: past}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CreateSession(t.Context(), &pintle.StoredSession{Token: "in use", UserID: user.ID, Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := mongostore.NewRevocations(db.Database, mongostore.Options{}).RevokeUser(t.Context(), user.ID, past); err != nil {
		t.Fatal(err)
	}
	address := db.URL + "/" + db.Name()
	for _, want := range []string{"removed: 8\n", "removed: 0\n"} {
		out, err := exec.CommandContext(t.Context(), command, "sweep", "-batch", "3", "-pause", "1ms", address).CombinedOutput()
		if string(out) != want || err != nil {
			t.Errorf("the command prints %q, %v, want %q", out, err, want)
		}
	}
	if _, _, err := s.SessionAndUser(t.Context(), "in use"); err != nil {
		t.Errorf("the session in use: %v", err)
	}
}
