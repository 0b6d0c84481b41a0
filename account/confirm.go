package account

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// The ways in which a signed-in user confirms who they are.
const (
	byPassword = "password"
	byTOTP     = "totp"
	byRecovery = "recovery"
	byMail     = "mail"
)

// wayWords are the words of the links to the ways.
var wayWords = map[string]string{
	byPassword: "use_password", byTOTP: "use_totp", byRecovery: "use_recovery_code", byMail: "use_mail", byPasskey: "use_passkey",
}

// A confirmation is what a signed-in user has to prove, and how they can.
type confirmation struct {
	demand Demand
	need   Level // of the demand

	// has is what the proofs reach already, and able what the user can reach.
	has, able Level

	// ways are those of the next step, the best one first. They may be empty: a user
	// of a provider of OAuth 2 alone signs in again, for a redirect through the provider
	// shows only that a browser has a session there.
	ways []string
	way  string // that was chosen

	passkey string // the id of the provider of the user's passkeys

	// codes reports that codes of the user prove a second factor: those of an app, or recovery codes.
	codes bool

	// mayEnrol reports that the user has no second factor, and can add one.
	mayEnrol bool
}

// offers reports whether a way is one of the next step.
func (c *confirmation) offers(way string) bool { return slices.Contains(c.ways, way) }

// confirmation reads what the request asks for, and what the user has.
func (v *visit) confirmation() (*confirmation, error) {
	c := &confirmation{demand: v.demanded()}
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	if c.need, err = v.levelFor(v.ctx, c.demand, u.ID); err != nil {
		return nil, err
	}
	facts := v.session.Authentication
	c.has = v.levelSince(facts, c.demand.since(0))
	if c.ways, err = v.waysFor(u, c); err != nil {
		return nil, err
	}
	if len(c.ways) > 0 {
		c.way = c.ways[0]
		if wanted := v.asked("method"); slices.Contains(c.ways, wanted) {
			c.way = wanted
		}
	}
	return c, nil
}

// demanded returns the demand that the request names. A client can name a weaker one and gains
// nothing: the page that has the demand checks the session again.
func (v *visit) demanded() Demand {
	level := levelNamed(v.asked("acr_values"))
	if level == 0 {
		return accountDemand
	}
	d := Demand{Level: level}
	const longest = 10 * 365 * 24 * 60 * 60
	if seconds, err := strconv.Atoi(v.asked("max_age")); err == nil && seconds > 0 && seconds <= longest {
		d.MaxAge = time.Duration(seconds) * time.Second
	}
	return d
}

// asked returns a field of the form, or a parameter of the query.
func (v *visit) asked(name string) string {
	if sent := v.form[name]; sent != "" {
		return sent
	}
	return queryOf(v.r.URL, name)
}

