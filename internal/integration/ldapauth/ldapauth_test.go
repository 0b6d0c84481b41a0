// Package ldapauth tests sign-in against a real directory server.
package ldapauth

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/ldapauth"
	"github.com/pintleauth/pintle/throttle"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

const people = `dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: uid=ada,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: ada
cn: Ada Lovelace
sn: Lovelace
mail: Ada@Example.org
userPassword: analytical

dn: uid=grace,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: grace
cn: Grace Hopper
sn: Hopper
mail: shared@example.org
userPassword: compiler

dn: uid=joan,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: joan
cn: Joan Clarke
sn: Clarke
mail: shared@example.org
userPassword: banburismus

dn: uid=none,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: none
cn: No Password
sn: Password
`

func options(d *services.Directory) ldapauth.Options {
	return ldapauth.Options{URL: d.URL, BaseDN: "ou=people," + d.BaseDN, SearchDN: d.AdminDN, SearchPassword: d.AdminPassword}
}

func submit(t *testing.T, o ldapauth.Options, name, password string) (*pintle.User, error) {
	t.Helper()
	p, err := ldapauth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p.Authorize(t.Context(), &pintle.Submission{Fields: map[string]any{"username": name, "password": password}})
}

func TestADirectorySignsUsersIn(t *testing.T) {
	d := services.LDAP(t)
	d.Add(t, people)
	var ada string
	for _, name := range []string{"ada", "ADA", "ada@example.org"} {
		user, err := submit(t, options(d), name, "analytical")
		if err != nil || user == nil {
			t.Fatalf("%s: %v, %v", name, user, err)
		}
		if user.Name != "Ada Lovelace" || user.Email != "ada@example.org" || user.ID == "" {
			t.Errorf("%s is %+v", name, user)
		}
		if ada != "" && user.ID != ada {
			t.Errorf("%s has the id %s, and had %s before", name, user.ID, ada)
		}
		ada = user.ID
	}
	if grace, err := submit(t, options(d), "grace", "compiler"); err != nil || grace == nil || grace.ID == ada {
		t.Errorf("SH-37 two users share an id, or one cannot sign in: %v, %v", grace, err)
	}
}

func TestADirectoryRejectsWrongCredentials(t *testing.T) {
	d := services.LDAP(t)
	d.Add(t, people)
	for _, tt := range []struct{ name, user, password string }{
		{"a wrong password", "ada", "Analytical"},
		{"no password", "ada", ""},
		{"an unknown name", "unknown", "analytical"},
		{"a name that is a wildcard", "*", "analytical"},
		{"a name that closes the filter", "ada)(uid=*", "analytical"},
		{"a name with a null byte", "ada\x00", "analytical"},
		{"an entry without a password", "none", "anything"},
		{"the password of another", "ada", "compiler"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			user, err := submit(t, options(d), tt.user, tt.password)
			if user != nil || err != nil {
				t.Errorf("authorize = %v, %v, want no user and no error", user, err)
			}
		})
	}
	t.Run("a name of two users", func(t *testing.T) {
		if user, err := submit(t, options(d), "shared@example.org", "compiler"); user != nil || err == nil {
			t.Errorf("authorize = %v, %v, want an error", user, err)
		}
	})
	t.Run("a directory that rejects the search", func(t *testing.T) {
		o := options(d)
		o.SearchPassword = "wrong"
		if user, err := submit(t, o, "ada", "analytical"); user != nil || err == nil {
			t.Errorf("authorize = %v, %v, want an error", user, err)
		}
	})
}

// All names of one entry share the limit of guesses at its password.
func TestGuessesAtOneEntryAreCountedTogether(t *testing.T) {
	d := services.LDAP(t)
	d.Add(t, people)
	p, err := ldapauth.New(options(d))
	if err != nil {
		t.Fatal(err)
	}
	guarded := (&throttle.Guard{}).Credentials(p, "username")
	try := func(name, password string) (*pintle.User, error) {
		return guarded.Authorize(t.Context(), &pintle.Submission{
			Fields: map[string]any{"username": name, "password": password},
			Client: netip.MustParseAddr("192.0.2.1"),
		})
	}
	looked := 0
	for i := range 50 {
		name := []string{"ada", "ada@example.org", "Ada@Example.ORG", "ADA"}[i%4]
		if _, err := try(name, "guess"); !errors.Is(err, throttle.ErrTooMany) {
			looked++
		}
	}
	if looked != 10 {
		t.Errorf("SA-L2 SH-87 %d guesses were verified, want 10", looked)
	}
	if user, err := try("grace", "compiler"); err != nil || user == nil {
		t.Errorf("another entry: %v, %v", user, err)
	}
	if _, err := try("unknown", "guess"); err != nil {
		t.Errorf("a name without an entry: %v", err)
	}
	if _, err := try("shared@example.org", "compiler"); err == nil {
		t.Error("a name of two entries is counted as one of them")
	}
}

