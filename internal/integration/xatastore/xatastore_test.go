// Package xatastore tests that package xatastore and the published adapter of
// Auth.js, with Xata's own client, share one database.
//
// The database is a fake of the service. Without an account, the best evidence for
// the fake is that Xata's client works with it.
package xatastore

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/xatatest"
	"github.com/pintleauth/pintle/store/xatastore"
)

// A peer is a Node.js process with Auth.js's adapter.
type peer struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

// shared returns a database, and its two users.
func shared(t *testing.T) (*xatastore.Store, *peer) {
	t.Helper()
	schema := xatastore.Schema("")
	db, err := xatatest.New(schema)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(db)
	t.Cleanup(srv.Close)
	address := srv.URL + "/db/" + xatatest.Database
	store, err := xatastore.New(xatastore.Options{APIKey: xatatest.Key, DatabaseURL: address, Extended: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"origin": srv.URL, "apiKey": xatatest.Key, "schema": json.RawMessage(schema)})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return store, newPeer(t, config)
}

func newPeer(t *testing.T, config string) *peer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "peer.mjs", config)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := new(strings.Builder)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("start node: %v: install Node.js 20 or later, and run \"npm ci\" here", err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil || t.Failed() {
			t.Logf("node: %v\n%s", err, stderr)
		}
	})
	return &peer{t, in, bufio.NewReader(out)}
}

// date is a time in the form in which it becomes a Date.
func date(at time.Time) map[string]any {
	return map[string]any{"$date": at.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// call calls a method of the adapter and returns its result, nil for null.
func (p *peer) call(method string, args ...any) map[string]any {
	p.t.Helper()
	if err := json.NewEncoder(p.in).Encode(map[string]any{"method": method, "args": args}); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("node does not answer: %v: run \"npm ci\" in internal/integration/xatastore", err)
	}
	var answer struct {
		Result map[string]any
		Error  string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		p.t.Fatal(err)
	}
	if answer.Error != "" {
		p.t.Fatalf("Auth.js: %s: %s", method, answer.Error)
	}
	return answer.Result
}

func TestAuthJSReadsWhatPintleWrote(t *testing.T) {
	store, authjs := shared(t)
	ctx := t.Context()
	u := ada(t, store)
	want := map[string]any{"id": u.ID, "name": "Ada", "email": "ada@example.org", "image": "https://example.org/ada.png"}
	has(t, "getUser", authjs.call("getUser", u.ID), want)
	has(t, "getUserByEmail", authjs.call("getUserByEmail", "ada@example.org"), want)

	a := &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "42", AccessToken: "token", ExpiresAt: 1700000000}
	if err := store.LinkAccount(ctx, a); err != nil {
		t.Fatal(err)
	}
	has(t, "getUserByAccount", authjs.call("getUserByAccount", map[string]any{"provider": "github", "providerAccountId": "42"}), want)

	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	if err := store.CreateSession(ctx, &pintle.StoredSession{Token: "t1", UserID: u.ID, Expires: expires, Created: time.Now(), Data: map[string]any{"role": "admin"}}); err != nil {
		t.Fatal(err)
	}
	found := authjs.call("getSessionAndUser", "t1")
	has(t, "the session", found["session"].(map[string]any), map[string]any{"sessionToken": "t1", "userId": u.ID, "expires": expires.Format("2006-01-02T15:04:05.000Z")})
	has(t, "its user", found["user"].(map[string]any), want)

	if err := store.CreateVerification(ctx, &pintle.Verification{Identifier: "ada@example.org", Token: "hash", Expires: expires}); err != nil {
		t.Fatal(err)
	}
	key := map[string]any{"identifier": "ada@example.org", "token": "hash"}
	has(t, "useVerificationToken", authjs.call("useVerificationToken", key), key)
	if again := authjs.call("useVerificationToken", key); again != nil {
		t.Errorf("a link was used twice: %v", again)
	}
}

