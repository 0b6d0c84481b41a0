package userimport

import (
	"encoding/base32"
	"errors"
	"io"
	"iter"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
)

// JSONLines reads users that a program of yours has written, one JSON object a line:
//
//	{"email":"ada@example.com","name":"Ada","emailVerified":"2024-05-01T10:00:00Z","password":"$2b$10$…"}
//
// Only email is required. The members are
//
//   - id: the id in the other system, a text or a number
//   - email, name, image
//   - emailVerified: when the address was verified, or true or false. Times are texts of RFC
//     3339, or numbers of seconds or milliseconds since 1970
//   - roles: an array of texts
//   - password: a hash that password.Import accepts
//   - totp: the secret of an authenticator app in base32, or its URI otpauth://totp/…
//   - accounts: an array of objects with provider, providerAccountId and, if need be, type
//   - mustChangePassword, mustEnrol: true or false
//   - bannedUntil: a time, or true for a ban that does not end; banReason
//   - createdAt
//
// Other members are refused: a misspelled "bannedUntil" would be no ban. A file with a single
// array of these objects is read, too.
func JSONLines(r io.Reader) iter.Seq2[*User, error] {
	return eachRecord(r, "", func(rec record) (*User, *LineError) {
		var line struct {
			ID                 word     `json:"id"`
			Email              string   `json:"email"`
			Name               string   `json:"name"`
			EmailVerified      verified `json:"emailVerified"`
			Image              string   `json:"image"`
			Roles              []string `json:"roles"`
			Password           string   `json:"password"`
			TOTP               string   `json:"totp"`
			MustChangePassword flag     `json:"mustChangePassword"`
			MustEnrol          flag     `json:"mustEnrol"`
			BannedUntil        verified `json:"bannedUntil"`
			BanReason          string   `json:"banReason"`
			CreatedAt          moment   `json:"createdAt"`
			Accounts           []struct {
				Provider string `json:"provider"`
				ID       word   `json:"providerAccountId"`
				Type     string `json:"type"`
			} `json:"accounts"`
		}
		if err := rec.decodeStrict(&line); err != nil {
			return nil, err
		}
		u := &User{
			Number: rec.number, ID: string(line.ID), Email: line.Email, Name: line.Name, Image: line.Image, Roles: line.Roles,
			EmailVerified: line.EmailVerified.since(line.CreatedAt.Time), Unverified: line.EmailVerified.no, Password: line.Password,
			MustChangePassword: bool(line.MustChangePassword), MustEnrol: bool(line.MustEnrol),
			BannedUntil: line.BannedUntil.at, BanReason: line.BanReason, CreatedAt: line.CreatedAt.Time,
		}
		if line.BannedUntil.on && u.BannedUntil.IsZero() {
			u.BannedUntil = forever(true)
		}
		for _, a := range line.Accounts {
			u.Accounts = append(u.Accounts, Account{Provider: a.Provider, ID: string(a.ID), Type: pintle.ProviderType(a.Type)})
		}
		if line.TOTP != "" {
			secret, err := totpSecret(line.TOTP)
			if err != nil {
				return nil, &LineError{rec.number, err.Error()}
			}
			u.TOTP = secret
		}
		return u, nil
	})
}

// eachRecord yields the users that read makes of the records of JSON. A record of which it
// makes neither a user nor an error is none.
func eachRecord(r io.Reader, member string, read func(record) (*User, *LineError)) iter.Seq2[*User, error] {
	return func(yield func(*User, error) bool) {
		for rec, err := range records(r, member) {
			if err != nil {
				yield(nil, err)
				return
			}
			u, line := read(rec)
			switch {
			case line != nil:
				if !yield(nil, line) {
					return
				}
			case u != nil:
				if !yield(u, nil) {
					return
				}
			}
		}
	}
}

var errTOTP = errors.New("the secret of the authenticator app is not base32 of codes with SHA-1, six digits and 30 seconds")

// totpSecret decodes the secret of an authenticator app, in base32 or in its URI.
//
// https://github.com/google/google-authenticator/wiki/Key-Uri-Format
func totpSecret(text string) ([]byte, error) {
	if strings.HasPrefix(strings.ToLower(text), "otpauth:") {
		u, err := url.Parse(text)
		if err != nil || !strings.EqualFold(u.Host, "totp") {
			return nil, errTOTP
		}
		q := u.Query()
		for name, only := range map[string]string{"algorithm": "SHA1", "digits": "6", "period": "30"} {
			if given := q.Get(name); given != "" && !strings.EqualFold(given, only) {
				return nil, errTOTP
			}
		}
		text = q.Get("secret")
	}
	text = strings.ToUpper(strings.TrimRight(strings.NewReplacer(" ", "", "-", "").Replace(text), "="))
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	if err != nil || len(secret) == 0 || strings.ContainsAny(text, "\r\n") {
		return nil, errTOTP
	}
	return secret, nil
}
