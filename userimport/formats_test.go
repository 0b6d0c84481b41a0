package userimport_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/userimport"
)

// formats are the exports in testdata. Their first user is ada, whose address is proven, and
// their second one grace, who is banned and whose address is not proven.
//
// The hashes were made by bcryptjs 3.0.3 (Auth0), Better Auth 1.7.25, Django 3.2.25 and
// bcrypt 3.1.18 of Ruby, which Devise calls. Those of Firebase, Keycloak and ASP.NET Identity
// are published: see testdata/foreign.tsv of package password.
var formats = []struct {
	name         string
	read         func(t testing.TB) iter.Seq2[*userimport.User, error]
	password     string
	unverified   bool   // whether the system has no record of verified addresses
	lockEnded    bool   // whether grace was locked so long ago that the lock has ended
	id, fullName string // of ada
	roles        string
	provider     string
	created      time.Time
}{
	{
		name: "JSON lines", password: "lètmein", id: "17", fullName: "Ada Lovelace", roles: "editor", provider: "github",
		read: func(testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.JSONLines(strings.NewReader(jsonLines))
		},
		created: time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC),
	},
	{
		name: "Auth0", password: "lètmein", id: "auth0|5dea9f9c82dd7c0e76e4ec93",
		read: func(t testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.Auth0(fixture(t, "auth0.jsonl"))
		},
	},
	{
		name: "Firebase", password: "user1password", id: "LDlLbYkQpWXYzAhKmGcBvVhD1jF2", fullName: "Ada", provider: "google",
		read: func(t testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.Firebase(fixture(t, "firebase.json"), firebaseProject())
		},
		created: time.UnixMilli(1614774896123).UTC(),
	},
	{
		name: "Keycloak", password: "iceberg", id: "0e7bd7a8-1", fullName: "Ada Lovelace", roles: "default-roles-shop editor", provider: "github",
		read: func(t testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.Keycloak(fixture(t, "keycloak.json"))
		},
		created: time.UnixMilli(1700000000123).UTC(),
	},
	{
		name: "Django, JSON", password: "lètmein", unverified: true, id: "1", fullName: "Ada Lovelace", roles: "superuser staff",
		read: func(t testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.Django(fixture(t, "django.json"))
		},
		created: time.Date(2021, 2, 3, 4, 5, 6, 789000000, time.UTC),
	},
	{
		name: "Django, CSV", password: "lètmein", unverified: true, id: "1", fullName: "Ada Lovelace", roles: "superuser staff",
		read: func(t testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.Django(fixture(t, "django.csv"))
		},
		created: time.Date(2021, 2, 3, 4, 5, 6, 789000000, time.UTC),
	},
	{
		name: "ASP.NET Identity", password: "my password", id: "4f6e1c52-0a5c-4f0e-9a43-1f2b7f0f3c11",
		read: func(t testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.ASPNETIdentity(fixture(t, "aspnet.csv"))
		},
	},
	{
		name: "Better Auth, JSON", password: "correct horse five", id: "BFk1", fullName: "Ada Lovelace", roles: "admin user", provider: "github",
		read: func(t testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.BetterAuth(fixture(t, "betterauth_user.json"), fixture(t, "betterauth_account.json"))
		},
	},
	{
		name: "Better Auth, CSV", password: "correct horse five", id: "BFk1", fullName: "Ada Lovelace", roles: "admin user", provider: "github",
		read: func(t testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.BetterAuth(fixture(t, "betterauth_user.csv"), fixture(t, "betterauth_account.csv"))
		},
	},
	{
		name: "Devise", lockEnded: true, password: "lètmein", id: "1", fullName: "Ada",
		read: func(t testing.TB) iter.Seq2[*userimport.User, error] {
			return userimport.Devise(fixture(t, "devise.csv"), deviseApp())
		},
		created: time.Date(2022, 3, 4, 5, 6, 0, 123000000, time.UTC),
	},
}