// hangingUp returns the URL of a directory that closes the connection instead of an answer to the
// third message: the search account binds, the user is searched, and then binds. hungUp is called
// before.
func hangingUp(t *testing.T, d *services.Directory, hungUp func()) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	relay := func(client net.Conn) {
		defer client.Close()
		directory, err := (&net.Dialer{}).Dial("tcp", strings.TrimPrefix(d.URL, "ldap://"))
		if err != nil {
			t.Error(err)
			return
		}
		defer directory.Close()
		go func() { _, _ = io.Copy(client, directory) }()
		message := make([]byte, 4096)
		for sent := 1; ; sent++ {
			n, err := client.Read(message)
			if err != nil {
				return
			}
			if sent == 3 {
				hungUp()
				return
			}
			if _, err := directory.Write(message[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go relay(client)
		}
	}()
	return "ldap://" + l.Addr().String()
}

// ASVS-6.3.1: the outcome of a guess is unknown if the connection ends, by the directory or because the client
// leaves. It counts.
func TestAGuessWhoseConnectionEndsCounts(t *testing.T) {
	d := services.LDAP(t)
	d.Add(t, people)
	for name, clientLeaves := range map[string]bool{"the directory hangs up": false, "the client leaves": true} {
		t.Run(name, func(t *testing.T) {
			leave := func() {}
			o := options(d)
			o.URL = hangingUp(t, d, func() { leave() })
			p, err := ldapauth.New(o)
			if err != nil {
				t.Fatal(err)
			}
			p.Account = nil // its search is no guess
			guarded := (&throttle.Guard{}).Credentials(p, "username")
			looked := 0
			for range 20 {
				ctx, cancel := context.WithCancel(t.Context())
				if clientLeaves {
					leave = cancel
				}
				_, err := guarded.Authorize(ctx, &pintle.Submission{
					Fields: map[string]any{"username": "ada", "password": "guess"},
					Client: netip.MustParseAddr("192.0.2.1"),
				})
				cancel()
				if err == nil {
					t.Fatal("a connection that ends is no error")
				}
				if !errors.Is(err, throttle.ErrTooMany) {
					looked++
				}
			}
			if looked != 10 {
				t.Errorf("%d guesses were verified, want 10", looked)
			}
		})
	}
}

func TestTheHostMakesTheUser(t *testing.T) {
	d := services.LDAP(t)
	d.Add(t, people)
	o := options(d)
	o.User = func(_ context.Context, dn string, attributes map[string][]string) (*pintle.User, error) {
		return &pintle.User{ID: dn, Name: attributes["sn"][0]}, nil
	}
	user, err := submit(t, o, "ada", "analytical")
	if err != nil || user.Name != "Lovelace" || user.ID != "uid=ada,ou=people,dc=example,dc=org" {
		t.Errorf("authorize = %+v, %v", user, err)
	}
}

func TestADirectoryThatIsGoneIsAnError(t *testing.T) {
	d := services.LDAP(t)
	o := options(d)
	d.Stop(t)
	if user, err := submit(t, o, "ada", "analytical"); user != nil || err == nil {
		t.Errorf("authorize = %v, %v, want an error", user, err)
	}
}

func TestADirectoryThatHangsIsGivenUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	o := ldapauth.Options{URL: "ldap://" + l.Addr().String(), BaseDN: "dc=example,dc=org", SearchDN: "cn=x", SearchPassword: "y", Timeout: 300 * time.Millisecond}
	p, err := ldapauth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	user, err := p.Authorize(ctx, &pintle.Submission{Fields: map[string]any{"username": "ada", "password": "x"}})
	if user != nil || err == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("authorize = %v, %v, and the test gave up: %v", user, err, ctx.Err())
	}
}