// waysFor returns the ways from which the user chooses the next proof, and notes what the
// user can reach. If the proofs of the session already have one factor that is fresh
// enough, only ways that add the other one are returned.
func (v *visit) waysFor(u *pintle.User, c *confirmation) ([]string, error) {
	_, hash, err := v.storedPassword(v.ctx, u)
	if err != nil {
		return nil, unavailable(err)
	}
	set, err := v.factorsOf(v.ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	keys, err := v.keyring(v.ctx, u.ID)
	if err != nil {
		return nil, err
	}
	var known, passkey, providers, codes, mail []string
	c.able = OneFactor
	if hash != "" {
		known = append(known, byPassword)
	} else if isProved(u) {
		// A mail shows less than a password: the mailbox is open on many devices.
		mail = append(mail, byMail)
	}
	var vouched []string // of the providers: those that may prove two factors
	for _, id := range keys.providers {
		providers = append(providers, byProvider+id)
		if v.isVouched(id) {
			c.able, vouched = TwoFactors, append(vouched, byProvider+id)
		}
	}
	if set.asked() && !v.o.SecondFactor.Off {
		c.able, codes = TwoFactors, append(codes, byTOTP)
	}
	if (set.asked() || keys.passkey != "") && len(set.recovery) > 0 && !v.o.SecondFactor.Off {
		c.able, codes = TwoFactors, append(codes, byRecovery)
	}
	if keys.passkey != "" {
		c.able, c.passkey, passkey = PhishingResistant, keys.passkey, []string{byPasskey}
	}
	c.codes = len(codes) > 0
	c.mayEnrol = len(codes)+len(passkey) == 0 && !v.o.SecondFactor.Off
	switch {
	case v.unconfirmed:
		// A password or a mail would make it a session that has passed the gate. A thief of
		// the password or the mailbox may have begun it at the other program.
		return slices.Concat(passkey, codes), nil
	case c.need > c.able:
		return nil, nil
	case c.need == OneFactor:
		return slices.Concat(known, passkey, providers, codes, mail), nil
	case c.need == PhishingResistant:
		return passkey, nil
	}
	if only := v.without(methodTOTP, methodRecovery); v.levelSince(only, c.demand.since(0)) > 0 {
		return slices.Concat(passkey, codes, vouched), nil
	}
	// The page offers first factors if the user has a second factor to confirm after that.
	// A passkey counts as the second factor after a password or a mail, even if it does not
	// verify its user.
	switch {
	case len(codes) > 0:
		return slices.Concat(passkey, known, providers, mail), nil
	case len(passkey) > 0:
		return slices.Concat(passkey, vouched, known, mail), nil
	}
	return vouched, nil
}

// without returns the facts of the session without some methods.
func (v *visit) without(methods ...string) pintle.Authentication {
	facts := v.session.Authentication
	kept := map[string]time.Time{}
	for method, at := range facts.Proofs {
		if !slices.Contains(methods, method) {
			kept[method] = at
		}
	}
	facts.Proofs = kept
	return facts
}

// showConfirm is the page on which a signed-in user proves who they are. It never sends
// the browser on by itself, so that two pages cannot send it to and fro.
func (v *visit) showConfirm() (*view, error) {
	c, err := v.confirmation()
	if err != nil {
		return nil, err
	}
	if v.backFromProvider(c) {
		if err := v.notBanned(v.session.User.ID); err != nil {
			return nil, err
		}
		return &view{goTo: v.wayBack()}, nil
	}
	p := v.newPage("confirm", "")
	data := map[string]any{"acr_values": c.need.andAbove(), "methods": c.ways, "confirmed": c.has >= c.need}
	if c.ways == nil {
		data["methods"] = []string{}
	}
	back := page.Link{URL: v.wayBack(), Text: v.pageText("confirm").Button}
	switch {
	case c.has >= c.need && v.problem == nil:
		p.Text, p.Links = page.Plain(v.word("confirmed")), []page.Link{back}
	case c.need > c.able && c.need == TwoFactors && c.mayEnrol:
		p.Text = page.Plain(v.word("needs_second_factor"))
		p.Links = []page.Link{v.link("totp", "add_totp", "callbackUrl", v.wayBack())}
	case len(c.ways) == 0:
		p.Text = page.Plain(v.word("sign_in_again"))
		p.Links = []page.Link{v.toSignIn()}
		toProof, err := v.claimLinks()
		if err != nil {
			return nil, err
		}
		if toProof != nil { // the session is all that leads to the account
			p.Text, p.Links = page.Plain(v.sentence("address_unproved", 0)), toProof
		}
	default:
		failed := v.failedProvider(c)
		if another := slices.IndexFunc(c.ways, func(way string) bool { return way != failed }); failed != "" && another >= 0 {
			c.way = c.ways[another]
		}
		if p.Forms, err = v.confirmForms(c); err != nil {
			return nil, err
		}
		for _, way := range c.ways {
			if way != c.way {
				pairs := append(v.confirmQuery(), "callbackUrl", v.wayBack(), "method", way)
				p.Links = append(p.Links, page.Link{URL: withQuery(v.site.path("confirm"), pairs...), Text: v.wayText(way, "use_provider")})
			}
		}
		p.Hint = v.lostHint(c)
		v.besideProviders(c, &p, failed)
	}
	return &view{page: p, data: data}, nil
}

// failedProvider returns the way by a provider that has just not confirmed the user, or "".
func (v *visit) failedProvider(c *confirmation) string {
	switch {
	case v.problem == nil || v.problem.code != "provider_failed":
		return ""
	case v.r.Method == http.MethodPost:
		return c.way
	}
	return byProvider + queryOf(v.r.URL, "from")
}

// besideProviders adds what a user can do whom only providers confirm, and they may not. It is the
// main button if nothing else is left. A provider may report one factor alone. And some never say
// when their user has signed in: a new sign-in is a proof all the same, as where the provider
// speaks OAuth 2 alone.
func (v *visit) besideProviders(c *confirmation, p *page.FormPage, failed string) {
	enrol, enrols := v.link("totp", "add_totp", "callbackUrl", v.wayBack()), c.need == TwoFactors && c.mayEnrol
	main := func(word string, link page.Link) {
		p.Groups = []page.Group{{Text: page.Plain(v.word(word)), Links: []page.Link{link}, Main: true}}
	}
	stuck := failed != "" && c.way == failed
	switch {
	case stuck && enrols:
		main("needs_second_factor", enrol)
	case stuck:
		main("sign_in_again", v.toSignIn())
	case enrols:
		p.Links = append(p.Links, enrol)
	}
	isOther := func(way string) bool { return !strings.HasPrefix(way, byProvider) }
	if failed != "" && (!stuck || enrols) && !slices.ContainsFunc(c.ways, isOther) {
		p.Hint, p.Links = v.word("sign_in_again"), append(p.Links, v.toSignIn())
	}
}

// lostHint says what a user does who cannot prove a second factor that the page asks for. Nothing that reads
// the mailbox helps: a thief of the mailbox would have the password as well.
func (v *visit) lostHint(c *confirmation) string {
	switch {
	case c.need == OneFactor && !v.unconfirmed:
		return ""
	case c.codes && c.need != PhishingResistant:
		return v.word("lost_factor")
	case c.passkey != "":
		return v.word("lost_passkey")
	}
	return ""
}

// toSignIn leads to the sign-in page and back.
func (v *visit) toSignIn() page.Link {
	return page.Link{URL: v.site.signIn("callbackUrl", v.wayBack()), Text: v.word("sign_in")}
}

// confirmQuery is the demand of the request, for the next one.
func (v *visit) confirmQuery() []string {
	return []string{"acr_values", v.asked("acr_values"), "max_age", v.asked("max_age")}
}

// confirmForms are the forms of the chosen way.
func (v *visit) confirmForms(c *confirmation) ([]page.Form, error) {
	var in page.Input
	if strings.HasPrefix(c.way, byProvider) {
		f := v.confirmForm(c.way)
		f.Button = v.wayText(c.way, "continue_with")
		return []page.Form{f}, nil
	}
	switch c.way {
	case byPasskey:
		return []page.Form{v.passkeyForm(c)}, nil
	case byPassword:
		in = v.currentPasswordInput("password")
	case byTOTP:
		in = v.totpInput()
	case byRecovery:
		in = v.recoveryInput()
	case byMail:
		send := v.confirmForm(c.way)
		send.Hidden = append(send.Hidden, page.HiddenField{Name: "again", Value: "1"})
		if _, _, err := v.mailedConfirm(); err != nil {
			send.Button = v.word("send_code")
			return []page.Form{send}, nil //nolint:nilerr // there is no code yet, or none that still works
		}
		send.Button, send.Secondary = v.word("again"), true
		return []page.Form{v.confirmForm(c.way, v.codeInput()), send}, nil
	}
	return []page.Form{v.confirmForm(c.way, in)}, nil
}

func (v *visit) confirmForm(way string, inputs ...page.Input) page.Form {
	f := v.formTo("confirm", "confirm", inputs...)
	f.Hidden = []page.HiddenField{{Name: "callbackUrl", Value: v.wayBack()}, {Name: "method", Value: way}}
	pairs := v.confirmQuery()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			f.Hidden = append(f.Hidden, page.HiddenField{Name: pairs[i], Value: pairs[i+1]})
		}
	}
	return f
}