// passlib made the hash of "lètmein": see testdata/foreign.tsv of package password.
const jsonLines = `{"id":17,"email":"Ada@Example.com","name":"Ada Lovelace","emailVerified":true,"roles":["editor"],"password":"$2b$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua","createdAt":"2024-05-01T10:00:00Z","accounts":[{"provider":"github","providerAccountId":583231}]}

{"email":"grace@example.com","emailVerified":false,"password":"$2b$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua","bannedUntil":true,"banReason":"spam"}
`

// Each user signs in with the old password, and has a hash of Argon2id afterwards (AC-72).
func TestUsersOfEachSystemSignInWithTheirPasswords(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			store := memstore.New()
			before := time.Now()
			_, outcomes := importAll(t, store, f.read(t), userimport.Options{AllVerified: f.unverified})
			if len(outcomes) < 2 || outcomes[0].Status != userimport.Stored || outcomes[0].OldID != f.id {
				t.Fatalf("outcomes %+v", outcomes)
			}
			u, state, factors := userAt(t, store, "ada@example.com")
			if outcomes[0].UserID != u.ID || outcomes[0].Email != u.Email {
				t.Errorf("outcome %+v of user %s", outcomes[0], u.ID)
			}
			if u.Name != f.fullName || u.EmailVerified.IsZero() || strings.Join(state.Roles, " ") != f.roles || state.Must != "" || !state.BannedUntil.IsZero() {
				t.Errorf("user %+v, state %+v", u, state)
			}
			if !f.created.IsZero() && !state.Created.Equal(f.created) || state.Created.IsZero() {
				t.Errorf("created at %v, want %v", state.Created, f.created)
			}
			accounts, err := store.UserAccounts(t.Context(), u.ID)
			if err != nil || len(accounts) > 1 || len(accounts) == 1 && accounts[0].Provider != f.provider || len(accounts) == 0 && f.provider != "" {
				t.Errorf("accounts %v, %v, want one at %q", accounts, err, f.provider)
			}
			if factors["password"] == nil || strings.HasPrefix(factors["password"].Secret, "$argon2id$v=19$m=64,t=1") {
				t.Fatalf("factors %v", factors)
			}

			site := newSite(t, store)
			if who, at := signIn(t, site, "ada@example.com", f.password+"x"); who != "" || !strings.Contains(at, "error=CredentialsSignin") {
				t.Errorf("a wrong password signed %q in, and led to %s", who, at)
			}
			for range 2 { // with the old hash, and with the new one
				if who, at := signIn(t, site, "ada@example.com", f.password); who != "ada@example.com" {
					t.Errorf("signed in as %q, at %s", who, at)
				}
			}
			if _, _, factors = userAt(t, store, "ada@example.com"); !strings.HasPrefix(factors["password"].Secret, "$argon2id$v=19$m=64,t=1,p=1$") {
				t.Errorf("the hash was not replaced: %.20s", factors["password"].Secret)
			}

			grace, state, _ := userAt(t, store, "grace@example.com")
			if f.unverified == grace.EmailVerified.IsZero() {
				t.Errorf("the address of grace is proven at %v", grace.EmailVerified)
			}
			if f.lockEnded {
				if !state.BannedUntil.IsZero() {
					t.Errorf("grace is banned until %v", state.BannedUntil)
				}
			} else if !state.BannedUntil.After(before.AddDate(1000, 0, 0)) || state.BannedUntil.After(accountstore.Forever) || state.BanReason == "" {
				t.Errorf("grace is banned until %v for %q", state.BannedUntil, state.BanReason)
			}
		})
	}
}

// A user whose address the old system has not verified proves it before the session begins.
func TestAnUnverifiedAddressIsProvenAtTheFirstSignIn(t *testing.T) {
	store := memstore.New()
	importAll(t, store, userimport.Django(fixture(t, "django.json")), userimport.Options{})
	if u, _, _ := userAt(t, store, "ada@example.com"); !u.EmailVerified.IsZero() {
		t.Fatalf("the address is proven at %v", u.EmailVerified)
	}
	if who, at := signIn(t, newSite(t, store), "ada@example.com", "lètmein"); who != "" || !strings.HasPrefix(at, "/auth/account/prove?") {
		t.Errorf("signed in as %q, at %s", who, at)
	}
}

