package pintle

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/native"
	"github.com/pintleauth/pintle/providersession"
)

const (
	nativeCodePurpose = "pintle native code "
	consentPurpose    = "pintle native consent"

	maxNativeState = 1024
	s256Length     = 43 // of a SHA-256 in base64url
)

// Bounds of a code verifier.
//
// https://www.rfc-editor.org/rfc/rfc7636#section-4.1
const minVerifier, maxVerifier = 43, 128

// A nativeRequest is what an application asks for through the browser.
type nativeRequest struct{ client, redirect, challenge, method, response, state string }

// fields are those that the form of the page repeats.
func (q *nativeRequest) fields() []page.HiddenField {
	return []page.HiddenField{
		{Name: "client_id", Value: q.client},
		{Name: "redirect_uri", Value: q.redirect},
		{Name: "response_type", Value: q.response},
		{Name: "code_challenge", Value: q.challenge},
		{Name: "code_challenge_method", Value: q.method},
		{Name: "state", Value: q.state},
	}
}

// hashOf returns a hash of texts, each with its length before it.
func hashOf(parts ...string) string {
	var text []byte
	for _, part := range parts {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// readNativeRequest reads the request. No parameter may come twice: applications and
// servers differ in which one counts.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-3.1
func readNativeRequest(params query.Values) (*nativeRequest, error) {
	q := &nativeRequest{}
	for name, into := range map[string]*string{
		"client_id": &q.client, "redirect_uri": &q.redirect, "code_challenge": &q.challenge, "code_challenge_method": &q.method,
		"response_type": &q.response, "state": &q.state,
	} {
		var err error
		if *into, err = single(params, name); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// single returns the only value of a parameter, or "".
func single(params query.Values, name string) (value string, err error) {
	found := 0
	for _, p := range params {
		if p.Key == name {
			value = p.Value
			found++
		}
	}
	if found > 1 {
		return "", fmt.Errorf("the parameter %s comes %d times", name, found)
	}
	return value, nil
}

// application returns the application that may be answered. Without one nothing is sent
// to the address of the request.
func (x *exchange) application(q *nativeRequest) (*native.Application, error) {
	i := slices.IndexFunc(x.Native, func(a native.Application) bool { return a.ID == q.client })
	switch {
	case i < 0:
		return nil, fmt.Errorf("Config.Native has no application %s", clip.Quote(q.client))
	case !x.Native[i].Allows(q.redirect):
		return nil, fmt.Errorf("the application %s is not registered with the redirect_uri %s", q.client, clip.Quote(q.redirect))
	}
	return &x.Native[i], nil
}

// wrong returns what an application has to be told, or nil. A challenge is required: any
// program of the machine may read what a browser sends to an application.
func (q *nativeRequest) wrong() error {
	digest, err := base64.RawURLEncoding.Strict().DecodeString(q.challenge)
	switch {
	case q.response != "code":
		return errors.New("the response_type must be code")
	case q.method != "S256" || err != nil || len(q.challenge) != s256Length || len(digest) != sha256.Size:
		return errors.New("the code_challenge must be one of S256")
	case len(q.state) > maxNativeState:
		return errors.New("the state is too long")
	}
	return nil
}

// authorizeNative answers the route at which the browser of an application asks for a
// code. GET shows the page that asks the user, and POST has the answer.
func (x *exchange) authorizeNative() error {
	params := x.query
	if x.r.Method == http.MethodPost {
		var err error
		if params, err = query.Parse(string(x.sent)); err != nil {
			return &badRequest{http.StatusBadRequest, err}
		}
	}
	x.answer.noStore = true
	asked, err := readNativeRequest(params)
	if err != nil {
		return &badRequest{http.StatusBadRequest, err}
	}
	app, err := x.application(asked)
	if err != nil {
		return &badRequest{http.StatusBadRequest, err}
	}
	if err := asked.wrong(); err != nil {
		x.debug("application refused", "reason", err.Error())
		return x.toApplication(asked, "error", errorRequest)
	}
	here, err := x.sessions.present(x)
	if err != nil {
		return err
	}
	if x.r.Method == http.MethodPost {
		return x.consented(asked, app, here, params)
	}
	if here.user == nil {
		back := query.AppendValues(x.base+"/"+string(actionNative)+"/"+nativeAuthorize, asked.pairs())
		return x.redirect(query.Append(x.absolute(x.signInPagePath()), "callbackUrl", back))
	}
	// Another program cannot receive what is sent to an address that the operating
	// system has verified.
	//
	// https://www.rfc-editor.org/rfc/rfc8252#section-8.6
	if app.FirstParty && native.Claims(asked.redirect) {
		return x.giveCode(asked, app, here)
	}
	data := page.NativeData{
		Site: x.pageSite(), Application: app.Name, User: shownName(here.user), CSRFToken: x.pageToken(),
		Action: x.formAction("/" + string(actionNative) + "/" + nativeAuthorize),
		Fields: append(asked.fields(), page.HiddenField{Name: "consent", Value: sealed.Mark(x.jwtSecrets[0], consentPurpose, asked.consent(here.user))}),
	}
	return x.show(x.pages().Native(data))
}

func shownName(u *User) string {
	for _, name := range []string{u.Email, u.Name} {
		if name != "" {
			return name
		}
	}
	return u.ID
}

func (q *nativeRequest) pairs() (pairs query.Values) {
	for _, f := range q.fields() {
		if f.Value != "" {
			pairs.Add(f.Name, f.Value)
		}
	}
	return pairs
}

// consent is what the user of a page is asked for.
func (q *nativeRequest) consent(u *User) string {
	return hashOf(u.ID, q.client, q.redirect, q.challenge, q.state)
}

// consented reads the answer of the page. The user who has read it is still signed in: in
// another tab, another one may have signed in since.
func (x *exchange) consented(asked *nativeRequest, app *native.Application, here *presence, params query.Values) error {
	if err := x.requireOwnPage(); err != nil {
		return err
	}
	mark, err := single(params, "consent")
	if err != nil || here.user == nil || !sealed.HasMark(mark, x.jwtSecrets, consentPurpose, asked.consent(here.user)) {
		return fail(CodeAccessDenied, errors.New("the page was shown to another user, or for another request"))
	}
	if answer, err := single(params, "answer"); err != nil || answer != "yes" {
		x.debug("application refused by the user")
		return x.toApplication(asked, "error", errorDenied)
	}
	return x.giveCode(asked, app, here)
}

// tellApplication sends the browser on to the application for which the user was to sign in, if
// the host does not admit the user. The application would otherwise wait for an answer until its
// user gives up. Whoever cannot sign in for another reason may try again here.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
func (x *exchange) tellApplication(err error) {
	// A mail is refused alike for all reasons, and an outage is one of them.
	if e := classified(err); e.Code != CodeAccessDenied || e.RetryAfter > 0 || errors.Is(e, CodeStore) || x.confirming() {
		return
	}
	if x.action != actionSignIn && x.action != actionCallback && x.action != actionIDToken {
		return
	}
	if x.provider != nil && x.provider.linking != nil && x.provider.linking(x) {
		return // a user who is signed in wants another account, and no application
	}
	route := x.origin + x.base + "/" + string(actionNative) + "/" + nativeAuthorize + "?"
	raw, waits := strings.CutPrefix(x.callbackURL, route)
	if !waits {
		return
	}
	params, err := query.Parse(raw)
	if err != nil {
		return
	}
	asked, err := readNativeRequest(params)
	if err != nil {
		return
	}
	if _, err := x.application(asked); err != nil || asked.wrong() != nil {
		return
	}
	if x.action == actionCallback { // of another action they are those of another tab
		x.clearChecks()
	}
	if x.wantsJSON() {
		_ = x.json(http.StatusOK, map[string]string{"url": x.addressOf(asked, "error", errorDenied)}) // text always marshals
		return
	}
	_ = x.toApplication(asked, "error", errorDenied) // never fails
}

// toApplication sends the browser to the application, at an address that was checked.
func (x *exchange) toApplication(asked *nativeRequest, name, value string) error {
	x.answer.header = http.Header{"Referrer-Policy": {"no-referrer"}}
	return x.redirect(x.addressOf(asked, name, value))
}

// addressOf returns the address of the application with an answer.
func (x *exchange) addressOf(asked *nativeRequest, name, value string) string {
	pairs := query.Values{{Key: name, Value: value}}
	if asked.state != "" {
		pairs.Add("state", asked.state)
	}
	// The application learns which site has answered: RFC 9207.
	pairs.Add("iss", x.origin+x.base)
	return query.AppendValues(asked.redirect, pairs)
}

// A nativeCode is what a code has sealed. It is good as long as the store has the two rows
// that go with it: one for the code, and one among the sessions of the user, which ends
// with them.
type nativeCode struct {
	Secret string `json:"secret"` // finds the row of the code
	Client string `json:"client"`

	// Bound is the hash of client, address and challenge.
	Bound  string `json:"bound"`
	User   string `json:"user"`
	Marker string `json:"marker"`

	// Times are in Unix milliseconds, as in heldSignIn.
	Started  int64            `json:"started"`
	Time     int64            `json:"time"`
	Provider string           `json:"provider,omitempty"`
	Methods  []string         `json:"methods,omitempty"`
	Proofs   map[string]int64 `json:"proofs,omitempty"`
	sealed.Stamp
}

// giveCode sends the application a code for a session of the user. The session of the
// application is as old as that of the browser, and ends with the provider's as that does.
func (x *exchange) giveCode(asked *nativeRequest, app *native.Application, here *presence) error {
	d := &decision{user: here.user}
	var err error
	if x.tied {
		if d.carried, err = x.records.signIns(x.ctx, providersession.KeyOf(here.session.Token)); err != nil {
			return err
		}
	}
	if err := x.sessions.mark(&unitOfWork{records: x.records, x: x, ctx: x.ctx}, d); err != nil {
		return err
	}
	a := here.authentication
	if a.Started.IsZero() { // the table has no column for it
		a.Started, a.Time = x.began, x.began
	}
	code := &nativeCode{
		Client: app.ID, Bound: hashOf(asked.client, asked.redirect, asked.challenge), User: here.user.ID, Marker: d.marker,
		Started: a.Started.UnixMilli(), Time: a.Time.UnixMilli(), Provider: a.Provider, Methods: a.Methods, Proofs: map[string]int64{},
	}
	for method, at := range a.Proofs {
		code.Proofs[method] = at.UnixMilli()
	}
	if code.Secret, err = randomToken(); err != nil {
		return err
	}
	text, err := x.nativeCodes.Seal(code)
	if err != nil {
		return fmt.Errorf("seal the code: %w", err)
	}
	row := &Verification{
		Identifier: code.identifier(), Token: x.hashes.Tenant(x.Tenant).Sum(nativeCodePurpose + code.Secret),
		Expires: time.Now().Add(nativeCodeLife).UTC().Truncate(time.Millisecond),
	}
	if err := x.records.createVerification(x.ctx, row); err != nil {
		return err
	}
	x.debug("code given to an application")
	return x.toApplication(asked, "code", text)
}

func (c *nativeCode) identifier() string { return "pintle-native:" + c.Client }

// tokenForApplication answers the route at which an application exchanges a code. It has
// no cookies, and the answer sets none.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3
func (x *exchange) tokenForApplication() {
	err := x.exchangeNative()
	if refused, is := errors.AsType[*nativeRefusal](err); is {
		x.log.LogAttrs(x.ctx, slog.LevelInfo, "pintle: an application was refused",
			x.describe(slog.LevelInfo, &Error{Code: CodeInvalidCheck, Err: byClient(refused)})...)
		x.nativeError(http.StatusBadRequest, refused.code)
	} else if err != nil {
		x.logError(classified(err))
		x.nativeError(http.StatusServiceUnavailable, errorServer)
	}
}

// A nativeRefusal is a request of an application that gets no token, with the error of
// OAuth that it is told.
type nativeRefusal struct {
	code string
	err  error
}

func (e *nativeRefusal) Error() string { return e.err.Error() }

func refuseGrant(reason string) error { return &nativeRefusal{errorGrant, errors.New(reason)} }

// exchangeNative exchanges the code. It is used up before anything is compared: a wrong
// verifier gets no second try.
func (x *exchange) exchangeNative() error {
	form := map[string]string{}
	if x.r.Method != http.MethodPost || mediaType(x.r.Header.Get("Content-Type")) != typeForm {
		return &nativeRefusal{errorRequest, errors.New("the request is no POST of a form")}
	}
	params, err := query.Parse(string(x.sent))
	for _, name := range []string{"grant_type", "code", "client_id", "redirect_uri", "code_verifier"} {
		if err == nil {
			form[name], err = single(params, name)
		}
		if err == nil && form[name] == "" {
			err = fmt.Errorf("the parameter %s is missing", name)
		}
	}
	if err != nil {
		return &nativeRefusal{errorRequest, err}
	}
	if form["grant_type"] != "authorization_code" {
		return &nativeRefusal{"unsupported_grant_type", errors.New("the grant_type is another one")}
	}
	code := &nativeCode{}
	if err := x.nativeCodes.Open(form["code"], code); err != nil {
		return refuseGrant("the code " + err.Error())
	}
	row, err := x.useVerification(x.records, x.hashes.Tenant(x.Tenant), code.identifier(), nativeCodePurpose+code.Secret)
	switch {
	case err != nil:
		return err
	case row == nil:
		return refuseGrant("the code was used before")
	case !row.Expires.After(time.Now()):
		return x.dropCode(code, "the code was given more than a minute ago")
	case !code.isFor(form["client_id"], form["redirect_uri"], form["code_verifier"]):
		return x.dropCode(code, "the code was given for another application, address or code_verifier")
	}
	return x.startNative(code)
}

// isFor reports whether the application that has begun the sign-in exchanges the code.
func (c *nativeCode) isFor(client, redirect, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	bound := hashOf(client, redirect, base64.RawURLEncoding.EncodeToString(sum[:]))
	return len(verifier) >= minVerifier && len(verifier) <= maxVerifier &&
		subtle.ConstantTimeCompare([]byte(bound), []byte(c.Bound)) == 1
}

// dropCode removes what is left of a code that was used up, and refuses it.
func (x *exchange) dropCode(code *nativeCode, reason string) error {
	if _, err := x.sessions.unmark(x.ctx, &decision{marker: code.Marker}); err != nil {
		return err
	}
	return refuseGrant(reason)
}

// startNative begins the session of an application.
//
// The session is written, and then the mark of the code is removed. If the sessions of the
// user have ended since the user consented, the mark is gone, and the session goes, too.
func (x *exchange) startNative(code *nativeCode) error {
	user, err := x.records.user(x.ctx, code.User)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(x.Native, func(a native.Application) bool { return a.ID == code.Client })
	if user == nil || i < 0 {
		return x.dropCode(code, "the user or the application is gone")
	}
	a := Authentication{
		Started: time.UnixMilli(code.Started).UTC(), Time: time.UnixMilli(code.Time).UTC(), Provider: code.Provider, Methods: code.Methods,
		Proofs: map[string]time.Time{},
	}
	for method, at := range code.Proofs {
		a.Proofs[method] = time.UnixMilli(at).UTC()
	}
	d := &decision{user: user, authentication: a, marker: code.Marker, application: x.Native[i].Name}
	d.account = &Account{Type: TypeCredentials, Provider: a.Provider, ProviderAccountID: user.ID}
	if x.tied {
		if d.carried, err = x.records.signIns(x.ctx, providersession.KeyOf(code.Marker)); err != nil {
			return err
		}
	}
	err = x.beginSession(&unitOfWork{records: x.records, x: x, ctx: x.ctx}, d)
	if errors.Is(err, ErrNotFound) || errors.Is(err, errEndedAtProvider) {
		return x.dropCode(code, "the user is gone, or the provider has ended the session there")
	}
	if err != nil {
		return err
	}
	good, err := x.sessions.unmark(x.ctx, d)
	if err == nil && !good {
		err = refuseGrant("the sessions of the user have ended since the user consented")
	}
	if err != nil {
		_, undone := x.records.deleteSession(context.WithoutCancel(x.ctx), d.session.Token)
		return errors.Join(err, undone)
	}
	who := &arrival{
		by: byHost, user: user, account: d.account, authentication: a, unasked: true,
		provider: &provider{providerBase: providerBase{id: a.Provider}},
	}
	if x.given, err = x.giveSession(who, d); err != nil {
		return err
	}
	x.debug("code exchanged")
	return x.answerBearer()
}
