package pintle

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/tokenhash"
	"github.com/pintleauth/pintle/internal/uuid"
)

const defaultMailAge = 24 * time.Hour

// malformedAddress is the parameter "code" for a malformed address.
const malformedAddress = "malformed_address"

// A mailFlow is a sign-in by a link in a mail.
type mailFlow struct {
	providerBase
	email  *Email
	hashes tokenhash.Hasher // of the links' tokens
}

func (s *settings) newMailFlow(own Email, env environment) (*provider, *Error) {
	f := &mailFlow{own.base(), &own, s.hashes}
	if own.Secret != "" {
		f.hashes = tokenhash.New(own.Secret)
	}
	// A link of one tenant must not work at another with the same secret and store.
	f.hashes = f.hashes.Tenant(s.Tenant)
	p := &provider{f.providerBase, f, facts{sendsLinks: true, hashes: f.hashes, knows: knowsAddress}}
	if own.Limited {
		p.decides = append(p.decides, limitsOfAttempts)
	}
	env.fillEmail(&own)
	if err := own.complete(s.observedClient(f.id, s.HTTPClient)); err != nil {
		return p, &Error{Code: CodeConfiguration, Provider: p.id, Err: err}
	}
	p.linkLifetime = f.lifetime()
	if own.Send == nil {
		return p, &Error{
			Code: CodeConfiguration, Provider: p.id,
			Err: errors.New("Email.Send is nil: set it, for example to smtp.New(…).Send"),
		}
	}
	if s.Observer.Mail != nil {
		own.Send = s.Observer.Mail(own.Send)
	}
	return p, nil
}

// knowsAddress reports whether a stored user can sign in by mail. The first mail to
// an address that the user has not proven may belong to another person.
func knowsAddress(_ context.Context, user *User) (bool, error) {
	return user.Email != "" && !user.EmailVerified.IsZero(), nil
}

// begin sends a link. The link is stored before it is sent, so that no mail goes out
// that cannot work.
func (f *mailFlow) begin(x *exchange) error {
	identifier, err := f.identifier(x)
	if err != nil {
		return &Error{Code: codeEmailSignIn, Detail: malformedAddress, Provider: f.id, Err: byClient(err)}
	}
	x.about = &signingIn{typed: identifier}
	if err := f.email.accepts(identifier); err != nil {
		return &Error{
			Code: CodeConfiguration, Provider: f.id,
			Err: fmt.Errorf("%w, although it has just returned it: it must return its own results unchanged, "+
				"because it runs again when the link is opened", err),
		}
	}
	if err := f.allow(x, identifier); err != nil {
		return err
	}
	// The store and Callbacks.SignIn are asked afterwards. If the callback sends unknown
	// addresses to the page that follows a mail, the cookie must not tell them from others.
	// Where no form token is checked, the form may be of another site: nothing is kept.
	if x.Pages.VerifyRequest == "" && x.csrfVerified && !x.DangerouslySkipCSRFCheck {
		_, again, _ := x.body.String("again")
		x.keepTyped(typed{Provider: f.id, Value: identifier, Again: again})
	}
	who, err := f.arrival(x, identifier)
	if err != nil {
		return err
	}
	attempt := &SignInAttempt{User: who.user, Account: who.account, VerificationRequest: true}
	if elsewhere, err := x.askSignIn(attempt); elsewhere || err != nil {
		if err != nil {
			// The user is not identified yet, so every refusal looks the same.
			return &Error{Code: CodeAccessDenied, Provider: f.id, Err: err}
		}
		return nil
	}
	message, verification, err := f.compose(x, identifier)
	if err != nil {
		return &Error{Code: codeEmailSignIn, Provider: f.id, Err: err}
	}
	if err := x.records.createVerification(x.ctx, verification); err != nil {
		return err
	}
	if err := f.email.Send(x.ctx, message); err != nil {
		return &Error{Code: codeEmailSignIn, Provider: f.id, Err: fmt.Errorf("Email.Send: %w", err)}
	}
	x.debug("mail sent")
	return x.redirect(query.Append(x.origin+x.base+"/verify-request", "provider", f.id, "type", "email"))
}

