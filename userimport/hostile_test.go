package userimport_test

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/userimport"
)

// readers are all readers, by what a fuzz target calls them. Better Auth reads the same text
// as both tables, or a table of one user beside it.
func readers(r func() io.Reader) map[string]iter.Seq2[*userimport.User, error] {
	return map[string]iter.Seq2[*userimport.User, error]{
		"JSONLines":      userimport.JSONLines(r()),
		"Auth0":          userimport.Auth0(r()),
		"Firebase":       userimport.Firebase(r(), firebaseProject()),
		"Keycloak":       userimport.Keycloak(r()),
		"Django":         userimport.Django(r()),
		"ASPNETIdentity": userimport.ASPNETIdentity(r()),
		"BetterAuth":     userimport.BetterAuth(r(), r()),
		"accounts":       userimport.BetterAuth(strings.NewReader("id,email,emailVerified\nu1,a@example.com,t\n"), r()),
		"Devise":         userimport.Devise(r(), deviseApp()),
	}
}

// secretHash and secretText are in every hostile file, and in no error.
const (
	secretHash = "$2b$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua"
	secretText = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
)

// AC-196, AC-12: each refused line has its reason, without what is secret in it.
func TestLinesThatAreRefused(t *testing.T) {
	line := func(members string) string { return `{"email":"a@example.com",` + members + `}` }
	tests := []struct{ name, line, reason string }{
		{"not JSON", `{"password":"` + secretHash, "not JSON of a user"},
		{"two objects", line(`"name":"A"`) + line(`"name":"A"`), "more than one object"},
		{"an array", `["` + secretHash + `"]`, "not JSON of a user"},
		{"a number", `17`, ""},
		{"no address", `{"name":"A"}`, "no address"},
		{"a blank address", `{"email":" "}`, "no address"},
		{"no @", `{"email":"` + secretText + `"}`, "the address is not one"},
		{"two addresses", `{"email":"a@example.com,b@example.com"}`, "the address is not one"},
		{"two domains", `{"email":"a@example.com,example.org"}`, "the address is not one"},
		{"a NUL in the address", `{"email":"a\u0000@example.com"}`, "the address is not one"},
		{"a line break in the address", `{"email":"a@example.com\r\nBcc: b@example.com"}`, "the address is not one"},
		{"half a surrogate pair in the address", `{"email":"a\ud800@example.com"}`, "the address is not one"},
		{"a long address", `{"email":"` + strings.Repeat("a", 250) + `@example.com"}`, "the address has more than 254 bytes"},
		{"a member that is misspelled", line(`"banedUntil":true,"password":"` + secretHash + `"`), `a member that is not known: "banedUntil"`},
		{"a member of an account that is misspelled", line(`"accounts":[{"provder":"github"}]`), `a member that is not known: "provder"`},
		{"a member with a long name", line(`"` + strings.Repeat("é", 50) + `":1`), `a member that is not known: "` + strings.Repeat("é", 20) + `…"`},
		{"a member that is no name", line(`"a\u001b[31m\"":1`), `a member that is not known: "a\x1b[31m\""`},
		{"an address that is a number", `{"email":17}`, "a member has another kind of value than expected: email"},
		{"a time that is none", line(`"createdAt":"` + secretText + `"`), "a member has another kind of value than expected"},
		{"a ban that is none", line(`"bannedUntil":"soon"`), "a member has another kind of value than expected"},
		{"deep JSON", line(`"name":` + strings.Repeat("[", 20000)), ""},
		{"deep and whole", line(`"name":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000)), ""},
		{"Latin-1", line("\"name\":\"J\xf6rg\""), "not UTF-8"},
		{"a password that is not hashed", line(`"password":"` + secretText + `"`), "password: "},
		{"MD5", line(`"password":"3f86d0d3d465b7b458c231bf3555c0e3"`), "password: stored hash: a digest that is quick to guess"},
		{"a costly hash", line(`"password":"$2b$15$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua"`), "password: stored hash: bcrypt cost 15, at most 14 is allowed"},
		{"a hash of 4 TiB", line(`"password":"$argon2id$v=19$m=4294967295,t=1,p=1$c29tZXNhbHQ$Yf/ImtPS4jXH37mgz+6E3Q"`), "password: stored hash: "},
		{"an app of an unproven address", line(`"totp":"` + secretText + `"`), "authenticator app: the address is not proven"},
		{"an app with a short secret", line(`"emailVerified":true,"totp":"JBSWY3DP"`), "the secret of the authenticator app does not have 10 to 128 bytes"},
		{"an app that is not base32", line(`"emailVerified":true,"totp":"` + secretText + `1"`), "the secret of the authenticator app is not base32"},
		{"an app with eight digits", line(`"emailVerified":true,"totp":"otpauth://totp/A?digits=8&secret=` + secretText + `"`), "the secret of the authenticator app is not base32"},
		{"an app that counts", line(`"emailVerified":true,"totp":"otpauth://hotp/A?secret=` + secretText + `"`), "the secret of the authenticator app is not base32"},
		{"a role with capitals", line(`"roles":["Admin"]`), "a role is not"},
		{"33 roles", line(`"roles":["r0"` + list(32, `,"r%d"`) + `]`), "more than 32 roles"},
		{"51 accounts", line(`"accounts":[{"provider":"a","providerAccountId":0}` + list(50, `,{"provider":"a","providerAccountId":%d}`) + `]`), "more than 50 linked accounts"},
		{"an account without an id", line(`"accounts":[{"provider":"github"}]`), "a linked account without a usable provider and id"},
		{"an account with a NUL", line(`"accounts":[{"provider":"github","providerAccountId":"1\u0000"}]`), "a linked account without a usable provider and id"},
		{"an account of passwords", line(`"accounts":[{"provider":"credentials","providerAccountId":"1","type":"credentials"}]`), "a linked account has another type"},
		{"a passkey", line(`"accounts":[{"provider":"passkey","providerAccountId":"1","type":"webauthn"}]`), "a linked account has another type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			good := `{"email":"good@example.com"}` + "\n"
			store := memstore.New()
			_, outcomes := importAll(t, store, userimport.JSONLines(strings.NewReader(good+tt.line+"\n"+good)), userimport.Options{})
			if len(outcomes) != 3 || outcomes[0].Status != userimport.Stored || outcomes[2].Status != userimport.Existing {
				t.Fatalf("%+v", outcomes)
			}
			if o := outcomes[1]; o.Status != userimport.Refused || !strings.HasPrefix(o.Reason, tt.reason) || o.Reason == "" || o.Number != 2 || o.UserID != "" {
				t.Errorf("%+v", o)
			}
			if text := fmt.Sprintf("%+v", outcomes); strings.Contains(text, secretHash) || strings.Contains(text, secretText) || strings.Contains(text, "3f86d0") {
				t.Errorf("a secret is reported: %s", text)
			}
		})
	}
}

func list(n int, form string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i+1)
	}
	return b.String()
}

// AC-196: with Options.Partial a user is stored without what cannot be used. A second factor of a
// user whose address is proven is never left out.
func TestPartialUsers(t *testing.T) {
	for _, tt := range []struct {
		line   string
		status userimport.Status
		must   string
	}{
		{`{"email":"a@example.com","password":"3f86d0d3d465b7b458c231bf3555c0e3","roles":["editor"]}`, userimport.Partial, ""},
		{`{"email":"a@example.com","password":"` + secretHash + `","totp":"` + secretText + `","mustEnrol":true}`, userimport.Partial, "enrol"},
		{`{"email":"a@example.com","password":"` + secretHash + `","totp":"` + secretText + `"}`, userimport.Partial, "enrol"},
		{`{"email":"a@example.com","emailVerified":true,"totp":"JBSWY3DP"}`, userimport.Refused, ""},
		{`{"email":"a@example.com","password":"3f86d0d3d465b7b458c231bf3555c0e3","roles":["Editor"]}`, userimport.Refused, ""},
	} {
		store := memstore.New()
		result, outcomes := importAll(t, store, userimport.JSONLines(strings.NewReader(tt.line)), userimport.Options{Partial: true})
		if outcomes[0].Status != tt.status || outcomes[0].Reason == "" {
			t.Errorf("%s: %+v", tt.line, outcomes)
		}
		if tt.status == userimport.Refused {
			continue
		}
		_, state, factors := userAt(t, store, "a@example.com")
		if result.Partial != 1 || factors["totp"] != nil || state.Must != tt.must {
			t.Errorf("%s: %+v, %v, %+v", tt.line, result, factors, state)
		}
	}
}

func TestTextsOfUsersAreMadeSafe(t *testing.T) {
	store := memstore.New()
	importAll(t, store, userimport.JSONLines(strings.NewReader(
		`{"email":"a@example.com","name":"\u202eA\u0000\u001b[31m =1+1","image":"javascript:alert(1)","banReason":"a\nb","bannedUntil":"9999-12-31T23:59:59Z"}
{"email":"b@example.com","name":"`+strings.Repeat("é", 200)+`","image":"https://example.com/b.png"}
{"email":"=cmd|' /C calc'!A0@example.com","name":"=1+1"}
{"email":"=1+1@example.com","name":"=1+1","image":"http://example.com/c.png"}
`)), userimport.Options{})
	a, state, _ := userAt(t, store, "a@example.com")
	if a.Name != "A[31m =1+1" || a.Image != "" || state.BanReason != "ab" {
		t.Errorf("%+v, %+v", a, state)
	}
	b, _, _ := userAt(t, store, "b@example.com")
	if b.Name != strings.Repeat("é", 100) || b.Image != "https://example.com/b.png" {
		t.Errorf("%+v", b)
	}
	// A formula is a name like others: nothing here is a spreadsheet.
	if c, _, _ := userAt(t, store, "=1+1@example.com"); c.Name != "=1+1" || c.Image != "" {
		t.Errorf("%+v", c)
	}
}

func TestTimesThatStoresCannotKeep(t *testing.T) {
	store := memstore.New()
	importAll(t, store, userimport.JSONLines(strings.NewReader(
		`{"email":"a@example.com","emailVerified":"0001-01-01T00:00:01Z","createdAt":"1950-01-01","bannedUntil":9007199254740991}
{"email":"b@example.com","emailVerified":"9999-01-01","createdAt":"9999-01-01","bannedUntil":"2001-01-01"}
`)), userimport.Options{})
	a, state, _ := userAt(t, store, "a@example.com")
	if a.EmailVerified.IsZero() || a.EmailVerified.UnixMilli() < 1 || time.Since(state.Created) > time.Minute || state.BannedUntil.After(accountstore.Forever) || state.BannedUntil.IsZero() {
		t.Errorf("%+v, %+v", a, state)
	}
	b, state, _ := userAt(t, store, "b@example.com")
	if b.EmailVerified.After(time.Now()) || state.Created.After(time.Now()) || !state.BannedUntil.IsZero() {
		t.Errorf("%+v, %+v", b, state)
	}
}

// A source of the application may have times that no file has.
func TestABanOfASourceOfTheApplication(t *testing.T) {
	store := memstore.New()
	importAll(t, store, func(yield func(*userimport.User, error) bool) {
		yield(&userimport.User{Number: 1, Email: "a@example.com", BannedUntil: accountstore.Forever.AddDate(1, 0, 0)}, nil)
	}, userimport.Options{})
	if _, state, _ := userAt(t, store, "a@example.com"); !state.BannedUntil.Equal(accountstore.Forever) {
		t.Errorf("banned until %v", state.BannedUntil)
	}
}

// A file that is not whole, or cannot be taken apart, ends the import with an error. What was
// read before is stored.
func TestFilesThatEndTheImport(t *testing.T) {
	csv := "email,encrypted_password,name\na@example.com,,A\n"
	tests := []struct {
		name  string
		read  iter.Seq2[*userimport.User, error]
		says  string
		store int // users
	}{
		{"an array that was cut off", userimport.Keycloak(strings.NewReader(`{"users":[{"email":"a@example.com","enabled":true},{"email":"b`)), "cut off", 1},
		{"an array without an end", userimport.Auth0(strings.NewReader(`[{"email":"a@example.com"},`)), "cut off", 1},
		{"an object that was cut off after its users", userimport.Keycloak(strings.NewReader(`{"users":[{"email":"a@example.com"}]`)), "cut off", 1},
		{"no users", userimport.Keycloak(strings.NewReader(`{"realm":"shop","groups":[]}`)), `no array "users"`, 0},
		{"text after an array", userimport.Auth0(strings.NewReader(`[{"email":"a@example.com"}] x`)), "not JSON", 1},
		{"no comma", userimport.Auth0(strings.NewReader(`[{"email":"a@example.com"} {}]`)), "not JSON", 1},
		{"braces that do not match", userimport.Auth0(strings.NewReader(`[}`)), "not JSON", 0},
		{"CSV instead of JSON", userimport.Auth0(strings.NewReader(csv)), "not JSON", 0},
		{"UTF-16", userimport.Devise(strings.NewReader("\xff\xfee\x00m\x00"), deviseApp()), "UTF-16", 0},
		{"UTF-16 without a mark", userimport.JSONLines(strings.NewReader("{\x00\"\x00")), "UTF-16", 0},
		{"a missing column", userimport.Devise(strings.NewReader("email,name\na@example.com,A\n"), deviseApp()), "no column encrypted_password", 0},
		{"a column twice", userimport.Devise(strings.NewReader("email,Email,encrypted_password\n"), deviseApp()), "twice", 0},
		{"a quotation mark that is not closed", userimport.Devise(strings.NewReader(csv+"b@example.com,,\"B\nc@example.com,,C\n"), deviseApp()), "quotation mark missing", 1},
		{"a quotation mark that a later row closes", userimport.Devise(strings.NewReader(csv+"b@example.com,,\"B\nc@example.com,,C\nd@example.com,,\"D\"\n"), deviseApp()), "quotation mark missing", 1},
		{"a quotation mark that a late row closes", userimport.Devise(strings.NewReader(csv+"b@example.com,,\"B\n"+strings.Repeat("c@example.com,,C\n", 8000)+"\"\n"), deviseApp()), "quotation mark missing", 1},
		{"an unknown project", userimport.Firebase(strings.NewReader(`{"users":[]}`), password.Firebase{}), "SignerKey", 0},
		{"users out of order", userimport.BetterAuth(strings.NewReader("id,email,emailVerified\nb,a@example.com,t\na,b@example.com,t\n"), strings.NewReader("")), "order", 1},
		{"a user twice", userimport.BetterAuth(strings.NewReader("id,email,emailVerified\nb,a@example.com,t\nb,b@example.com,t\n"), strings.NewReader("")), "order", 1},
		{"accounts out of order", userimport.BetterAuth(strings.NewReader("id,email,emailVerified\na,a@example.com,t\nb,b@example.com,t\nc,c@example.com,t\n"), strings.NewReader("userId,providerId,accountId\na,github,1\nc,github,3\nb,github,2\n")), "order", 2},
		{"numbers in the order of texts", userimport.BetterAuth(strings.NewReader("id,email,emailVerified\n1,a@example.com,t\n10,b@example.com,t\n2,c@example.com,t\n"), strings.NewReader("")), "order", 2},
		{"an account that cannot be read", userimport.BetterAuth(strings.NewReader("id,email,emailVerified\na,a@example.com,t\n"), strings.NewReader("userId,providerId,accountId\na,github\n")), "accounts", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, err := userimport.Import(t.Context(), memstore.New(), tt.read, userimport.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.says) || result.Stored != tt.store || result.Read != tt.store {
				t.Errorf("Import = %+v, %v, want %d users and %q", result, err, tt.store, tt.says)
			}
		})
	}
}

func TestFilesOfWindowsAndOfOtherPrograms(t *testing.T) {
	for name, read := range map[string]iter.Seq2[*userimport.User, error]{
		"a byte order mark, and line ends of Windows": userimport.JSONLines(strings.NewReader("\xef\xbb\xbf\r\n{\"email\":\"a@example.com\"}\r\n\r\n{\"email\":\"b@example.com\"}")),
		"an array":                           userimport.JSONLines(strings.NewReader(` [ {"email":"a@example.com"} , {"email":"b@example.com"} ] `)),
		"semicolons":                         userimport.Devise(strings.NewReader("\xef\xbb\xbfemail;encrypted_password\r\na@example.com;\r\nb@example.com;NULL\r\n"), deviseApp()),
		"tabs":                               userimport.Devise(strings.NewReader("email\tencrypted_password\na@example.com\t\\N\nb@example.com\t"), deviseApp()),
		"names of columns of other adapters": userimport.BetterAuth(strings.NewReader("ID,Email,email_verified\n9,a@example.com,t\n10,b@example.com,f\n"), strings.NewReader("user_id,provider_id,account_id,password\n9,credential,9,\n10,github,1,\n")),
		"JSON lines of a table": userimport.Devise(strings.NewReader(`{"email":"a@example.com","encrypted_password":null}
{"email":"b@example.com","encrypted_password":""}`), deviseApp()),
	} {
		result, outcomes := importAll(t, memstore.New(), read, userimport.Options{})
		if result.Stored != 2 || result.Read != 2 || outcomes[1].Email != "b@example.com" {
			t.Errorf("%s: %+v, %+v", name, result, outcomes)
		}
	}
	for name, r := range readers(func() io.Reader { return strings.NewReader("") }) {
		if result, _ := importAll(t, memstore.New(), r, userimport.Options{}); name != "accounts" && result.Read != 0 {
			t.Errorf("%s: an empty file has %d users", name, result.Read)
		}
	}
}

// A value that may mean a ban, and is not known, does not mean that there is none.
func TestAnUnknownBanIsRefused(t *testing.T) {
	for name, read := range map[string]iter.Seq2[*userimport.User, error]{
		"Devise":           userimport.Devise(strings.NewReader("email,encrypted_password,locked_at\na@example.com,,yesterday\n"), deviseApp()),
		"Django":           userimport.Django(strings.NewReader("email,password,is_active\na@example.com,!,maybe\n")),
		"ASP.NET Identity": userimport.ASPNETIdentity(strings.NewReader("Email,PasswordHash,EmailConfirmed,LockoutEnd\na@example.com,,1,soon\n")),
		"Better Auth":      userimport.BetterAuth(strings.NewReader("id,email,emailVerified,banned\n1,a@example.com,t,maybe\n"), strings.NewReader("")),
		"Auth0":            userimport.Auth0(strings.NewReader(`{"email":"a@example.com","blocked":"maybe"}`)),
		"Firebase":         userimport.Firebase(strings.NewReader(`{"users":[{"email":"a@example.com","disabled":"maybe"}]}`), firebaseProject()),
		"Keycloak":         userimport.Keycloak(strings.NewReader(`{"users":[{"email":"a@example.com","enabled":"maybe"}]}`)),
	} {
		if result, outcomes := importAll(t, memstore.New(), read, userimport.Options{}); result.Refused != 1 {
			t.Errorf("%s: %+v", name, outcomes)
		}
	}
	// One that is missing means one where the system reads it so.
	store := memstore.New()
	importAll(t, store, userimport.Keycloak(strings.NewReader(`{"users":[{"email":"a@example.com"}]}`)), userimport.Options{})
	if _, state, _ := userAt(t, store, "a@example.com"); state.BannedUntil.IsZero() {
		t.Error("a user of Keycloak without enabled is not banned")
	}
}

// A user of more than 1 MiB is refused, and neither it nor the size of a file takes memory.
func TestMemoryIsBounded(t *testing.T) {
	const size = 64 << 20
	for name, read := range map[string]iter.Seq2[*userimport.User, error]{
		"a long line": userimport.JSONLines(io.MultiReader(strings.NewReader(`{"email":"a@example.com","name":"`), io.LimitReader(letters{}, size),
			strings.NewReader("\"}\n{\"email\":\"b@example.com\"}\n"))),
		"a long element": userimport.Auth0(io.MultiReader(strings.NewReader(`[{"name":"`), io.LimitReader(letters{}, size),
			strings.NewReader(`"},{"email":"b@example.com"}]`))),
		"a member before the users": userimport.Keycloak(io.MultiReader(strings.NewReader(`{"x":"`), io.LimitReader(letters{}, size),
			strings.NewReader(`","users":[{},{"email":"b@example.com"}]}`))),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			result, outcomes := importAll(t, memstore.New(), read, userimport.Options{})
			runtime.ReadMemStats(&after)
			if result.Stored != 1 || result.Refused != 1 || outcomes[1].Number != 2 {
				t.Errorf("%+v", outcomes)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
				t.Errorf("%d MiB were allocated for %d MiB", used>>20, size>>20)
			}
		})
	}
	long := userimport.Devise(io.MultiReader(strings.NewReader("email,encrypted_password\na@example.com,\""), io.LimitReader(letters{}, size)), deviseApp())
	if _, err := userimport.Import(t.Context(), memstore.New(), long, userimport.Options{}); err == nil {
		t.Error("a row without an end is no error")
	}
}

// letters is a text without an end.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// A store without room for passwords is an error, and so is an app that cannot be sealed.
func TestWhatAnImportNeeds(t *testing.T) {
	app := `{"email":"a@example.com","emailVerified":true,"totp":"` + secretText + `"}`
	store := memstore.New()
	_, err := userimport.Import(t.Context(), store, userimport.JSONLines(strings.NewReader(app)), userimport.Options{})
	if err == nil || !strings.Contains(err.Error(), "Options.Secrets") {
		t.Errorf("without secrets: %v", err)
	}
	if _, err := store.UserByEmail(t.Context(), "a@example.com"); err == nil {
		t.Error("the user was stored without the app")
	}
	_, err = userimport.Import(t.Context(), roomless{store}, userimport.JSONLines(strings.NewReader("")), userimport.Options{})
	if err == nil || !strings.Contains(err.Error(), "AccountStore") {
		t.Errorf("without room for passwords: %v", err)
	}
}

type roomless struct{ pintle.Store }

func (roomless) AccountStore() accountstore.Store { return nil }

// fuzz feeds a reader with texts. A reader ends, numbers its users in their order, and no
// error has a hash of the text.
func fuzz(f *testing.F, name string, files ...string) {
	for _, file := range files {
		text, err := io.ReadAll(fixture(f, file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{"", "[", `{"users":[{}]}`, "{}\n{}", "email,password\n\"a", "\xef\xbb\xbf[]", "userId,providerId,accountId\nu1,credential,1\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		last := 0
		for u, err := range readers(func() io.Reader { return bytes.NewReader(text) })[name] {
			if err == nil {
				if u.Number < last || u.Number < 1 {
					t.Fatalf("user %d follows user %d", u.Number, last)
				}
				last = u.Number
				continue
			}
			if u != nil {
				t.Fatalf("a user with the error %v", err)
			}
			if len(err.Error()) > 300 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
		}
		store := memstore.New()
		users := readers(func() io.Reader { return bytes.NewReader(text) })[name]
		result, _ := userimport.Import(t.Context(), store, users, userimport.Options{Secrets: secrets})
		if result.Read != result.Stored+result.Existing+result.Refused {
			t.Fatalf("%+v", result)
		}
	})
}

func FuzzJSONLines(f *testing.F)      { f.Add([]byte(jsonLines)); fuzz(f, "JSONLines") }
func FuzzAuth0(f *testing.F)          { fuzz(f, "Auth0", "auth0.jsonl") }
func FuzzFirebase(f *testing.F)       { fuzz(f, "Firebase", "firebase.json") }
func FuzzKeycloak(f *testing.F)       { fuzz(f, "Keycloak", "keycloak.json") }
func FuzzDjango(f *testing.F)         { fuzz(f, "Django", "django.json", "django.csv") }
func FuzzASPNETIdentity(f *testing.F) { fuzz(f, "ASPNETIdentity", "aspnet.csv") }
func FuzzBetterAuth(f *testing.F) {
	fuzz(f, "BetterAuth", "betterauth_user.csv", "betterauth_user.json")
}

func FuzzBetterAuthAccounts(f *testing.F) {
	fuzz(f, "accounts", "betterauth_account.csv", "betterauth_account.json")
}
func FuzzDevise(f *testing.F) { fuzz(f, "Devise", "devise.csv") }
