package adapters_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// A person is a user to be written into the shared database, with one row of each
// kind.
type person struct {
	who     string
	user    pintle.User
	account pintle.Account
	passkey pintle.Passkey
	session pintle.StoredSession
	link    pintle.Verification
}

// people have rows that are hard to store: times are not in UTC and have
// milliseconds, texts have characters that need quoting, fields are missing, and
// texts look like values of other types.
func (s *shared) people(t *testing.T) []person {
	t.Helper()
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	// 02:30 on the first of March there is still February in UTC.
	verified := time.Date(2026, 3, 1, 2, 30, 45, 123e6, kolkata)
	long := strings.Repeat("0123456789abcdef", 250)
	if s.narrow {
		long = long[:250]
	}
	whole := pintle.Account{
		Type: pintle.TypeOIDC, Provider: "google", ProviderAccountID: "0117",
		AccessToken: "ya29." + long[5:], RefreshToken: "1//" + long[3:], IDToken: "ey." + long[3:],
		ExpiresAt: 4102444800, TokenType: "bearer", Scope: "openid email profile", SessionState: "a.b|c",
	}
	if !s.fitsInInteger(whole.ExpiresAt) {
		whole.ExpiresAt = 1772368245
	}
	if s.keepsOAuth1() {
		whole.OAuthToken, whole.OAuthTokenSecret = "7588892-kagSNqWge8gB1WwE3plnFsJHAZVfxWD7Vb57p0b4", "PbKfYqSryyeKDWz4ebtY3o5ogNLG11WJuZBc9fQrQo"
	}
	return []person{
		{
			who:     "a person with all fields",
			user:    pintle.User{Name: "Mary Anning", Email: "mary@example.org", EmailVerified: verified, Image: "https://example.org/mary.png?size=64&v=2"},
			account: whole,
			passkey: pintle.Passkey{Counter: 7, DeviceType: "multiDevice", BackedUp: true, Transports: []string{"internal", "hybrid"}},
			session: pintle.StoredSession{Expires: time.Now().In(kolkata).Add(7 * day).Truncate(time.Second).Add(7 * time.Millisecond)},
			link:    pintle.Verification{Expires: time.Now().In(kolkata).Add(time.Hour).Truncate(time.Second).Add(999 * time.Millisecond)},
		},
		{
			who:     "a person beyond ASCII and in need of quotes",
			user:    pintle.User{Name: "Zoë 木村 🦊 \"q\" 'q' `q` \\n \n <b>&amp; %s $1 ?1 :a {}", Email: "zoë+o'hara@exämple.org", EmailVerified: verified.Add(time.Millisecond), Image: "data:image/png;base64,iVBORw0KGgo/+="},
			account: pintle.Account{Type: pintle.TypeOAuth, Provider: "müller's", ProviderAccountID: "🦊 \"7\"", AccessToken: "\\ ' \" ` 🦊", ExpiresAt: -1, Scope: "a b"},
			passkey: pintle.Passkey{Counter: 1<<31 - 1, DeviceType: "singleDevice", Transports: []string{"usb"}},
			session: pintle.StoredSession{Expires: time.Now().Add(20 * day).Truncate(time.Second)},
			link:    pintle.Verification{Expires: time.Now().Add(time.Hour).Truncate(time.Second).Add(time.Millisecond)},
		},
		{
			who:     "a person with few fields",
			user:    pintle.User{Email: s.required("little@example.org")},
			account: pintle.Account{Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "583231"},
			passkey: pintle.Passkey{DeviceType: "singleDevice"},
			session: pintle.StoredSession{Expires: time.Now().Add(time.Hour).Truncate(time.Second)},
			link:    pintle.Verification{Expires: time.Now().Add(-time.Hour).Truncate(time.Second)},
		},
		{
			who:     "a person whose texts look like values of other types",
			user:    pintle.User{Name: "0123", Email: "1e3@example.org", EmailVerified: time.Unix(0, 1e6), Image: "null"},
			account: pintle.Account{Type: pintle.TypeOAuth, Provider: "007", ProviderAccountID: "12345678901234567890", AccessToken: "true", RefreshToken: "{}", TokenType: "0x10", ExpiresAt: 1},
			passkey: pintle.Passkey{DeviceType: "1", BackedUp: true, Transports: []string{"0"}},
			session: pintle.StoredSession{Expires: time.Now().Add(39 * day).Truncate(time.Second)},
			link:    pintle.Verification{Expires: time.Now().Add(day).Truncate(time.Second)},
		},
	}
}