// A second factor that cannot be moved is replaced by one, and never left out.
func TestSecondFactorsOfOtherSystems(t *testing.T) {
	tests := []struct {
		name, email string
		read        iter.Seq2[*userimport.User, error]
		must        string
		totp        bool
	}{
		{"Auth0, guardian", "joan@example.com", userimport.Auth0(fixture(t, "auth0.jsonl")), "enrol", false},
		{"Keycloak, an app", "joan@example.com", userimport.Keycloak(fixture(t, "keycloak.json")), "", true},
		{"Keycloak, eight digits, and a password that has to be changed", "lena@example.com", userimport.Keycloak(fixture(t, "keycloak.json")), "password enrol", false},
		{"ASP.NET Identity, an app", "joan@example.com", userimport.ASPNETIdentity(fixture(t, "aspnet.csv")), "", true},
		{"ASP.NET Identity, no key", "lena@example.com", userimport.ASPNETIdentity(fixture(t, "aspnet.csv")), "enrol", false},
		{"Devise", "a@example.com", userimport.Devise(strings.NewReader("email,encrypted_password,otp_required_for_login,confirmed_at\na@example.com,,t,2020-01-01\n"), deviseApp()), "enrol", false},
		{"Better Auth", "a@example.com", userimport.BetterAuth(strings.NewReader("id,email,emailVerified,twoFactorEnabled\n1,a@example.com,t,1\n"), strings.NewReader("")), "enrol", false},
		{"Firebase", "a@example.com", userimport.Firebase(strings.NewReader(`{"users":[{"email":"a@example.com","mfaInfo":[{}]}]}`), firebaseProject()), "enrol", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := memstore.New()
			importAll(t, store, tt.read, userimport.Options{})
			_, state, factors := userAt(t, store, tt.email)
			if state.Must != tt.must || (factors["totp"] != nil) != tt.totp {
				t.Errorf("must %q, factors %v", state.Must, factors)
			}
		})
	}
}

// A sign-in of a user with an imported app asks for its code, and takes it.
func TestAnImportedAppIsAskedFor(t *testing.T) {
	store := memstore.New()
	importAll(t, store, userimport.Keycloak(fixture(t, "keycloak.json")), userimport.Options{})
	b := newBrowser(t, newSite(t, store))
	who, at := b.signIn("joan@example.com", "iceberg")
	if who != "" || !strings.HasPrefix(at, "/auth/account/second-factor?") {
		t.Fatalf("signed in as %q, at %s", who, at)
	}
	const secret = "LnA6w3VUGTG2VX4lJhXC" // Keycloak takes the bytes of the text
	if who, at := b.post("/auth/account/second-factor", url.Values{"code": {codeOf([]byte(secret))}}); who != "joan@example.com" {
		t.Errorf("with the code signed in as %q, at %s", who, at)
	}
	_, _, factors := userAt(t, store, "joan@example.com")
	for _, text := range []string{secret, base64.RawStdEncoding.EncodeToString([]byte(secret))} {
		if strings.Contains(factors["totp"].Secret, text) {
			t.Error("the secret is not sealed")
		}
	}
}

// codeOf is what an app with a secret shows now.
//
// https://www.rfc-editor.org/rfc/rfc6238#section-4.2
func codeOf(secret []byte) string {
	mac := hmac.New(sha1.New, secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()/30)))
	sum := mac.Sum(nil)
	o := sum[19] & 15
	return fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[o:])&0x7fffffff)%1000000)
}

func TestUsersWithoutAddressAreRefused(t *testing.T) {
	for name, read := range map[string]iter.Seq2[*userimport.User, error]{
		"Firebase": userimport.Firebase(fixture(t, "firebase.json"), firebaseProject()),
		"Keycloak": userimport.Keycloak(fixture(t, "keycloak.json")), // a service account
	} {
		result, outcomes := importAll(t, memstore.New(), read, userimport.Options{})
		last := outcomes[len(outcomes)-1]
		if result.Refused != 1 || last.Status != userimport.Refused || last.Reason == "" || last.Number != len(outcomes) {
			t.Errorf("%s: %+v, %+v", name, result, last)
		}
	}
}

