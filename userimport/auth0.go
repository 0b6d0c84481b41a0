package userimport

import (
	"cmp"
	"io"
	"iter"
	"strings"
)

// Auth0 reads JSON lines of Auth0: the export of password hashes, which Auth0 makes on
// request, the job that exports users, or lines that have the members of both, as the guide
// shows how to make them. The former have passwordHash and no name; the latter have no
// hash.
//
// Accounts at providers are those of identities, under the ids of package provider:
// google-oauth2 is google. A user who is blocked is banned. Users with an entry in
// multifactor must enrol a second factor, since an export does not have theirs.
//
// https://support.auth0.com/center/s/article/How-to-Use-the-Password-Hashes-Export-from-Auth0
// https://auth0.com/docs/manage-users/user-migration/bulk-user-exports
func Auth0(r io.Reader) iter.Seq2[*User, error] {
	return eachRecord(r, "", func(rec record) (*User, *LineError) {
		var line struct {
			OID struct {
				OID string `json:"$oid"`
			} `json:"_id"`
			AltID         string   `json:"alt_id"`
			UserID        word     `json:"user_id"`
			Email         string   `json:"email"`
			EmailVerified *flag    `json:"email_verified"`
			PasswordHash  string   `json:"passwordHash"`
			Name          string   `json:"name"`
			Picture       string   `json:"picture"`
			Blocked       flag     `json:"blocked"`
			Multifactor   []string `json:"multifactor"`
			CreatedAt     moment   `json:"created_at"`
			Identifiers   []struct {
				Type     string `json:"type"`
				Value    string `json:"value"`
				Verified *flag  `json:"verified"`
			} `json:"identifiers"`
			Identities []struct {
				Provider string `json:"provider"`
				UserID   word   `json:"user_id"`
			} `json:"identities"`
		}
		if err := rec.decode(&line); err != nil {
			return nil, err
		}
		u := &User{
			Number: rec.number, ID: string(line.UserID), Email: line.Email, Name: line.Name, Image: line.Picture,
			Password: line.PasswordHash, CreatedAt: line.CreatedAt.Time, BannedUntil: forever(bool(line.Blocked)),
			MustEnrol: len(line.Multifactor) > 0,
		}
		if bool(line.Blocked) {
			u.BanReason = "blocked in Auth0"
		}
		if id := cmp.Or(line.AltID, line.OID.OID); u.ID == "" && id != "" {
			u.ID = "auth0|" + id
		}
		proven := line.EmailVerified
		for _, identifier := range line.Identifiers {
			if identifier.Type != "email" {
				continue
			}
			if u.Email = cmp.Or(u.Email, identifier.Value); proven == nil && strings.EqualFold(u.Email, identifier.Value) {
				proven = identifier.Verified
			}
		}
		u.EmailVerified = verified{on: proven != nil && bool(*proven)}.since(u.CreatedAt)
		u.Unverified = proven != nil && !bool(*proven)
		for _, identity := range line.Identities {
			if identity.Provider == "auth0" || identity.Provider == "" {
				continue
			}
			u.Accounts = append(u.Accounts, Account{Provider: fromAuth0(identity.Provider), ID: string(identity.UserID)})
		}
		return u, nil
	})
}

// fromAuth0 returns the id that package provider has for a strategy of Auth0.
func fromAuth0(strategy string) string {
	switch strategy {
	case "google-oauth2":
		return "google"
	case "waad":
		return "microsoft-entra-id"
	}
	return strategy
}
