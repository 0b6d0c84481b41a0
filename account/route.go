package account

import (
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// A route is a page and its form. docs/sign-up.md describes the JSON form.
type route struct {
	name string

	// who is what a request needs: nothing, a session, or a session whose user has
	// proven who they are lately.
	who access

	// confirms reports that the route also serves a session that its user has to confirm
	// before it can be used: see asksShared.
	confirms bool

	// takesPassword reports that the form has a field for the password of the user. For a user
	// without a second factor it is the proof of forProven: see visit.lacks.
	takesPassword bool

	// upload is the size limit of a multipart form, in bytes. Zero accepts none.
	upload int64

	// data reports that the answer is JSON, whatever the request prefers.
	data bool

	// acting reports that an operator who acts as the user sees the page. No operator sends
	// its form.
	acting bool

	// flow is the kind of what the form begins, or of the sign-in that waits for it. Forms that
	// continue a flow of the browser have the kind of that one. It is for the activity.
	flow string

	// show makes the page, and do what its form asks for; do returns where to go next.
	// Neither of them knows whether a browser or a script asks. A GET changes nothing
	// that is stored.
	show func(*visit) (*view, error)
	do   func(*visit) (next string, err error)

	// give is a do that answers with a file.
	give func(*visit) (*view, error)
}

type access int

const (
	forAnyone access = iota
	forUsers
	forProven // see accountDemand
)

// A view is what a page shows, and what a script gets instead.
type view struct {
	page page.FormPage
	data map[string]any
	file *file  // instead of both
	goTo string // where the browser goes instead
}

// A file is an attachment. An empty kind is plain text.
type file struct{ name, kind, text string }

func (a *Accounts) allRoutes() map[string]*route {
	all := map[string]*route{}
	for _, r := range []*route{
		{name: "", who: forUsers, acting: true, show: (*visit).showAccount},
		{name: "me", who: forUsers, acting: true, data: true, show: (*visit).showMe},
		{name: stopActingRoute, do: (*visit).stopActing},

		{name: "sign-up", flow: signUpKind.name, show: (*visit).showSignUp, do: (*visit).signUp},
		{name: "sign-up-sent", show: (*visit).showSignUpSent, do: (*visit).proveSignUp},
		{name: "sign-up-finish", show: (*visit).showSignUpFinish, do: (*visit).finishSignUp},
		{name: "sign-up-options", data: true, show: (*visit).signUpOptions},

		{name: "address-choice", do: (*visit).chooseAddress},

		{name: "forgot", flow: resetKind.name, show: (*visit).showForgot, do: (*visit).forgot},
		{name: "forgot-sent", show: (*visit).showForgotSent},
		{name: "reset", show: (*visit).showReset, do: (*visit).reset},
		{name: "reset-options", data: true, show: (*visit).resetOptions},
		{name: "password", who: forProven, takesPassword: true, show: (*visit).showPassword, do: (*visit).changePassword},
		{name: "must-change", flow: "must-change", show: (*visit).showMustChange, do: (*visit).mustChange},
		{name: "address-lost", show: (*visit).showLost, do: (*visit).knowLost},
		{name: "prove", flow: proveKind.name, show: (*visit).showProve, do: (*visit).prove},

		{name: "address", who: forProven, flow: addressKind.name, show: (*visit).showAddress, do: (*visit).beginAddress},
		{name: "address-finish", show: (*visit).showAddressFinish, do: (*visit).finishAddress},
		{name: "address-cancel", who: forUsers, do: (*visit).cancelAddress},
		{name: "address-undo", show: (*visit).showUndo, do: (*visit).undoAddress},
		{name: "address-undo-options", data: true, show: (*visit).undoOptions},

		{name: "profile", who: forUsers, acting: true, show: (*visit).showProfile, do: (*visit).changeProfile},
		{name: "picture", who: forUsers, acting: true, upload: maxPicture + maxBesidePicture, show: (*visit).showProfile, do: (*visit).changePicture},
		{name: "passkeys", who: forUsers, acting: true, show: (*visit).showPasskeys},
		{name: "passkey", who: forUsers, show: (*visit).showPasskeys, do: (*visit).changePasskey},
		{name: "accounts", who: forUsers, acting: true, show: (*visit).showLinked},
		{name: "unlink", who: forProven, do: (*visit).unlinkAccount},
		{name: "devices", who: forUsers, acting: true, show: (*visit).showDevices},
		{name: "end-devices", who: forUsers, do: (*visit).endDevices},
		{name: "data", who: forUsers, acting: true, show: (*visit).showData},

		{name: "delete", who: forProven, show: (*visit).showDelete, do: (*visit).beginDeletion},
		{name: "keep", flow: "keep", show: (*visit).showKeep, do: (*visit).keep},

		{name: "export", who: forProven, show: (*visit).showExport, give: (*visit).exportData},

		{name: "second-factor", flow: secondKind.name, show: (*visit).showSecondFactor, do: (*visit).secondFactor},
		{name: "second-factor-options", data: true, show: (*visit).secondOptions},
		{name: "enrol", flow: enrolKind.name, show: (*visit).showEnrol, do: (*visit).enrol},
		{name: "totp", who: forProven, flow: totpKind.name, show: (*visit).showTOTP, do: (*visit).addTOTP},
		{name: "activity", who: forUsers, acting: true, show: (*visit).showActivity},
		{name: "factors", who: forUsers, acting: true, show: (*visit).showFactors},
		{name: "factor", who: forUsers, show: (*visit).showFactors, do: (*visit).changeFactor},
		{name: "remembered", who: forUsers, show: (*visit).showFactors, do: (*visit).forgetBrowsers},
		{name: "recovery-codes", who: forProven, show: (*visit).showRecoveryCodes, do: (*visit).makeRecoveryCodes},
		{name: "confirm", who: forUsers, confirms: true, flow: confirmKind.name, show: (*visit).showConfirm, do: (*visit).confirm},
		{name: "confirm-options", who: forUsers, confirms: true, data: true, show: (*visit).passkeyOptions},
	} {
		all[r.name] = r
	}
	if a.o.Deletion.Off {
		delete(all, "delete")
	}
	if a.o.Export.Off {
		delete(all, "export")
	}
	if a.o.Activity.Off {
		delete(all, "activity")
	}
	drop := func(unless bool, names ...string) {
		for _, name := range names {
			if !unless {
				delete(all, name)
			}
		}
	}
	drop(!a.o.Passwords.Off, passwordRoutes...)
	drop(!a.o.AddressChange.Off, addressRoutes...)
	drop(a.o.Pictures.Store != nil, "picture")
	drop(len(a.passkeys) > 0, "passkeys", "passkey")
	drop(len(a.linkable) > 0, "accounts", "unlink")
	drop(!a.o.Deletion.Off || !a.o.Export.Off, "data")
	return all
}

// A handler answers the requests of the routes.
type handler struct{ *Accounts }

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.serve(w, r) }

