package userimport

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/userrule"
	"github.com/pintleauth/pintle/password"
)

const (
	maxText     = 255 // bytes of an id, as in package accountstore
	maxImage    = 2048
	maxAccounts = 50
)

// An entry is a user of the source, ready to be stored, unless the status is Refused.
type entry struct {
	outcome  Outcome
	user     pintle.User
	state    accountstore.State
	password string
	totp     []byte
	accounts []Account
	factorAt time.Time
	keepID   string // the id to propose, or ""

	rolesLeft, providersLeft []string
}

// refuse makes the entry one that is not stored.
func (e *entry) refuse(reason string) {
	e.outcome.Status, e.outcome.Reason = Refused, reason
}

// prepare checks a user. An error ends the import.
func (im *importing) prepare(u *User) (*entry, error) {
	e := &entry{outcome: Outcome{Number: u.Number, Status: Stored, OldID: visible(u.ID, maxText)}}
	email, reason := checkAddress(u.Email)
	if reason != "" {
		e.refuse(reason)
		return e, nil
	}
	e.outcome.Email = email
	created := im.within(cmp.Or(unixOrZero(u.CreatedAt), im.now))
	e.factorAt = created
	if im.o.KeepIDs {
		if !isID(u.ID) {
			e.refuse("no usable id")
			return e, nil
		}
		e.keepID = u.ID
	}
	e.user = pintle.User{ID: e.keepID, Email: email, Name: visible(u.Name, userrule.MaxName), Image: picture(u.Image)}
	switch {
	case !u.EmailVerified.IsZero():
		e.user.EmailVerified = im.within(u.EmailVerified)
	case im.o.AllVerified && !u.Unverified:
		e.user.EmailVerified = created
	}
	e.state = accountstore.State{Created: created}
	if u.BannedUntil.After(im.now) {
		e.state.BannedUntil = u.BannedUntil.UTC().Truncate(time.Millisecond)
		if e.state.BannedUntil.After(accountstore.Forever) {
			e.state.BannedUntil = accountstore.Forever
		}
		e.state.BanReason = visible(u.BanReason, userrule.MaxReason)
	}
	var missing []string
	if reason := e.takePassword(u); reason != "" {
		missing = append(missing, reason)
	}
	reason, err := im.takeTOTP(e, u)
	if err != nil {
		return nil, err
	}
	if e.outcome.Status == Refused {
		return e, nil
	}
	if reason != "" {
		missing = append(missing, reason)
	}
	var must []string
	if u.MustChangePassword && e.password != "" {
		must = append(must, "password")
	}
	if (u.MustEnrol || u.TOTP != nil) && e.totp == nil {
		must = append(must, "enrol")
	}
	e.state.Must = strings.Join(must, " ")
	if len(missing) > 0 {
		e.outcome.Status, e.outcome.Reason = Partial, strings.Join(missing, "; ")
		if !im.o.Partial {
			e.outcome.Status = Refused
		}
	}
	if e.outcome.Status == Refused {
		return e, nil
	}
	if reason := im.takeRoles(e, u.Roles); reason != "" {
		e.refuse(reason)
	} else if reason := im.takeAccounts(e, u.Accounts); reason != "" {
		e.refuse(reason)
	}
	return e, nil
}

// checkAddress returns an address as the sign-in flows write it.
func checkAddress(typed string) (email, reason string) {
	if strings.TrimSpace(typed) == "" {
		return "", "no address"
	}
	email, err := address.Normalize(typed)
	switch {
	case err != nil, strings.ContainsRune(email, utf8.RuneError), strings.Contains(typed, ","):
		// Normalize drops what follows a comma, which here would be another address.
		return "", "the address is not one"
	case len(email) > userrule.MaxAddress:
		return "", "the address has more than 254 bytes"
	}
	return email, ""
}

// takePassword returns why the password is missing.
func (e *entry) takePassword(u *User) (reason string) {
	err := u.PasswordError
	if err == nil {
		e.password, err = password.Import(u.Password)
	}
	if err != nil {
		e.password = ""
		return "password: " + strings.TrimPrefix(strings.TrimSuffix(err.Error(), ": "+password.ErrHash.Error()), "password: ")
	}
	return ""
}

