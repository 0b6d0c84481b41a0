package pintle

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"

	"github.com/pintleauth/pintle/internal/wire"
)

// An Account ties a [User] to an identity at a provider. Callbacks and events
// receive it with everything in the provider's token response; the store
// receives the fields that [OAuth.StoreAccount] returns.
//
// It carries credentials for the provider's API. Package fmt and log/slog print it
// without them; its JSON has them.
type Account struct {
	// ID identifies the account in the store, which makes it when the account is
	// linked. It is empty before that, and where tables shared with Auth.js have
	// no column for it. It is not part of the JSON.
	ID string

	// UserID is the owner. It is empty while the owner is not yet known.
	UserID string

	// Type is how the account signs in.
	Type ProviderType

	// Provider is the id of the provider in this application's configuration.
	Provider string

	// ProviderAccountID is the provider's id of the person. It is unique
	// together with Provider.
	ProviderAccountID string

	AccessToken  string
	RefreshToken string
	IDToken      string

	// ExpiresAt is when AccessToken expires, in Unix seconds. Zero means that
	// the provider did not report it.
	ExpiresAt int64

	// TokenType is in lower case, mostly "bearer".
	TokenType string

	Scope string

	// SessionState is whatever JSON value the provider sent, mostly a text, in
	// the types of encoding/json. Tables shared with Auth.js have a column of
	// text for it, in which another value is kept as its JSON.
	//
	// https://openid.net/specs/openid-connect-session-1_0.html#CreatingUpdatingSessions
	SessionState any

	// VerifiedEmail is the address that the provider had verified when the
	// account was stored, in lower case: see [OAuth.EmailVerified]. It is empty
	// where the provider verifies no addresses, where the account was linked to a
	// signed-in user who had not proven this address, and in layouts shared with
	// Auth.js, which have no place for it.
	VerifiedEmail string

	// OAuthToken and OAuthTokenSecret are the credentials of OAuth 1.0a.
	OAuthToken       string
	OAuthTokenSecret string

	// Extra holds further members of the token response by their names.
	Extra map[string]any
}

// The members of a token response that are text and have a field.
func (a *Account) tokenFields() map[string]*string {
	return map[string]*string{
		"access_token":       &a.AccessToken,
		"refresh_token":      &a.RefreshToken,
		"id_token":           &a.IDToken,
		"token_type":         &a.TokenType,
		"scope":              &a.Scope,
		"oauth_token":        &a.OAuthToken,
		"oauth_token_secret": &a.OAuthTokenSecret,
	}
}

// setTokens spreads a token response over the fields of a.
func (a *Account) setTokens(response map[string]any) {
	fields := a.tokenFields()
	for name, value := range response {
		if text, ok := value.(string); ok && fields[name] != nil {
			*fields[name] = text
			continue
		}
		if name == "session_state" && value != nil {
			a.SessionState = value
			continue
		}
		if name == "expires_at" {
			if seconds, ok := wire.Seconds(value); ok {
				a.ExpiresAt = seconds
				continue
			}
		}
		if a.Extra == nil {
			a.Extra = map[string]any{}
		}
		a.Extra[name] = value
	}
}

// readKept reads claims of an ID token that was verified when it came. It reports whether
// they could be read.
func readKept(idToken string, into any) bool {
	_, rest, _ := strings.Cut(idToken, ".")
	payload, _, _ := strings.Cut(rest, ".")
	text, err := base64.RawURLEncoding.DecodeString(payload)
	return err == nil && json.Unmarshal(text, into) == nil
}

// MarshalJSON writes the members under the names they have in a database that
// is shared with Auth.js: access_token, expires_at, providerAccountId and so on.
func (a Account) MarshalJSON() ([]byte, error) {
	m := wire.NewObject()
	m.AddString("access_token", a.AccessToken)
	m.AddString("refresh_token", a.RefreshToken)
	m.AddString("id_token", a.IDToken)
	if a.ExpiresAt != 0 {
		m.Add("expires_at", a.ExpiresAt)
	}
	m.AddString("token_type", a.TokenType)
	m.AddString("scope", a.Scope)
	if a.SessionState != nil {
		m.Add("session_state", a.SessionState)
	}
	m.AddString("oauth_token", a.OAuthToken)
	m.AddString("oauth_token_secret", a.OAuthTokenSecret)
	m.AddRest(a.Extra)
	m.AddString("userId", a.UserID)
	m.AddString("type", string(a.Type))
	m.AddString("provider", a.Provider)
	m.AddString("providerAccountId", a.ProviderAccountID)
	return m.Bytes()
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *Account) UnmarshalJSON(data []byte) error {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return fmt.Errorf("pintle: read account: %w", err)
	}
	read := Account{}
	for name, field := range map[string]*string{
		"userId": &read.UserID, "provider": &read.Provider, "providerAccountId": &read.ProviderAccountID,
	} {
		*field, _ = wire.ID(fields[name])
		delete(fields, name)
	}
	kind, _ := fields["type"].(string)
	read.Type = ProviderType(kind)
	delete(fields, "type")
	for name, value := range fields {
		if value == nil {
			delete(fields, name)
		}
	}
	read.setTokens(fields)
	*a = read
	return nil
}

// LogValue names the account without its credentials.
func (a Account) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("provider", a.Provider),
		slog.String("type", string(a.Type)),
		slog.String("providerAccountId", a.ProviderAccountID),
		slog.String("userId", a.UserID),
	)
}

func (a *Account) clone() *Account {
	c := *a
	c.Extra = maps.Clone(a.Extra)
	return &c
}

// storedByDefault returns the stored part of an account when [OAuth.StoreAccount] is
// nil: the token fields for which every shared table has a column.
func storedByDefault(a *Account) *Account {
	c := *a
	c.Extra = nil
	return &c
}

// accountSalt keeps the keys of stored tokens apart from those of cookies.
const accountSalt = "pintle.account-tokens"

// sealedPrefix begins every sealed token; no provider's token begins so.
const sealedPrefix = "pintle:"

// A secretColumn is a token of an account and the name of its column.
type secretColumn struct {
	name  string
	token *string
}

func (a *Account) secretColumns() [5]secretColumn {
	return [...]secretColumn{
		{"access_token", &a.AccessToken},
		{"refresh_token", &a.RefreshToken},
		{"id_token", &a.IDToken},
		{"oauth_token", &a.OAuthToken},
		{"oauth_token_secret", &a.OAuthTokenSecret},
	}
}

// place identifies a column of an account. It is a hash, of which 128 bits are
// as hard to hit again as a key of that length, so that every sealed token grows
// by the same amount. The lengths keep two places from being spelled alike.
func (a *Account) place(column string) []byte {
	hash := sha256.Sum256(fmt.Appendf(nil, "%d:%s %d:%s %s", len(a.Provider), a.Provider, len(a.ProviderAccountID),
		a.ProviderAccountID, column))
	return hash[:16]
}

// ProviderType is the way in which a provider signs users in. Clients see the
// value in the provider list, and accounts are stored with it.
type ProviderType string

// The types of provider.
const (
	TypeOAuth       ProviderType = "oauth"
	TypeOIDC        ProviderType = "oidc"
	TypeEmail       ProviderType = "email"
	TypeCredentials ProviderType = "credentials"
	TypeWebAuthn    ProviderType = "webauthn"
)
