package adapters_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle"
)

// A description has the fields of a record, under the names of Auth.js. It leaves
// out null and undefined, because some adapters convert one into the other.
type description map[string]string

// numbers are the fields that some adapters have as numbers and others as text.
var numbers = map[string]bool{"id": true, "userId": true, "expires_at": true, "counter": true}

// object describes the result of an adapter. The type of a value matters:
// @auth/core calls the methods of dates.
func object(t *testing.T, value any) description {
	t.Helper()
	o, ok := value.(map[string]any)
	if !ok {
		t.Fatalf("the adapter answered %v, want an object", value)
	}
	d := description{}
	for name, value := range o {
		switch v := value.(type) {
		case nil, undefined:
		case time.Time:
			d.time(name, v)
		case bool:
			d[name] = strconv.FormatBool(v)
		case json.Number:
			d[name] = v.String()
		case string:
			d[name] = v
			if !numbers[name] {
				d[name] = strconv.Quote(v)
			}
		default:
			d[name] = fmt.Sprintf("%T %v", v, v)
		}
	}
	return d
}

func (d description) text(name, value string) {
	switch {
	case value == "":
	case numbers[name]:
		d[name] = value
	default:
		d[name] = strconv.Quote(value)
	}
}

func (d description) time(name string, t time.Time) {
	if !t.IsZero() {
		d[name] = t.UTC().Format(time.RFC3339Nano)
	}
}

// only is the part of d with these fields: some adapters answer with columns
// that only their tables have.
func (d description) only(names ...string) description {
	part := description{}
	for _, name := range names {
		if value, ok := d[name]; ok {
			part[name] = value
		}
	}
	return part
}

// same compares two descriptions, except for fields that only got has and want
// cannot have.
func same(t *testing.T, what string, got, want description, names []string) {
	t.Helper()
	if diff := cmp.Diff(want.only(names...), got.only(names...)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	if len(want) != len(want.only(names...)) {
		t.Fatalf("%s: no test compares all of %v", what, maps.Clone(want))
	}
}

var (
	userFields    = []string{"id", "name", "email", "emailVerified", "image", "role"}
	accountFields = []string{
		"userId", "type", "provider", "providerAccountId", "access_token", "refresh_token", "id_token", "expires_at",
		"token_type", "scope", "session_state", "oauth_token", "oauth_token_secret",
	}
	sessionFields = []string{"sessionToken", "userId", "expires"}
	linkFields    = []string{"identifier", "token", "expires"}
	passkeyFields = []string{
		"credentialID", "userId", "providerAccountId", "credentialPublicKey", "counter", "credentialDeviceType",
		"credentialBackedUp", "transports",
	}
)

func describedUser(u *pintle.User) description {
	d := description{}
	d.text("id", u.ID)
	d.text("name", u.Name)
	d.text("email", u.Email)
	d.time("emailVerified", u.EmailVerified)
	d.text("image", u.Image)
	if role, ok := u.Extra["role"].(string); ok {
		d.text("role", role)
	}
	return d
}

func describedAccount(a *pintle.Account) description {
	d := description{}
	state, _ := a.SessionState.(string)
	for name, value := range map[string]string{
		"userId": a.UserID, "type": string(a.Type), "provider": a.Provider, "providerAccountId": a.ProviderAccountID,
		"access_token": a.AccessToken, "refresh_token": a.RefreshToken, "id_token": a.IDToken, "token_type": a.TokenType,
		"scope": a.Scope, "session_state": state, "oauth_token": a.OAuthToken, "oauth_token_secret": a.OAuthTokenSecret,
	} {
		d.text(name, value)
	}
	if a.ExpiresAt != 0 {
		d.text("expires_at", strconv.FormatInt(a.ExpiresAt, 10))
	}
	return d
}

func describedSession(s *pintle.StoredSession) description {
	d := description{}
	d.text("sessionToken", s.Token)
	d.text("userId", s.UserID)
	d.time("expires", s.Expires)
	return d
}

func describedLink(v *pintle.Verification) description {
	d := description{}
	d.text("identifier", v.Identifier)
	d.text("token", v.Token)
	d.time("expires", v.Expires)
	return d
}

func describedPasskey(a *pintle.Passkey) description {
	d := description{"counter": strconv.FormatUint(uint64(a.Counter), 10), "credentialBackedUp": strconv.FormatBool(a.BackedUp)}
	for name, value := range map[string]string{
		"credentialID": a.CredentialID, "userId": a.UserID, "providerAccountId": a.ProviderAccountID, "credentialPublicKey": a.PublicKey,
		"credentialDeviceType": a.DeviceType, "transports": strings.Join(a.Transports, ","),
	} {
		d.text(name, value)
	}
	return d
}
