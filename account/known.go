package account

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/sealed"
)

// knownKind is the cookie of the users who have signed in in a browser. It has no flow, and
// decides about nothing but the mail about a new device: a copy of it silences that mail.
//
// 400 days are as long as browsers keep a cookie.
//
// https://www.rfc-editor.org/rfc/rfc6265bis#section-5.5
var knownKind = kind{life: 400 * 24 * time.Hour, cookie: "pintle.known"}

// maxKnown is how many users a browser is known for.
const maxKnown = 5

// A knownUsers is what the cookie has: keyed hashes of the ids of users, the last one to
// sign in first. A reader of the opened cookie learns no id.
type knownUsers struct {
	sealed.Expiry
	Users []string `json:"users"`
}

// knownPurpose keeps the hashes apart from those for other purposes.
const knownPurpose = "pintle account known user"

// knownUsers returns what the browser has. A cookie that does not open, or is too old, names
// no user.
func (v *visit) knownUsers() []string {
	name, known := v.cookieName(knownKind), &knownUsers{}
	text, sent := cookie.Get(v.r.Header, name)
	if !sent || v.boxes.cookies[name].Open(text, known) != nil {
		return nil
	}
	return known.Users
}

// isOf reports whether a hash is that of a user, also with a former secret.
func (b *boxes) isOf(userID string) func(hash string) bool {
	return func(hash string) bool { return sealed.HasMark(hash, b.secrets, knownPurpose, userID) }
}

// knownCookie is the cookie of a browser in which one more user has signed in.
func (v *visit) knownCookie(userID string, before []string) (*http.Cookie, error) {
	others := slices.DeleteFunc(slices.Clone(before), v.boxes.isOf(userID))
	users := append([]string{sealed.Mark(v.boxes.secrets[0], knownPurpose, userID)}, others...)
	name := v.cookieName(knownKind)
	text, err := v.boxes.cookies[name].Seal(&knownUsers{Users: users[:min(len(users), maxKnown)]})
	if err != nil {
		return nil, err
	}
	return &http.Cookie{ //nolint:gosec // Secure wherever the site has https
		Name: name, Value: text, Path: "/", MaxAge: int(knownKind.life / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.site.secure(v.r),
	}, nil
}

type signUpKey struct{}

// withSignUp marks a sign-in that is the end of a sign-up.
func withSignUp(ctx context.Context) context.Context {
	return context.WithValue(ctx, signUpKey{}, true)
}

// signedIn is what [pintle.Events].SignIn calls.
func (a *Accounts) signedIn(ctx context.Context, e *pintle.SignInEvent) error {
	a.noteSignIn(ctx, e)
	a.notePicture(ctx, e.User.ID, e.Account, e.ProviderUser)
	if e.SignedIn && !slices.Contains(a.o.Notices.Off, newDevice) {
		a.noteDevice(ctx, e)
	}
	if a.events.SignIn == nil {
		return nil
	}
	return a.events.SignIn(ctx, e)
}

// noteDevice mails a user who has signed in in a browser that is not known for it, and makes
// the browser known.
func (a *Accounts) noteDevice(ctx context.Context, e *pintle.SignInEvent) {
	v := a.visitOf(e.Request)
	before := v.knownUsers()
	known := slices.ContainsFunc(before, v.boxes.isOf(e.User.ID))
	isSignUp := e.NewUser != nil && *e.NewUser || ctx.Value(signUpKey{}) != nil
	if !known && !isSignUp {
		v.tellStored(context.WithoutCancel(ctx), newDevice, e.User.ID, "", "forgot")
	}
	c, err := v.knownCookie(e.User.ID, before)
	if err == nil {
		err = e.SetCookie(c)
	}
	v.logNotNoted(err)
}

// makeKnown makes the browser of a sign-up known. The sign-in that follows may be held for a
// second factor, and its end is another request.
func (v *visit) makeKnown(userID string) {
	if slices.Contains(v.o.Notices.Off, newDevice) {
		return
	}
	c, err := v.knownCookie(userID, v.knownUsers())
	if err == nil {
		http.SetCookie(v.w, c)
	}
	v.logNotNoted(err)
}

func (v *visit) logNotNoted(err error) {
	if err != nil {
		v.log().ErrorContext(v.ctx, "pintle: browser of a user not noted", slog.String("code", codeIncomplete), slog.Any("error", err))
	}
}