// required is the address of a user without one, for tables that require an
// address.
func (s *shared) required(address string) string {
	if s.addressRequired {
		return address
	}
	return ""
}

// fitsInInteger reports whether expires_at may be after the year 2038.
func (s *shared) fitsInInteger(seconds int64) bool {
	return seconds < 1<<31 || s.adapter != "drizzle" && s.adapter != "prisma"
}

func (s *shared) keepsOAuth1() bool {
	return s.adapter == "d1" || s.adapter == "supabase" || s.adapter == "upstash" || s.adapter == "unstorage"
}

// by returns the person with values that differ by the side that writes them.
func (p person) by(side string, s *shared) person {
	if p.user.Email != "" {
		p.user.Email = side + "-" + p.user.Email
	}
	p.user.ID = proposedID()
	if len(s.layout.Users.Extra) > 0 {
		p.user.Extra = map[string]any{"role": "admin of " + p.user.Name}
	}
	p.account.ProviderAccountID += side
	p.session.Token = rand.Text() + "-" + side
	p.link.Identifier = "link-" + side + "-" + p.user.Email
	hash := sha256.Sum256([]byte(rand.Text()))
	p.link.Token = hex.EncodeToString(hash[:])
	// It has both of the characters that other alphabets of base64 have not.
	p.passkey.CredentialID = base64.StdEncoding.EncodeToString([]byte("\xfb\xff\xbf" + rand.Text() + "1"))
	p.passkey.ProviderAccountID = p.passkey.CredentialID
	p.passkey.PublicKey = "pQECAyYgASFYIA+/" + rand.Text() + "=="
	if s.wholeSeconds {
		p.session.Expires = p.session.Expires.Truncate(time.Second)
		p.link.Expires = p.link.Expires.Truncate(time.Second)
	}
	return p
}

// proposedID is an id as @auth/core proposes one. Most adapters make their own.
func proposedID() string {
	text := hex.EncodeToString([]byte(rand.Text())[:16])
	return text[:8] + "-" + text[8:12] + "-4" + text[13:16] + "-8" + text[17:20] + "-" + text[20:]
}

// The objects that Auth.js has for each.

func userObject(u pintle.User) map[string]any {
	o := map[string]any{
		"id": u.ID, "name": u.Name, "email": u.Email, "image": u.Image, "emailVerified": date(u.EmailVerified),
	}
	maps.Copy(o, u.Extra)
	return present(o, true)
}

func accountObject(a pintle.Account, userID any) map[string]any {
	state, _ := a.SessionState.(string)
	o := present(map[string]any{
		"userId": userID, "type": string(a.Type), "provider": a.Provider, "providerAccountId": a.ProviderAccountID,
		"access_token": a.AccessToken, "refresh_token": a.RefreshToken, "id_token": a.IDToken, "token_type": a.TokenType,
		"scope": a.Scope, "session_state": state, "oauth_token": a.OAuthToken, "oauth_token_secret": a.OAuthTokenSecret,
	}, false)
	if a.ExpiresAt != 0 {
		o["expires_at"] = a.ExpiresAt
	}
	return o
}

func sessionObject(s pintle.StoredSession, userID any) map[string]any {
	return map[string]any{"sessionToken": s.Token, "userId": userID, "expires": date(s.Expires)}
}

func linkObject(v pintle.Verification) map[string]any {
	return map[string]any{"identifier": v.Identifier, "token": v.Token, "expires": date(v.Expires)}
}

// WA-17: the shape of passkeys is that of Auth.js.
func passkeyObject(a pintle.Passkey, userID any) map[string]any {
	return present(map[string]any{
		"credentialID": a.CredentialID, "userId": userID, "providerAccountId": a.ProviderAccountID, "credentialPublicKey": a.PublicKey,
		"counter": a.Counter, "credentialDeviceType": a.DeviceType, "credentialBackedUp": a.BackedUp, "transports": strings.Join(a.Transports, ","),
	}, true)
}

// present makes empty texts null, or leaves them out.
func present(o map[string]any, null bool) map[string]any {
	for name, value := range o {
		switch {
		case value != "":
		case null:
			o[name] = nil
		default:
			delete(o, name)
		}
	}
	return o
}

// ownerKey is a user's id in the form of the adapter, which made it.
func ownerKey(t *testing.T, created any) any {
	t.Helper()
	o, ok := created.(map[string]any)
	if !ok || nothing(o["id"]) {
		t.Fatalf("the created user is %v", created)
	}
	return o["id"]
}

func ownerID(key any) string { return fmt.Sprint(key) }