func TestPintleReadsWhatAuthJSWrote(t *testing.T) {
	store, authjs := shared(t)
	ctx := t.Context()
	verified := time.Now().UTC().Truncate(time.Millisecond)
	id := authjs.call("createUser", map[string]any{"id": "6b3f1c9e-5a0e-4f53-9f3b-0d3f3a3c1a11", "email": "bob@example.org", "name": "Bob", "emailVerified": date(verified)})["id"].(string)
	authjs.call("linkAccount", map[string]any{"userId": id, "type": "oauth", "provider": "github", "providerAccountId": "7", "access_token": "token", "expires_at": 1700000000})
	authjs.call("createSession", map[string]any{"userId": id, "sessionToken": "t2", "expires": date(verified.Add(time.Hour))})
	authjs.call("createVerificationToken", map[string]any{"identifier": "bob@example.org", "token": "hash", "expires": date(verified.Add(time.Hour))})

	u, err := store.UserByAccount(ctx, "github", "7")
	if err != nil {
		t.Fatal(err)
	}
	if u.ID != id || u.Name != "Bob" || u.Email != "bob@example.org" || !u.EmailVerified.Equal(verified) {
		t.Errorf("UserByAccount() = %+v", u)
	}
	s, u, err := store.SessionAndUser(ctx, "t2")
	if err != nil || u.ID != id || !s.Expires.Equal(verified.Add(time.Hour)) {
		t.Errorf("SessionAndUser() = %+v, %+v, %v", s, u, err)
	}
	err = store.LinkAccount(ctx, &pintle.Account{UserID: id, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "7"})
	if !errors.Is(err, pintle.ErrConflict) {
		t.Errorf("LinkAccount() of an account that Auth.js linked: %v, want pintle.ErrConflict", err)
	}
	accounts, err := store.UserAccounts(ctx, id)
	if err != nil || len(accounts) != 1 || accounts[0].AccessToken != "token" || accounts[0].ExpiresAt != 1700000000 {
		t.Errorf("UserAccounts() = %v, %v", accounts, err)
	}
	v, err := store.UseVerification(ctx, "bob@example.org", "hash")
	if err != nil || !v.Expires.Equal(verified.Add(time.Hour)) {
		t.Errorf("UseVerification() = %+v, %v", v, err)
	}
	if used := authjs.call("useVerificationToken", map[string]any{"identifier": "bob@example.org", "token": "hash"}); used != nil {
		t.Error("Auth.js accepts a link that was used")
	}
}

func TestEitherSideEndsWhatTheOtherBegan(t *testing.T) {
	store, authjs := shared(t)
	ctx := t.Context()
	u := ada(t, store)
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)

	// A session of each, extended and ended by the other.
	if err := store.CreateSession(ctx, &pintle.StoredSession{Token: "ours", UserID: u.ID, Expires: expires, Data: map[string]any{"role": "admin"}}); err != nil {
		t.Fatal(err)
	}
	authjs.call("createSession", map[string]any{"userId": u.ID, "sessionToken": "theirs", "expires": date(expires)})
	later := expires.Add(time.Hour)
	authjs.call("updateSession", map[string]any{"sessionToken": "ours", "expires": date(later)})
	s, _, err := store.SessionAndUser(ctx, "ours")
	if err != nil || !s.Expires.Equal(later) || s.Data["role"] != "admin" {
		t.Errorf("after Auth.js extended it, SessionAndUser() = %+v, %v", s, err)
	}
	if err := store.UpdateSession(ctx, "theirs", pintle.SessionUpdate{Expires: later}); err != nil {
		t.Fatal(err)
	}
	found := authjs.call("getSessionAndUser", "theirs")["session"].(map[string]any)
	has(t, "the session", found, map[string]any{"expires": later.Format("2006-01-02T15:04:05.000Z")})
	authjs.call("deleteSession", "ours")
	if _, _, err := store.SessionAndUser(ctx, "ours"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("a session that Auth.js ended: %v, want pintle.ErrNotFound", err)
	}
	if ended, err := store.DeleteSession(ctx, "theirs"); err != nil || ended == nil {
		t.Errorf("DeleteSession() = %v, %v", ended, err)
	}
	if left := authjs.call("getSessionAndUser", "theirs"); left != nil {
		t.Errorf("Auth.js reads a session that was ended: %v", left)
	}

	// An account that Auth.js unlinks may be linked again, by another user.
	a := &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "42", AccessToken: "hers"}
	if err := store.LinkAccount(ctx, a); err != nil {
		t.Fatal(err)
	}
	authjs.call("unlinkAccount", map[string]any{"provider": "github", "providerAccountId": "42"})
	if _, err := store.UserByAccount(ctx, "github", "42"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("an account that Auth.js unlinked: %v, want pintle.ErrNotFound", err)
	}
	heir, err := store.CreateUser(ctx, &pintle.User{Name: "Heir"})
	if err != nil {
		t.Fatal(err)
	}
	a.UserID, a.AccessToken = heir.ID, "his"
	if err := store.LinkAccount(ctx, a); err != nil {
		t.Fatal(err)
	}
	has(t, "getUserByAccount", authjs.call("getUserByAccount", map[string]any{"provider": "github", "providerAccountId": "42"}), map[string]any{"id": heir.ID})
	if left, err := store.UserAccounts(ctx, u.ID); err != nil || len(left) != 0 {
		t.Errorf("UserAccounts() of the earlier owner = %v, %v", left, err)
	}
}