// confirm takes a proof of the user of the session. It can sign no other user in: nothing
// in the form names one.
func (v *visit) confirm() (next string, err error) {
	c, err := v.confirmation()
	if err != nil {
		return "", err
	}
	if wanted := v.form["method"]; wanted != "" && wanted != c.way || c.way == "" {
		return "", problemOf("invalid") // a way that the user does not have, or not now
	}
	if c.way == byMail && v.form["again"] != "" {
		return v.mailConfirm()
	}
	if id, is := strings.CutPrefix(c.way, byProvider); is {
		return v.askProvider(id)
	}
	renewed, err := v.proof(c)
	if err != nil {
		return "", err
	}
	v.note("confirmed", renewed.User.ID, detailMethods, strings.Join(renewed.Authentication.Methods, " "))
	if v.levelSince(renewed.Authentication, c.demand.since(0)) < c.need {
		return withQuery(v.site.path("confirm"), append(v.confirmQuery(), "callbackUrl", v.wayBack())...), nil
	}
	return v.wayBack(), nil
}

// proof verifies one proof and records it in the session. What was proven before keeps its
// time.
func (v *visit) proof(c *confirmation) (renewed *pintle.Session, err error) {
	if c.way == byPasskey {
		return v.provePasskey(c)
	}
	method, err := v.prove1(c.way)
	if err != nil {
		return nil, err
	}
	return v.recordProof(method)
}

// prove1 verifies one proof and returns its method.
func (v *visit) prove1(way string) (method string, err error) {
	u, err := v.user()
	if err != nil {
		return "", err
	}
	switch way {
	case byPassword:
		return methodPassword, v.provePassword(u)
	case byMail:
		return methodMail, v.proveMailed()
	}
	return v.proveSecondFactor(u, v.form["code"])
}

// maxPasswords is how many passwords a session may try. A thief of a session has no more
// guesses at the password, whatever address they come from.
const maxPasswords = 10

// triesKind counts the passwords of a session, for as long as sessions usually last.
var triesKind = kind{name: "confirm-tries", life: 30 * 24 * time.Hour}