// allow lets the host refuse a mail before the store has a row for it. Were
// mails refused when they are sent, a client that is over its limit could still
// fill the table of links.
//
// The row of a mail that could not be sent stays until it expires: a server may
// report an error, or nothing at all, after it has taken the mail, and its link
// has to work.
func (f *mailFlow) allow(x *exchange, identifier string) error {
	if f.email.Allow == nil {
		return nil
	}
	err := f.email.Allow(x.counting(), &MailRequest{Address: identifier, Provider: f.id, Request: x.r, Client: x.clientAddress(x.r)})
	if err == nil || isClassified(err) {
		return err
	}
	return &Error{Code: codeEmailSignIn, Provider: f.id, Err: fmt.Errorf("Email.Allow: %w", err)}
}

// identifier returns the address that was typed, in normal form.
func (f *mailFlow) identifier(x *exchange) (string, error) {
	typed, _, isText := x.body.String("email")
	if !isText {
		return "", errors.New("the form has no field email")
	}
	if f.email.Normalize != nil {
		return f.email.Normalize(typed)
	}
	return address.Normalize(typed)
}

// accepts returns an error unless Normalize returns an address as it is. The
// default is not called: it refuses no domain, and the addresses of links that
// Auth.js made need not be in its form.
func (p *Email) accepts(identifier string) error {
	if p.Normalize == nil {
		return nil
	}
	again, err := p.Normalize(identifier)
	switch {
	case err != nil:
		return fmt.Errorf("Email.Normalize rejects the address: %w", err)
	case again != identifier:
		return errors.New("Email.Normalize changes the address")
	}
	return nil
}

// lifetime is how long a link works.
func (f *mailFlow) lifetime() time.Duration { return cmp.Or(f.email.MaxAge, defaultMailAge) }

// compose makes the link, what is stored of it, and the message.
func (f *mailFlow) compose(x *exchange, identifier string) (*Message, *Verification, error) {
	generate := f.email.GenerateToken
	if generate == nil {
		generate = x.mailToken
	}
	token, err := generate()
	if err != nil {
		return nil, nil, fmt.Errorf("Email.GenerateToken: %w", err)
	}
	maxAge := f.lifetime()
	expires := time.Now().Add(maxAge).UTC().Truncate(time.Millisecond)
	link := query.Append(x.callbackRoute(f.id), "callbackUrl", x.callbackText, "token", token, "email", identifier)
	pages := x.pages()
	subject, text, html, err := pages.SignInMail(link, maxAge)
	if err != nil {
		return nil, nil, err
	}
	message := &Message{
		From: f.email.From, To: identifier,
		Subject: subject, Text: text, HTML: html,
		URL: link, Token: token, Expires: expires, Provider: f.id, Theme: x.Theme, Lang: pages.Lang(), Request: x.r,
	}
	// The store has the hash only: a copy of the database opens no link.
	return message, &Verification{Identifier: identifier, Token: f.hashes.Sum(token), Expires: expires}, nil
}

// The token of a link has 64 hexadecimal characters, as that of Auth.js: 192
// random bits, and then 64 that name the browser which asked for the link.
const (
	mailRandom = 48
	mailToken  = 64
)

func (x *exchange) mailToken() (string, error) {
	b := make([]byte, mailRandom/2)
	_, _ = rand.Read(b) // never fails
	random := hex.EncodeToString(b)
	return random + x.hashes.Sum(x.askedBy(random))[:mailToken-mailRandom], nil
}

// askedBy ties the random part of a link's token to the form token of a browser,
// which no other browser knows.
func (x *exchange) askedBy(random string) string { return "mail link " + random + x.csrfToken }