func TestRowsOfAUserThatAuthJSDeletedAreIgnored(t *testing.T) {
	store, authjs := shared(t)
	ctx := t.Context()
	u := ada(t, store)
	a := &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "42"}
	if err := store.LinkAccount(ctx, a); err != nil {
		t.Fatal(err)
	}
	if err := store.CreateSession(ctx, &pintle.StoredSession{Token: "t", UserID: u.ID, Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	authjs.call("deleteUser", u.ID)
	if _, _, err := store.SessionAndUser(ctx, "t"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the session of a deleted user: %v, want pintle.ErrNotFound", err)
	}
	if _, err := store.UserByAccount(ctx, "github", "42"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the account of a deleted user: %v, want pintle.ErrNotFound", err)
	}
	heir, err := store.CreateUser(ctx, &pintle.User{Email: "ada@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	a.UserID = heir.ID
	if err := store.LinkAccount(ctx, a); err != nil {
		t.Fatalf("LinkAccount() of the account of a deleted user: %v", err)
	}
	has(t, "getUserByAccount", authjs.call("getUserByAccount", map[string]any{"provider": "github", "providerAccountId": "42"}), map[string]any{"id": heir.ID})
}

func TestPintleDeletesAUserWithEverythingAuthJSWrote(t *testing.T) {
	store, authjs := shared(t)
	ctx := t.Context()
	id := authjs.call("createUser", map[string]any{"email": "bob@example.org", "name": "Bob"})["id"].(string)
	authjs.call("linkAccount", map[string]any{"userId": id, "type": "oauth", "provider": "github", "providerAccountId": "7"})
	for _, token := range []string{"a", "b", "c"} {
		authjs.call("createSession", map[string]any{"userId": id, "sessionToken": token, "expires": date(time.Now().Add(time.Hour))})
	}
	if err := store.DeleteUser(ctx, id); err != nil {
		t.Fatal(err)
	}
	if u := authjs.call("getUser", id); u != nil {
		t.Errorf("the user is still there: %v", u)
	}
	if s := authjs.call("getSessionAndUser", "b"); s != nil {
		t.Errorf("a session is still there: %v", s)
	}
	if u := authjs.call("getUserByAccount", map[string]any{"provider": "github", "providerAccountId": "7"}); u != nil {
		t.Errorf("the account is still there: %v", u)
	}
}

func ada(t *testing.T, store *xatastore.Store) *pintle.User {
	t.Helper()
	u, err := store.CreateUser(t.Context(), &pintle.User{
		ID: "0f8fad5b-d9cb-469f-a165-70867728950e", Name: "Ada", Email: "ada@example.org", Image: "https://example.org/ada.png",
	})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// has checks that an object has members with these values.
func has(t *testing.T, what string, object, members map[string]any) {
	t.Helper()
	if object == nil {
		t.Errorf("%s is missing", what)
		return
	}
	for name, want := range members {
		if object[name] != want {
			t.Errorf("%s: %s is %v, want %v", what, name, object[name], want)
		}
	}
}