// takeTOTP returns why the app is missing. An app of a user whose address is proven is never
// left out: the password alone would sign in. A user whose app is left out has to add one.
func (im *importing) takeTOTP(e *entry, u *User) (reason string, err error) {
	switch {
	case u.TOTP == nil:
		return "", nil
	case len(u.TOTP) < 10 || len(u.TOTP) > 128:
		e.refuse("the secret of the authenticator app does not have 10 to 128 bytes")
		return "", nil
	case e.user.EmailVerified.IsZero():
		// An attacker who has signed up with the address of another user would keep that
		// user out of the account.
		return "authenticator app: the address is not proven, so the user adds one at the next sign-in", nil
	case im.sealer == nil:
		return "", errors.New("userimport: the source has secrets of authenticator apps: set Options.Secrets to those of the configuration, or AUTH_SECRET for pintle users import")
	}
	e.totp = u.TOTP
	return "", nil
}

// takeRoles returns why the user is refused.
func (im *importing) takeRoles(e *entry, roles []string) (reason string) {
	for _, role := range roles {
		name := role
		if im.o.Roles != nil {
			if name = im.o.Roles[role]; name == "" {
				e.rolesLeft = append(e.rolesLeft, visible(role, maxText))
				continue
			}
		}
		if !userrule.IsRole(name) {
			return "a role is not " + userrule.RoleForm
		}
		if !slices.Contains(e.state.Roles, name) {
			e.state.Roles = append(e.state.Roles, name)
		}
	}
	if len(e.state.Roles) > userrule.MaxRoles {
		return "more than 32 roles"
	}
	return ""
}

// oidc are the providers of package provider whose accounts have the type oidc, among those
// that other systems have built in.
var oidc = []string{"apple", "google", "linkedin", "microsoft-entra-id", "slack", "twitch", "keycloak", "auth0", "okta"}

// takeAccounts returns why the user is refused.
func (im *importing) takeAccounts(e *entry, accounts []Account) (reason string) {
	for _, a := range accounts {
		if im.o.Providers != nil {
			named := a.Provider
			if a.Provider = im.o.Providers[named]; a.Provider == "" {
				e.providersLeft = append(e.providersLeft, visible(named, maxText))
				continue
			}
		}
		switch {
		case a.Type == "" && slices.Contains(oidc, a.Provider):
			a.Type = pintle.TypeOIDC
		case a.Type == "":
			a.Type = pintle.TypeOAuth
		case a.Type != pintle.TypeOAuth && a.Type != pintle.TypeOIDC:
			return "a linked account has another type than oauth and oidc"
		}
		if !isID(a.Provider) || !isID(a.ID) {
			return "a linked account without a usable provider and id"
		}
		same := func(b Account) bool { return a.Provider == b.Provider && a.ID == b.ID }
		if !slices.ContainsFunc(e.accounts, same) {
			e.accounts = append(e.accounts, a)
		}
	}
	if len(e.accounts) > maxAccounts {
		return "more than 50 linked accounts"
	}
	return ""
}

// isID reports whether a text can be an id of a provider or of an account.
func isID(text string) bool {
	return text != "" && len(text) <= maxText && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// visible removes what would make one text look like another or move the cursor of a
// terminal, and cuts it.
func visible(text string, limit int) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "")))
	if runes := []rune(text); len(runes) > limit {
		text = strings.TrimSpace(string(runes[:limit]))
	}
	return text
}

// picture returns the URL of a picture that browsers may load.
func picture(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(text) > maxImage {
		return ""
	}
	return u.String()
}

// firstDay is the first time that stores keep apart from none.
var firstDay = time.UnixMilli(1).UTC()

// within returns a time that a store can keep and that is not in the future.
func (im *importing) within(t time.Time) time.Time {
	switch t = t.UTC().Truncate(time.Millisecond); {
	case t.Before(firstDay):
		return firstDay
	case t.After(im.now):
		return im.now
	}
	return t
}

// unixOrZero returns no time for one that systems write if they have none, such as that of
// the year 1.
func unixOrZero(t time.Time) time.Time {
	if t.Before(firstDay) {
		return time.Time{}
	}
	return t
}
