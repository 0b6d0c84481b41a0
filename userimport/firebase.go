package userimport

import (
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/pintleauth/pintle/password"
)

// Firebase reads the JSON of "firebase auth:export users.json" or of
// "gcloud identity-platform". project has the password hash parameters of the console, and
// the application needs it in [password.Hasher].Firebase.
//
// A user who is disabled is banned. The command exports the accounts of Google, Facebook,
// Twitter and GitHub only, and no second factor. It leaves out the hashes that the project
// has imported itself and not replaced yet: these users have no password.
//
// https://firebase.google.com/docs/cli/auth
// https://github.com/firebase/firebase-tools/blob/main/src/accountExporter.ts
//
// [password.Hasher]: https://pkg.go.dev/github.com/pintleauth/pintle/password#Hasher
func Firebase(r io.Reader, project password.Firebase) iter.Seq2[*User, error] {
	return func(yield func(*User, error) bool) {
		if _, err := project.Import("", ""); err != nil {
			yield(nil, err)
			return
		}
		eachRecord(r, "users", func(rec record) (*User, *LineError) { return firebaseUser(rec, project) })(yield)
	}
}

func firebaseUser(rec record, project password.Firebase) (*User, *LineError) {
	var line struct {
		LocalID       string `json:"localId"`
		Email         string `json:"email"`
		EmailVerified *flag  `json:"emailVerified"`
		PasswordHash  string `json:"passwordHash"`
		Salt          string `json:"salt"`
		DisplayName   string `json:"displayName"`
		PhotoURL      string `json:"photoUrl"`
		CreatedAt     moment `json:"createdAt"`
		Disabled      flag   `json:"disabled"`
		MFAInfo       []any  `json:"mfaInfo"`
		Providers     []struct {
			ID    string `json:"providerId"`
			RawID string `json:"rawId"`
		} `json:"providerUserInfo"`
	}
	if err := rec.decode(&line); err != nil {
		return nil, err
	}
	u := &User{
		Number: rec.number, ID: line.LocalID, Email: line.Email, Name: line.DisplayName, Image: line.PhotoURL,
		CreatedAt: line.CreatedAt.Time, EmailVerified: verified{on: line.EmailVerified != nil && bool(*line.EmailVerified)}.since(line.CreatedAt.Time),
		Unverified:  line.EmailVerified != nil && !bool(*line.EmailVerified),
		BannedUntil: forever(bool(line.Disabled)), MustEnrol: len(line.MFAInfo) > 0,
	}
	if bool(line.Disabled) {
		u.BanReason = "disabled in Firebase"
	}
	if u.Password, u.PasswordError = project.Import(line.PasswordHash, line.Salt); u.PasswordError != nil && !errors.Is(u.PasswordError, password.ErrHash) {
		u.PasswordError = errors.New("the parameters of the project do not fit")
	}
	for _, p := range line.Providers {
		switch p.ID {
		case "password", "phone", "":
		case "microsoft.com":
			u.Accounts = append(u.Accounts, Account{Provider: "microsoft-entra-id", ID: p.RawID})
		default: // google.com, facebook.com
			u.Accounts = append(u.Accounts, Account{Provider: strings.TrimSuffix(p.ID, ".com"), ID: p.RawID})
		}
	}
	return u, nil
}
