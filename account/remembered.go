package account

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/page"
)

// A user who has given the second factor in a browser may tick that this browser is not asked
// for a while. It proves nothing: the session has the level of the first factor, and a demand
// of two factors asks.

// factorDevice is the kind of the rows of remembered browsers. [pintle.Auth.SignOutEverywhere]
// removes them, and so does every change that ends the sessions of a user.
const factorDevice = "device"

const (
	// rememberedFor counts from the proof. A sign-in in between does not extend it: a
	// thief of the browser and the password would otherwise never be asked.
	rememberedFor = 30 * 24 * time.Hour

	// maxRemembered is how many browsers a user has. A further one ends the oldest.
	maxRemembered = 10
)

// deviceKind is the cookie of a remembered browser: 256 random bits. It is not sealed, since the
// store has its hash.
var deviceKind = kind{life: rememberedFor, cookie: "pintle.device"}

// browserHash is what the store has of the token of a browser. Tenants may share a store, and
// the cookie of one is not that of another.
func (b *boxes) browserHash(token string) string {
	sum := sha256.Sum256([]byte("pintle remembered browser\x00" + b.tenant + "\x00" + token))
	return hex.EncodeToString(sum[:])
}

// rememberedRow returns the row of the browser of a visit among those of a user, or nil.
func (v *visit) rememberedRow(set *factors) *accountstore.Factor {
	token, sent := cookie.Get(v.r.Header, v.cookieName(deviceKind))
	if !sent {
		return nil
	}
	hash := v.boxes.browserHash(token)
	for _, row := range set.browsers {
		if subtle.ConstantTimeCompare([]byte(row.Secret), []byte(hash)) == 1 {
			return row
		}
	}
	return nil
}

// isRemembered reports whether a sign-in comes from a browser of its user that is not asked.
func (a *Accounts) isRemembered(ctx context.Context, p *pintle.PendingSignIn, set *factors) (bool, error) {
	if a.o.SecondFactor.Remember == nil {
		return false, nil
	}
	v := &visit{Accounts: a, r: p.Request}
	if v.rememberedRow(set) == nil {
		return false, nil
	}
	return a.o.SecondFactor.Remember(ctx, p)
}

// offersToRemember reports whether the page of the second factor has the tick.
func (v *visit) offersToRemember(p *pintle.PendingSignIn) (bool, error) {
	if v.o.SecondFactor.Remember == nil {
		return false, nil
	}
	may, err := v.o.SecondFactor.Remember(v.ctx, p)
	if err != nil {
		return false, unavailable(err)
	}
	return may, nil
}

func (v *visit) rememberInput() page.Input {
	return page.Input{Name: "remember", Label: v.word("remember"), Type: "checkbox", Checked: v.form["remember"] != ""}
}

// A rememberedBrowser is one that was just stored. Without its token, which only the answer
// has, the row is of no use.
type rememberedBrowser struct {
	row   *accountstore.Factor
	token string
}

// remember stores the browser of a sign-in before the sign-in is completed. A change that ends
// the sessions of the user ends the sign-in first and removes the rows then: if the sign-in
// is completed after that, it fails, and forgetAgain removes the row.
//
// The token is always a new one. The cookie of the request may be planted: an attacker who
// knows it would get past the second factor of this user.
func (v *visit) remember(s *secondStep) *rememberedBrowser {
	if v.form["remember"] == "" || !s.mayRemember {
		return nil
	}
	token, now := newToken(), time.Now().UTC().Truncate(time.Millisecond)
	b := &rememberedBrowser{&accountstore.Factor{
		UserID: s.pending.User.ID, Kind: factorDevice, ID: newToken()[:22], Secret: v.boxes.browserHash(token),
		Name: v.device(), Created: now, LastUsed: now, Expires: now.Add(rememberedFor),
	}, token}
	if err := v.rows.AddFactor(v.ctx, b.row); err != nil {
		v.log().ErrorContext(v.ctx, "pintle: browser not remembered", slog.String("code", codeIncomplete), slog.Any("error", err))
		return nil // the code is used up: the user signs in all the same
	}
	return b
}