// askedHere reports whether this browser asked for the link with a token. Links
// of Auth.js and of [Email.GenerateToken] do not record the browser.
func (x *exchange) askedHere(token string) bool {
	if len(token) != mailToken || x.csrfToken == "" {
		return false
	}
	for _, sum := range x.hashes.Candidates(x.askedBy(token[:mailRandom])) {
		if subtle.ConstantTimeCompare([]byte(sum[:mailToken-mailRandom]), []byte(token[mailRandom:])) == 1 {
			return true
		}
	}
	return false
}

// openedElsewhere reports whether a page opened the link in a browser that did
// not ask for it. An attacker can open a link to the attacker's own address in
// the browser of a visitor: the visitor would be signed in as the attacker
// without noticing, and link their accounts to the attacker's user. For a link
// that a mail program opens a browser sends Sec-Fetch-Site: none. Browsers that
// send no such header open links as Auth.js does.
//
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
func (x *exchange) openedElsewhere(token string) bool {
	site := x.r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "none" && !x.askedHere(token)
}

// finish takes a link, and answers the page that asks who owns an address.
func (f *mailFlow) finish(x *exchange) (*arrival, error) {
	if x.aboutAddress() {
		return f.finishQuestion(x)
	}
	x.debug("mail link received")
	token, _ := x.query.Last("token")
	if token == "" {
		return nil, &Error{
			Code: codeCallbackRoute, Detail: linkCut, Provider: f.id,
			Err: byClient(errors.New("the link has no token: a mail program cut it off, or it was typed")),
		}
	}
	identifier, _ := x.query.Last("email")
	confirm := f.email.Confirm || x.openedElsewhere(token)
	if x.r.Method == http.MethodGet && (confirm || isPrefetch(x.r)) {
		x.debug("mail link not used yet: the person is asked to confirm it")
		return nil, f.confirmLink(x, identifier)
	}
	if confirm {
		// The form token shows that the button was pressed on a page of this
		// site, and not by a page of another site.
		if err := x.requireCSRF(); err != nil {
			return nil, err
		}
	}
	t := &ticket{name: "mail link", hashes: f.hashes, identifier: identifier, token: token, refuse: func(row *Verification) error {
		return f.refuseLink(row, identifier)
	}}
	if err := x.checkTicket(t); err != nil {
		return nil, err
	}
	who, err := f.arrival(x, identifier)
	if err != nil {
		return nil, x.settleTicket(t, err)
	}
	who.ticket = t
	return who, nil
}

// refuseLink returns why a link for an address does not sign in. row is nil if the store
// does not have it.
func (f *mailFlow) refuseLink(row *Verification, identifier string) error {
	reason := ""
	switch {
	case row == nil && identifier == "":
		reason = "the link has no address: a mail program cut it off before \"&email=\", or it was typed"
	case row == nil:
		reason = "the link is unknown or was used before"
	case row.Expires.Before(time.Now()):
		reason = "the link has expired"
	// A store that finds a link by its token alone must not sign in another address.
	case row.Identifier != identifier:
		reason = "the link was made for another address"
	}
	if reason != "" {
		return &Error{Code: CodeVerification, Provider: f.id, Err: errors.New(reason)}
	}
	// A provider with the same secret and store may have made the link, for an
	// address that this one rejects.
	if err := f.email.accepts(identifier); err != nil {
		return &Error{
			Code: CodeVerification, Provider: f.id,
			Err: fmt.Errorf("the link of another provider is for an address to which this one sends none: %w", err),
		}
	}
	return nil
}

// arrival is a user who reads mail at an address, or claims to.
func (f *mailFlow) arrival(x *exchange, identifier string) (*arrival, error) {
	user, err := x.records.userByEmail(x.ctx, identifier)
	if err != nil {
		return nil, err
	}
	stored := user != nil
	if !stored {
		user = &User{ID: uuid.New(), Email: identifier}
	}
	account := &Account{Type: TypeEmail, Provider: f.id, ProviderAccountID: user.Email, UserID: user.ID}
	return &arrival{by: byAddress, user: user, stored: stored, account: account, authentication: readsMail()}, nil
}

// readsMail is how the user of a link has proven who they are.
func readsMail() Authentication { return Authentication{Methods: []string{methodMail}} }