// MaxUpload returns the size limit of a multipart form that is posted to a page: see
// [pintle.Accounts].
func (h handler) MaxUpload(name string) int64 {
	if r := h.routes[name]; r != nil {
		return r.upload
	}
	return 0
}

// HasPage reports whether there is a page with a name: see [pintle.Accounts].
func (h handler) HasPage(name string) bool { return h.routes[name] != nil }

// serve answers a request below the path of accounts. The root has checked the address,
// the form token and the sender.
func (a *Accounts) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), a.site.base+"/account"), "/")
	v, err := a.visit(w, r)
	if err != nil {
		v.fail(err)
		return
	}
	v.route = a.routes[name]
	if err := v.lookAtActing(); err != nil { //nolint:contextcheck // v has that of the request
		v.fail(err)
		return
	}
	if v.route == nil {
		v.fail(problemOf("not_found"))
		return
	}
	v.json = v.json || v.route.data
	switch {
	case r.Method == http.MethodPost && (v.route.do != nil || v.route.give != nil):
		v.post() //nolint:contextcheck // admit makes it from that of the request
	case r.Method != http.MethodPost && v.route.show != nil:
		v.get() //nolint:contextcheck // admit makes it from that of the request
	default:
		allow := "GET, HEAD"
		if v.route.do != nil || v.route.give != nil {
			allow = "POST"
		}
		w.Header().Set("Allow", allow)
		v.status = http.StatusMethodNotAllowed
		v.fail(problemOf("invalid"))
	}
}

func (v *visit) get() {
	if err := v.admit(); err != nil {
		v.fail(err)
		return
	}
	if own := v.ownPage(); own != "" {
		v.redirect(own)
		return
	}
	shown, err := v.route.show(v)
	if isProblem(err, "address_unproved") && !v.json {
		v.redirect(v.toProof()) // the navigation leads here
		return
	}
	if err != nil {
		v.fail(err)
		return
	}
	v.write(shown)
}

// toProof is the page on which the user proves the address, with the way back to this one.
func (v *visit) toProof() string {
	return withQuery(v.site.path("prove"), "callbackUrl", v.onWith(v.route.name))
}

func (v *visit) post() {
	v.inFlow(v.route.flow)
	err := v.onlyUser()
	if err == nil {
		err = v.admit()
	}
	if err == nil && v.route.give != nil {
		var given *view
		if given, err = v.route.give(v); err == nil {
			v.write(given)
			return
		}
	} else if err == nil {
		var next string
		if next, err = v.route.do(v); err == nil {
			v.leave(next)
			return
		}
	}
	v.noteFailure(err)
	// What was entered is wrong: the page is shown again, with what to change.
	if p := asProblem(err); p.again && v.route.show != nil && !v.json {
		if own := v.ownPage("error", p.code); own != "" {
			v.redirect(own)
			return
		}
		v.problem = p
		if shown, again := v.route.show(v); again == nil {
			v.status = p.status
			maps.Copy(v.w.Header(), p.header)
			v.write(shown)
			return
		}
	}
	v.fail(err)
}

// cookieSession returns the session of the browser. One in the header Authorization is
// that of a program: pages of accounts set cookies, and are for browsers.
func (v *visit) cookieSession() (*pintle.Session, error) { return v.sessionOf(v.r) }

func (v *visit) sessionOf(r *http.Request) (*pintle.Session, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	return v.auth.Session(r)
}

// user returns the user of the session as the store has it.
func (v *visit) user() (*pintle.User, error) {
	if v.stored != nil {
		return v.stored, nil
	}
	u, err := v.store.User(v.ctx, v.session.User.ID)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, problemOf("signed_out")
	}
	if err != nil {
		return nil, unavailable(err)
	}
	v.stored = u
	return u, nil
}