// forgetAgain removes a browser whose sign-in was not completed.
func (v *visit) forgetAgain(b *rememberedBrowser) {
	err := v.rows.DeleteFactor(context.WithoutCancel(v.ctx), b.row.UserID, factorDevice, b.row.ID)
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		v.log().WarnContext(v.ctx, "pintle: row of a browser that is not remembered is still there", slog.String("code", codeIncomplete), slog.Any("error", err))
	}
}

// keepBrowser gives the browser its token, and ends those that are too many.
func (v *visit) keepBrowser(b *rememberedBrowser) {
	v.setCookie(v.cookieName(deviceKind), b.token, rememberedFor)
	v.note("device_remembered", b.row.UserID)
	set, err := v.factorsOf(v.ctx, b.row.UserID)
	if err == nil && len(set.browsers) > maxRemembered {
		for _, old := range set.browsers[:len(set.browsers)-maxRemembered] {
			if err = v.rows.DeleteFactor(v.ctx, old.UserID, factorDevice, old.ID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
				break
			}
			err = nil
		}
	}
	if err != nil {
		v.log().WarnContext(v.ctx, "pintle: a user has more remembered browsers than are permitted", slog.String("code", codeIncomplete), slog.Any("error", err))
	}
}

// currentBrowsers are the rows that can be used, the oldest first.
func currentBrowsers(rows []*accountstore.Factor) []*accountstore.Factor {
	now := time.Now()
	return slices.DeleteFunc(rows, func(row *accountstore.Factor) bool { return !row.Expires.After(now) || row.Secret == "" })
}

// describeBrowsers lists the remembered browsers of a user, for scripts.
func (v *visit) describeBrowsers(set *factors) []map[string]any {
	here, list := v.rememberedRow(set), []map[string]any{}
	for _, row := range set.browsers {
		list = append(list, map[string]any{
			"id": row.ID, "name": row.Name, "created": wireTime(row.Created), "expires": wireTime(row.Expires), "current": row == here,
		})
	}
	return list
}

// browserGroup are the browsers in which the user is not asked, and the forms to have them
// asked again.
func (v *visit) browserGroup(set *factors) page.Group {
	form := func(word string, pairs ...string) []page.Form {
		return []page.Form{{Action: v.site.path("remembered"), Button: v.word(word), Secondary: true, Hidden: hidden(pairs...)}}
	}
	g := page.Group{Heading: v.word("remembered")}
	for _, row := range set.browsers {
		title := page.Line{Value: row.Name}
		if row.Name == "" {
			title = page.Line{Before: v.word("browser")}
		}
		g.Rows = append(g.Rows, page.Row{
			Title: title, Icon: "devices", Lines: []page.Line{v.when("remembered_until", row.Expires)}, Forms: form("forget_browser", "id", row.ID),
		})
	}
	if len(set.browsers) > 1 {
		g.Forms = form("forget_browsers", "all", "1")
	}
	return g
}

// forgetBrowsers has one browser of the session's user asked again, or all of them. That needs
// no more than the session: it makes sign-ins harder.
func (v *visit) forgetBrowsers() (next string, err error) {
	u, set, err := v.ownFactors()
	if err != nil {
		return "", err
	}
	here, all := v.rememberedRow(set), v.form["all"] != ""
	at := slices.IndexFunc(set.browsers, func(row *accountstore.Factor) bool { return row.ID == v.form["id"] })
	removed := 1
	switch {
	case all:
		removed, err = v.rows.DeleteFactors(v.ctx, u.ID, []string{factorDevice}, nil)
	case at < 0:
		return "", problemOf("not_found")
	default:
		err = v.rows.DeleteFactor(v.ctx, u.ID, factorDevice, set.browsers[at].ID)
	}
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return "", unavailable(err)
	}
	if removed > 0 {
		v.note("device_forgotten", u.ID)
	}
	if here != nil && (all || here.ID == v.form["id"]) {
		v.clearCookie(deviceKind)
	}
	return v.onWith("factors", "notice", "asked_again"), nil
}
