package account

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/page"
)

// stopActingRoute is the form that ends acting. The root lets it through.
const stopActingRoute = "stop-acting"

// StopActing ends that an operator acts as a user in the browser of r, and clears its cookie on w,
// with the header Clear-Site-Data, so that the browser keeps no page of the user.
// next is the ReturnTo of [ActOptions], and "/" if nobody acts. It does what the form of the
// banner does, for an application with a form of its own: call it before the response is
// written. The error has [CodeUnavailable] if the store does not answer.
//
// The form of the banner is better where it can be used. It also works after the time has
// passed, when [pintle.Auth.Load] rejects the forms of the application.
//
// The handler must protect itself against requests forged by other sites.
func (a *Accounts) StopActing(w http.ResponseWriter, r *http.Request) (next string, err error) {
	if a.auth == nil {
		return "", errors.New("account: StopActing was called before pintle.New has the Accounts as Config.Accounts")
	}
	v := a.visitOf(r)
	v.w = w
	next, err = v.stopActing()
	return next, v.toldError(err)
}

// stopActing ends it. It needs no session: the cookie names what ends, and the one of the
// operator may be over.
func (v *visit) stopActing() (next string, err error) {
	name := v.actingCookie(v.r)
	held, err := v.heldActing(v.ctx, v.r)
	if err == nil {
		err = v.endAllActing(v.ctx, held)
	}
	if err != nil {
		return "", asProblem(err)
	}
	if len(held) > 0 {
		next = held[0].payload.CallbackURL
	}
	if _, sent := cookie.Get(v.r.Header, name); sent {
		v.w.Header().Add("Set-Cookie", cookie.ClearLine(name, v.actingAttributes(name)))
		changeUser(v.w)
	}
	return cmp.Or(next, "/"), nil
}

// ActingBanner returns the banner of a page on which an operator acts as a user: who the user is,
// and a form that ends it. It is empty if nobody acts. Put it at the top of each page:
//
//	banner, err := accounts.ActingBanner(w, r)
//
// It is an element of the class pintle-acting, without a style, in the words of the built-in
// pages. The form needs the token of the browser, so a cookie may be set on w, and the page must
// be kept out of shared caches: call it before the response is written. The words are
// Texts.Account.Words "acting_as" and "acting_end".
func (a *Accounts) ActingBanner(w http.ResponseWriter, r *http.Request) (template.HTML, error) {
	if a.auth == nil {
		return "", errors.New("account: ActingBanner was called before pintle.New has the Accounts as Config.Accounts")
	}
	s := pintle.SessionFrom(r.Context())
	if s == nil || s.Actor == nil {
		return "", nil
	}
	v := a.visitOf(r)
	var err error
	if v.csrf, err = a.auth.CSRFToken(w, r); err != nil {
		return "", err
	}
	v.acting = s
	return v.pages.Banner(*v.actingBanner()), nil
}

// actingBanner is the banner of a page, or nil.
func (v *visit) actingBanner() *page.Acting {
	if v.acting == nil {
		return nil
	}
	u := &v.acting.User
	return &page.Acting{User: cmp.Or(u.Email, u.Name, u.ID), Action: v.site.path(stopActingRoute), CSRFToken: v.csrf}
}

// lookAtActing notes the session in which an operator acts as a user, if the request has the
// cookie of one.
func (v *visit) lookAtActing() error {
	if _, sent := cookie.Get(v.r.Header, v.actingCookie(v.r)); !sent || v.route != nil && v.route.name == stopActingRoute {
		return nil
	}
	// The root asks nothing of a session that is to be confirmed here.
	s, err := v.sessionOf(v.r.WithContext(context.WithValue(v.ctx, confirmingKey{}, true)))
	if err != nil {
		return sessionFault(err)
	}
	if s != nil && s.Actor != nil {
		v.acting = s
	}
	return nil
}

// sessionFault is the problem of a session that is not read.
func sessionFault(err error) error {
	if errors.Is(err, pintle.CodeActingEnded) {
		return problemOf("acting_ended")
	}
	return unavailable(err)
}

// onlyUser refuses a form of the account while an operator acts as its user.
func (v *visit) onlyUser() error {
	if v.acting == nil {
		return nil
	}
	n := entry{kind: actingRequest, userID: v.acting.User.ID, actor: v.acting.Actor.ID}
	held, _ := v.heldActing(v.ctx, v.r) // the record is worth more than its reason
	for _, f := range held {
		if f.Subject == n.userID && f.payload.Operator == n.actor {
			n = f.actingEntry(actingRequest)
		}
	}
	n.outcome = outcomeRefused
	v.Accounts.note(v.ctx, n)
	return problemOf("acting")
}