// confirmLink shows the page with the button that uses the link.
//
// Anyone can make a link to this page, so it shows no text of the link but an
// address.
func (f *mailFlow) confirmLink(x *exchange, identifier string) error {
	shown, err := address.Normalize(identifier)
	if err != nil || len(shown) > maxShownAddress {
		shown = ""
	}
	action := x.formAction("/callback/"+f.id) + "?" + x.r.URL.RawQuery
	x.answer.noStore = true // the action holds the token of the link
	return x.show(x.pages().ConfirmLink(page.ConfirmLinkData{Site: x.pageSite(), Action: action, CSRFToken: x.pageToken(), Email: shown}))
}

// maxShownAddress is the length of the longest address that mail can be delivered
// to.
//
// https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1
const maxShownAddress = 64 + 1 + 255

// describe adds nothing: the form of every mail provider has one field.
func (f *mailFlow) describe(_ *exchange, entry page.Provider) page.Provider { return entry }

// finishQuestion answers the requests of the page that asks whose the address is:
// GET shows it, POST goes on without the user who has the address.
func (f *mailFlow) finishQuestion(x *exchange) (*arrival, error) {
	refuse := func(reason string) error {
		return &Error{Code: CodeVerification, Provider: f.id, Err: errors.New(reason)}
	}
	if x.r.Method == http.MethodPost {
		if err := x.requireCSRF(); err != nil {
			return nil, err
		}
	}
	proof := x.keptProof()
	if proof == nil || proof.Provider != f.id {
		return nil, refuse("this browser has not proven an address within the last 15 minutes")
	}
	if x.r.Method == http.MethodGet {
		return nil, f.showQuestion(x, proof, refuse)
	}
	if choice, _, _ := x.body.String("choice"); choice != "new" {
		return nil, refuse("the form makes no choice")
	}
	t := &ticket{name: "proof of an address", hashes: f.hashes, identifier: proof.Address, token: proofPurpose + proof.Token}
	t.refuse = func(row *Verification) error {
		if !proof.good(row) {
			return refuse("the proof was used before, or has expired")
		}
		return nil
	}
	if err := x.checkTicket(t); err != nil {
		return nil, err
	}
	x.debug("a new user is to get the proven address")
	user := &User{ID: uuid.New(), Email: proof.Address}
	account := &Account{Type: TypeEmail, Provider: f.id, ProviderAccountID: user.Email, UserID: user.ID}
	return &arrival{by: byAddress, user: user, account: account, taking: proof.User, authentication: readsMail(), ticket: t}, nil
}

func (f *mailFlow) showQuestion(x *exchange, proof *addressProof, refuse func(string) error) error {
	user, err := x.records.userByEmail(x.ctx, proof.Address)
	if err != nil {
		return err
	}
	if user == nil || user.ID != proof.User || !user.EmailVerified.IsZero() {
		return refuse("the address no longer belongs to the user, or was proven meanwhile")
	}
	data := page.AddressTakenData{
		Site: x.pageSite(), Action: x.formAction("/callback/" + f.id), CSRFToken: x.pageToken(),
		CallbackURL: x.formCallbackURL(), Email: proof.Address,
	}
	var accounts []*Account
	if x.records.can.Accounts {
		if accounts, err = x.records.userAccounts(x.ctx, user.ID); err != nil {
			return err
		}
	}
	for _, other := range x.providers {
		linked := slices.ContainsFunc(accounts, func(a *Account) bool { return a.Provider == other.id })
		switch {
		case other.sendsLinks: // which proves the address again, and not whose the user is
		case other.oneButton:
			if linked || !x.records.can.Accounts {
				data.Providers = append(data.Providers, x.button(other))
			}
		case other.hostUsers, linked:
			data.OtherSignInURL = query.Append(x.origin+x.base+"/signin", "callbackUrl", x.callbackText)
		}
	}
	x.answer.noStore = true
	return x.show(x.pages().AddressTaken(data))
}
