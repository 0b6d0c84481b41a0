package mongostore_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
)

type object = map[string]any

// An adapter is the published one of Auth.js, in a process of Node.js.
type adapter struct {
	in  io.Writer
	out *bufio.Reader
}

func newAdapter(t *testing.T, db *services.Mongo) *adapter {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "adapter.mjs", db.URL, db.Name())
	var complaints strings.Builder
	cmd.Stderr = &complaints
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start node: %v: scripts/setup installs what it needs", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil && t.Context().Err() == nil {
			t.Errorf("node: %v\n%s", err, complaints.String())
		}
	})
	return &adapter{in, bufio.NewReader(out)}
}

// try calls a method of the adapter and returns its result, or the message of the
// error it threw.
func (a *adapter) try(t *testing.T, method string, args ...any) (value any, thrown string) {
	t.Helper()
	request, err := json.Marshal(object{"method": method, "args": args})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.in.Write(append(request, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err := a.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("node does not respond: %v: scripts/setup installs what it needs", err)
	}
	var answer struct {
		Value any
		Error string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Value, answer.Error
}

func (a *adapter) call(t *testing.T, method string, args ...any) any {
	t.Helper()
	value, thrown := a.try(t, method, args...)
	if thrown != "" {
		t.Fatalf("the adapter's %s: %s", method, thrown)
	}
	return value
}

func date(at time.Time) object {
	return object{"$date": at.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// has checks that an object has the given members; it ignores ids of documents,
// which the adapter chooses, and null members.
func has(t *testing.T, what string, got any, want object) {
	t.Helper()
	m, ok := got.(object)
	if !ok {
		t.Fatalf("%s: got %v, want an object", what, got)
	}
	for name, value := range m {
		if _, wanted := want[name]; value == nil || name == "id" && !wanted || name == "_id" {
			delete(m, name)
		}
	}
	gotText, _ := json.Marshal(m)
	wantText, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(gotText) != string(wantText) {
		t.Errorf("%s:\n got %s\nwant %s", what, gotText, wantText)
	}
}

func TestWhatTheAdapterWroteIsReadExtendedAndDeleted(t *testing.T) {
	db := services.MongoDatabase(t)
	s, node := open(t, db), newAdapter(t, db)
	ends := time.Date(2100, 1, 2, 3, 4, 5, 678e6, time.UTC)
	began := time.Now().Truncate(time.Second)

	created := node.call(t, "createUser", object{
		"id": "5a1bb0d2-4a6f-4e0a-9a4e-7a4d4d4c7d52", "name": "Ada", "email": "ada@example.org", "image": nil, "emailVerified": nil, "role": "admin", "visits": 3,
	}).(object)
	id := created["id"].(string)
	node.call(t, "linkAccount", object{
		"userId": id, "type": "oidc", "provider": "google", "providerAccountId": "117", "id_token": "e.y.J", "expires_at": 4102542245,
		"refresh_token": nil, "refresh_token_expires_in": 15897600,
	})
	node.call(t, "createSession", object{"sessionToken": "s1", "userId": id, "expires": date(ends)})
	node.call(t, "createVerificationToken", object{"identifier": "ada@example.org", "token": "h", "expires": date(ends)})

	session, u, err := s.SessionAndUser(t.Context(), "s1")
	if err != nil || u.ID != id || u.Name != "Ada" || u.Email != "ada@example.org" || !u.EmailVerified.IsZero() || !session.Expires.Equal(ends) {
		t.Fatalf("SessionAndUser = %+v, %+v, %v", session, u, err)
	}
	if extra, _ := json.Marshal(u.Extra); string(extra) != `{"role":"admin","visits":3}` {
		t.Errorf("Extra = %s", extra)
	}
	if session.Created.Before(began) || session.Created.After(time.Now()) {
		t.Errorf("the session began at %v, want a time since %v", session.Created, began)
	}
	if u, err := s.UserByEmail(t.Context(), "ada@example.org"); err != nil || u.ID != id {
		t.Errorf("UserByEmail = %+v, %v", u, err)
	}
	if u, err := s.UserByAccount(t.Context(), "google", "117"); err != nil || u.ID != id {
		t.Errorf("UserByAccount = %+v, %v", u, err)
	}
	accounts, err := s.UserAccounts(t.Context(), id)
	if err != nil || len(accounts) != 1 || accounts[0].IDToken != "e.y.J" || accounts[0].ExpiresAt != 4102542245 || accounts[0].UserID != id || accounts[0].Type != pintle.TypeOIDC {
		t.Errorf("UserAccounts = %+v, %v", accounts, err)
	} else if extra, _ := json.Marshal(accounts[0].Extra); string(extra) != `{"refresh_token_expires_in":15897600}` {
		t.Errorf("the account's Extra = %s", extra)
	}
	listed := 0
	for device, err := range s.UserSessions(t.Context(), id) {
		if listed++; err != nil || !device.Expires.Equal(ends) {
			t.Errorf("UserSessions yielded %+v, %v", device, err)
		}
	}
	if listed != 1 {
		t.Errorf("UserSessions yielded %d sessions, want 1", listed)
	}

	later := ends.Add(time.Hour)
	if err := s.UpdateSession(t.Context(), "s1", pintle.SessionUpdate{Expires: later, Data: object{"theme": "dark"}}); err != nil {
		t.Error(err)
	}
	has(t, "the extended session", node.call(t, "getSessionAndUser", "s1").(object)["session"],
		object{"sessionToken": "s1", "userId": id, "expires": date(later), "data": `{"theme":"dark"}`})
	now := time.UnixMilli(1767323045678)
	if _, err := s.UpdateUser(t.Context(), id, pintle.UserUpdate{EmailVerified: &now}); err != nil {
		t.Error(err)
	}
	has(t, "the changed user", node.call(t, "getUser", id),
		object{"id": id, "name": "Ada", "email": "ada@example.org", "emailVerified": date(now), "role": "admin", "visits": 3})
	if v, err := s.UseVerification(t.Context(), "ada@example.org", "h"); err != nil || !v.Expires.Equal(ends) {
		t.Errorf("UseVerification = %+v, %v", v, err)
	}
	if v := node.call(t, "useVerificationToken", object{"identifier": "ada@example.org", "token": "h"}); v != nil {
		t.Errorf("the adapter uses a link once more: %v", v)
	}
	if err := s.DeleteUser(t.Context(), id); err != nil {
		t.Error(err)
	}
	leftIn(t, db, nil)
}

// leftIn checks which collections have documents.
func leftIn(t *testing.T, db *services.Mongo, want []string) {
	t.Helper()
	var left []string
	for _, name := range []string{"accounts", "authenticators", "sessions", "users", "verification_tokens"} {
		n, err := db.Collection(name).CountDocuments(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			left = append(left, name)
		}
	}
	if !slices.Equal(left, want) {
		t.Errorf("there are documents in %q, want %q", left, want)
	}
}

func TestTheAdapterReadsExtendsAndDeletesWhatIsWrittenHere(t *testing.T) {
	db := services.MongoDatabase(t)
	s, node := open(t, db), newAdapter(t, db)
	_, ends := whole(t, s)

	user := object{"id": ada.ID, "name": "Ada", "email": "ada@example.org", "emailVerified": date(ada.EmailVerified)}
	session := object{
		"sessionToken": "t0", "userId": ada.ID, "expires": date(ends), "created": date(ada.EmailVerified), "data": `{"a.b":"$c"}`,
	}
	has(t, "getUser", node.call(t, "getUser", ada.ID), user)
	has(t, "getUserByEmail", node.call(t, "getUserByEmail", "ada@example.org"), user)
	has(t, "getUserByAccount", node.call(t, "getUserByAccount", object{"provider": "github", "providerAccountId": "583231"}), user)
	both := node.call(t, "getSessionAndUser", "t0").(object)
	has(t, "getSessionAndUser, session", both["session"], session)
	has(t, "getSessionAndUser, user", both["user"], user)

	ends = ends.Add(time.Hour)
	session["expires"] = date(ends)
	has(t, "updateSession", node.call(t, "updateSession", object{"sessionToken": "t0", "expires": date(ends)}), session)
	found, _, err := s.SessionAndUser(t.Context(), "t0")
	if err != nil || !found.Expires.Equal(ends) || !found.Created.Equal(ada.EmailVerified) || found.Data["a.b"] != "$c" {
		t.Errorf("SessionAndUser after the adapter extended the session = %+v, %v", found, err)
	}
	user["name"] = "Augusta"
	has(t, "updateUser", node.call(t, "updateUser", object{"id": ada.ID, "name": "Augusta"}), user)
	if u, err := s.User(t.Context(), ada.ID); err != nil || u.Name != "Augusta" || u.Extra != nil {
		t.Errorf("User after the adapter changed them = %+v, %v", u, err)
	}

	has(t, "useVerificationToken", node.call(t, "useVerificationToken", object{"identifier": ada.Email, "token": "abc"}),
		object{"identifier": ada.Email, "token": "abc", "expires": date(ends.Add(-time.Hour))})
	if _, err := s.UseVerification(t.Context(), ada.Email, "abc"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UseVerification of a link the adapter used: %v, want ErrNotFound", err)
	}
	node.call(t, "deleteSession", "t0")
	if _, _, err := s.SessionAndUser(t.Context(), "t0"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("SessionAndUser of a session the adapter ended: %v, want ErrNotFound", err)
	}
	node.call(t, "unlinkAccount", object{"provider": "github", "providerAccountId": "583231"})
	if _, err := s.UserByAccount(t.Context(), "github", "583231"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UserByAccount of an account the adapter unlinked: %v, want ErrNotFound", err)
	}
	node.call(t, "deleteUser", ada.ID)
	if _, err := s.User(t.Context(), ada.ID); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("User whom the adapter deleted: %v, want ErrNotFound", err)
	}
	// The adapter does not support passkeys; they have no user any more.
	leftIn(t, db, []string{"authenticators"})
	if err := s.DeleteUser(t.Context(), ada.ID); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("DeleteUser of a user whom the adapter deleted: %v, want ErrNotFound", err)
	}
	leftIn(t, db, nil)
}

func TestTheIndexesKeepTheAdapterFromDuplicatesToo(t *testing.T) {
	db := services.MongoDatabase(t)
	s, node := open(t, db), newAdapter(t, db)
	whole(t, s)
	for method, arg := range map[string]object{
		"createUser":    {"name": "Mallory", "email": ada.Email},
		"linkAccount":   {"userId": "65a0f0c2e4b0a1b2c3d4ffff", "type": "oauth", "provider": "github", "providerAccountId": "583231"},
		"createSession": {"userId": "65a0f0c2e4b0a1b2c3d4ffff", "sessionToken": "t0", "expires": date(time.Now())},
	} {
		if value, thrown := node.try(t, method, arg); !strings.Contains(thrown, "E11000") {
			t.Errorf("the adapter's %s of a duplicate returned %v, %q, want a duplicate key error", method, value, thrown)
		}
	}
}