func TestRolesAndProvidersAreMapped(t *testing.T) {
	store := memstore.New()
	result, _ := importAll(t, store, userimport.Keycloak(fixture(t, "keycloak.json")), userimport.Options{
		Roles: map[string]string{"editor": "author"}, Providers: map[string]string{"github": "gh-main"},
	})
	u, state, _ := userAt(t, store, "ada@example.com")
	if !slices.Equal(state.Roles, []string{"author"}) {
		t.Errorf("roles %q", state.Roles)
	}
	if result.Roles["default-roles-shop"] != 4 || len(result.Roles) != 1 {
		t.Errorf("roles left out: %v", result.Roles)
	}
	if owner, err := store.UserByAccount(t.Context(), "gh-main", "583231"); err != nil || owner.ID != u.ID {
		t.Errorf("the account belongs to %v, %v", owner, err)
	}
	store = memstore.New()
	result, _ = importAll(t, store, userimport.Keycloak(fixture(t, "keycloak.json")), userimport.Options{Providers: map[string]string{}})
	u, _, _ = userAt(t, store, "ada@example.com")
	if accounts, err := store.UserAccounts(t.Context(), u.ID); len(accounts) != 0 || err != nil || result.Providers["github"] != 1 {
		t.Errorf("accounts %v, %v, left out %v", accounts, err, result.Providers)
	}
}

// An address is proven only if the system says so of this address.
func TestWhichAddressesAreProven(t *testing.T) {
	for name, tt := range map[string]struct {
		read iter.Seq2[*userimport.User, error]
		want bool
	}{
		"Keycloak":                       {userimport.Keycloak(strings.NewReader(`{"users":[{"email":"a@example.com","emailVerified":true}]}`)), true},
		"Keycloak, to be verified again": {userimport.Keycloak(strings.NewReader(`{"users":[{"email":"a@example.com","emailVerified":true,"requiredActions":["VERIFY_EMAIL"]}]}`)), false},
		"Auth0, two statements":          {userimport.Auth0(strings.NewReader(`{"email":"a@example.com","email_verified":false,"identifiers":[{"type":"email","value":"a@example.com","verified":true}]}`)), false},
		"Auth0, another address":         {userimport.Auth0(strings.NewReader(`{"email":"a@example.com","identifiers":[{"type":"email","value":"b@example.com","verified":true}]}`)), false},
		"Auth0, a phone":                 {userimport.Auth0(strings.NewReader(`{"email":"a@example.com","identifiers":[{"type":"phone","value":"a@example.com","verified":true}]}`)), false},
		"Auth0, an identifier":           {userimport.Auth0(strings.NewReader(`{"identifiers":[{"type":"email","value":"a@example.com","verified":true}]}`)), true},
		"Devise without confirmable":     {userimport.Devise(strings.NewReader("email,encrypted_password\na@example.com,\n"), deviseApp()), false},
		"Django with a column":           {userimport.Django(strings.NewReader("email,password,email_verified\na@example.com,!,t\n")), true},
		"Django without":                 {userimport.Django(strings.NewReader("email,password\na@example.com,!\n")), false},
		"ASP.NET Identity":               {userimport.ASPNETIdentity(strings.NewReader("Email,PasswordHash,EmailConfirmed\na@example.com,,0\n")), false},
		"Better Auth":                    {userimport.BetterAuth(strings.NewReader("id,email,emailVerified\n1,a@example.com,f\n"), strings.NewReader("")), false},
		"Firebase":                       {userimport.Firebase(strings.NewReader(`{"users":[{"email":"a@example.com"}]}`), firebaseProject()), false},
		"JSON lines":                     {userimport.JSONLines(strings.NewReader(`{"email":"a@example.com","createdAt":1700000000}`)), false},
	} {
		store := memstore.New()
		importAll(t, store, tt.read, userimport.Options{})
		if u, _, _ := userAt(t, store, "a@example.com"); u.EmailVerified.IsZero() == tt.want {
			t.Errorf("%s: proven at %v, want %t", name, u.EmailVerified, tt.want)
		}
	}
}
