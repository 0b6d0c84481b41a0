package userimport

import (
	"encoding/json"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/password"
)

// Keycloak reads a realm that "kc.sh export" has written, with its users in one file or in
// files of their own ("--users different_files"): call Import for each of these.
//
// The role names are those of the realm. The accounts at identity providers have the alias
// of the provider. A user who is not enabled is banned. An authenticator app with six digits,
// SHA-1 and 30 seconds is moved; users with another one, or with a security key, must enrol a
// second factor. The required actions UPDATE_PASSWORD, CONFIGURE_TOTP and VERIFY_EMAIL hold
// here as well. Service accounts are not users.
//
// https://www.keycloak.org/server/importExport
// https://www.keycloak.org/docs-api/latest/rest-api/index.html#UserRepresentation
func Keycloak(r io.Reader) iter.Seq2[*User, error] {
	return eachRecord(r, "users", func(rec record) (*User, *LineError) {
		var line struct {
			ID               string               `json:"id"`
			Email            string               `json:"email"`
			EmailVerified    *flag                `json:"emailVerified"`
			Enabled          flag                 `json:"enabled"`
			FirstName        string               `json:"firstName"`
			LastName         string               `json:"lastName"`
			CreatedTimestamp moment               `json:"createdTimestamp"`
			RequiredActions  []string             `json:"requiredActions"`
			RealmRoles       []string             `json:"realmRoles"`
			ServiceAccount   string               `json:"serviceAccountClientId"`
			Credentials      []keycloakCredential `json:"credentials"`
			Identities       []struct {
				Provider string `json:"identityProvider"`
				UserID   string `json:"userId"`
			} `json:"federatedIdentities"`
		}
		if err := rec.decode(&line); err != nil {
			return nil, err
		}
		if line.ServiceAccount != "" {
			return nil, &LineError{rec.number, "a service account"}
		}
		must := func(action string) bool { return slices.Contains(line.RequiredActions, action) }
		u := &User{
			Number: rec.number, ID: line.ID, Email: line.Email, Name: strings.TrimSpace(line.FirstName + " " + line.LastName),
			CreatedAt: line.CreatedTimestamp.Time, Roles: line.RealmRoles, BannedUntil: forever(!bool(line.Enabled)),
			EmailVerified:      verified{on: line.EmailVerified != nil && bool(*line.EmailVerified) && !must("VERIFY_EMAIL")}.since(line.CreatedTimestamp.Time),
			Unverified:         line.EmailVerified != nil && !bool(*line.EmailVerified) || must("VERIFY_EMAIL"),
			MustChangePassword: must("UPDATE_PASSWORD"), MustEnrol: must("CONFIGURE_TOTP"),
		}
		if !bool(line.Enabled) {
			u.BanReason = "not enabled in Keycloak"
		}
		for _, c := range line.Credentials {
			c.give(u)
		}
		for _, i := range line.Identities {
			u.Accounts = append(u.Accounts, Account{Provider: i.Provider, ID: i.UserID})
		}
		return u, nil
	})
}

// A keycloakCredential is a password, an authenticator app or a security key.
//
// https://www.keycloak.org/docs-api/latest/rest-api/index.html#CredentialRepresentation
type keycloakCredential struct {
	Type           string `json:"type"`
	SecretData     string `json:"secretData"`
	CredentialData string `json:"credentialData"`
	Temporary      flag   `json:"temporary"`
}

func (c *keycloakCredential) give(u *User) {
	switch c.Type {
	case "password":
		u.Password, u.PasswordError = password.ImportKeycloak(c.SecretData, c.CredentialData)
		u.MustChangePassword = u.MustChangePassword || bool(c.Temporary)
	case "otp":
		secret, ok := c.totp()
		switch {
		case ok && u.TOTP == nil:
			u.TOTP = secret
		case !ok:
			u.MustEnrol = true
		}
	case "kerberos":
	default: // webauthn, webauthn-passwordless, recovery-authn-codes, and those of extensions
		u.MustEnrol = true
	}
}

// totp returns the secret of an app. Keycloak uses the bytes of its text, unless the encoding
// is named.
//
// https://github.com/keycloak/keycloak/blob/main/server-spi/src/main/java/org/keycloak/models/credential/OTPCredentialModel.java
func (c *keycloakCredential) totp() (secret []byte, ok bool) {
	var data struct {
		Value string `json:"value"`
	}
	var kind struct {
		SubType   string `json:"subType"`
		Digits    int    `json:"digits"`
		Period    int    `json:"period"`
		Algorithm string `json:"algorithm"`
		Encoding  string `json:"secretEncoding"`
	}
	if json.Unmarshal([]byte(c.SecretData), &data) != nil || json.Unmarshal([]byte(c.CredentialData), &kind) != nil {
		return nil, false
	}
	if kind.SubType != "totp" || kind.Digits != 6 || kind.Period != 30 || kind.Algorithm != "HmacSHA1" {
		return nil, false
	}
	switch kind.Encoding {
	case "":
		secret = []byte(data.Value)
	case "BASE32":
		var err error
		if secret, err = totpSecret(data.Value); err != nil {
			return nil, false
		}
	}
	return secret, len(secret) >= 10 && len(secret) <= 128
}