// provePassword compares the password of the form with that of the user.
func (v *visit) provePassword(u *pintle.User) error {
	return v.verifyOwn(u, "password", v.form["password"])
}

// withinTries verifies a password of the user of the session. The attempt is counted first,
// and a right one ends the count.
func (v *visit) withinTries(u *pintle.User, verify func() error) error {
	id := v.triesID()
	_, err := v.rows.AttemptFlow(v.ctx, id, maxPasswords)
	if errors.Is(err, pintle.ErrNotFound) {
		if _, err = v.createFlow(v.ctx, triesKind, id, u.ID, payload{}); err != nil && !errors.Is(err, pintle.ErrConflict) {
			return err
		}
		_, err = v.rows.AttemptFlow(v.ctx, id, maxPasswords)
	}
	if errors.Is(err, pintle.ErrConflict) {
		p := problemOf("too_many_attempts")
		p.links = []page.Link{{URL: v.site.signIn("callbackUrl", v.wayBack()), Text: v.word("sign_in")}}
		return p
	}
	if err != nil {
		return unavailable(err)
	}
	if err := verify(); err != nil {
		return err
	}
	if _, err := v.rows.UseFlow(v.ctx, id, triesKind.name); err != nil && !errors.Is(err, pintle.ErrNotFound) {
		v.log().WarnContext(v.ctx, "pintle: count of passwords of a session not cleared", slog.String("code", codeIncomplete), slog.Any("error", err))
	}
	return nil
}

// triesID names the session, also after it was renewed: each renewal would bring further
// guesses.
func (v *visit) triesID() accountstore.Hash {
	return sha256.Sum256(fmt.Appendf(nil, "pintle confirm tries\x00%s\x00%s\x00%d",
		v.boxes.tenant, v.session.User.ID, v.session.Authentication.Started.Unix()))
}

// mailedConfirm returns the flow whose code was mailed to the user of the session.
func (v *visit) mailedConfirm() (*flow, *heldFlow, error) {
	f, held, err := v.heldFlow(confirmKind)
	if err != nil {
		return nil, nil, err
	}
	if f.Subject != v.session.User.ID {
		return nil, nil, problemOf("flow_missing") // of the user who was signed in here before
	}
	return f, held, nil
}

// mailConfirm mails a code, or a new one.
func (v *visit) mailConfirm() (next string, err error) {
	u, err := v.user()
	if err != nil {
		return "", err
	}
	if err := v.allowCode(u.Email); err != nil {
		return "", err
	}
	f, held, err := v.mailedConfirm()
	if err == nil {
		if f.payload.Again >= codeAgain {
			return "", tooMany(0)
		}
		f.payload.Again++
	} else {
		held = &heldFlow{Began: true}
		if held.Token, f, err = v.beginFlow(v.ctx, confirmKind, u.ID, payload{Email: u.Email}); err != nil {
			return "", err
		}
		if f == nil {
			return "", tooMany(0)
		}
	}
	code := v.newCode(f)
	if err := v.changeFlow(v.ctx, f); err != nil {
		return "", err
	}
	if err := v.setFlowCookie(confirmKind, held); err != nil {
		return "", err
	}
	v.send(letter{kind: "code", to: u.Email, code: spaced(code), expires: f.codeExpires()})
	return withQuery(v.site.path("confirm"), append(v.confirmQuery(), "callbackUrl", v.wayBack(), "method", byMail)...), nil
}

// proveMailed takes the code. It works once.
func (v *visit) proveMailed() error {
	f, _, err := v.mailedConfirm()
	if err != nil {
		return err
	}
	u, err := v.user()
	if err != nil {
		return err
	}
	if err := v.checkUserCode(u, f, v.form["code"]); err != nil {
		return err
	}
	if err := v.useFlow(v.ctx, confirmKind, f); err != nil {
		return err
	}
	v.clearCookie(confirmKind)
	if f.payload.Email != u.Email {
		return problemOf("link_expired") // the address was changed since
	}
	return nil
}

// wayBack is where the browser goes in the end: a page of this site that can be shown.
// An address off the site becomes the start page, and so does a route that only acts.
func (v *visit) wayBack() string {
	wanted := v.asked("callbackUrl")
	if wanted == "" {
		return v.site.path("")
	}
	next := v.callbackURL()
	u, err := url.Parse(next)
	if next == "" || err != nil {
		return "/"
	}
	if below, is := strings.CutPrefix(u.EscapedPath(), v.site.base+"/"); is {
		name, is := strings.CutPrefix(strings.TrimSuffix(below, "/"), "account")
		r := v.routes[strings.TrimPrefix(name, "/")]
		if !is || r == nil || r.show == nil || strings.HasPrefix(r.name, "confirm") {
			return "/"
		}
	}
	return next
}
