package account

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// SecondFactor are the rules for second factors. The zero value offers one to each user, and
// asks for it at every sign-in of a user who has one.
type SecondFactor struct {
	// Required reports whether a user needs a second factor, for example because of a
	// role. A user who has neither an app nor a passkey adds an app before the sign-in
	// goes on. One who has a passkey and no app saves recovery codes when a sign-in has proven the
	// passkey. It is also asked on pages of a session, for example before a user removes the last
	// app; p then has no more than the user, the request, and the proofs of the session. Nil means
	// that no user needs one.
	Required func(ctx context.Context, p *pintle.PendingSignIn) (bool, error)

	// SkipFor are the ids of providers that vouch for a second factor: a user who
	// signs in with one of them is not asked here.
	SkipFor []string

	// Remember reports whether a user may have a browser remembered: the page of the second
	// factor then has a tick, and for 30 days no second factor is asked for at sign-ins of
	// this user in this browser. It is asked when the page is shown, and at each sign-in in
	// such a browser, so that it can depend on a role. Such a sign-in has one factor: a
	// [Demand] asks for the second one. A user has ten such browsers at most; all of them
	// end with a change of the password or of a factor, and with
	// [pintle.Auth.SignOutEverywhere]. Nil remembers none.
	Remember func(ctx context.Context, p *pintle.PendingSignIn) (bool, error)

	// MailFallback reports whether a user who has a second factor may sign in with a code that
	// is mailed to the proven address instead, for example because the phone is not at hand.
	// It is weak: whoever reads the mailbox can reset the password as well, and NIST SP
	// 800-63B does not accept mail as a factor. Such a sign-in has one factor, so a [Demand]
	// asks for the second one, and its browser is not remembered. It is not offered after a
	// first proof by mail or passkey, nor for 24 hours after the password was chosen or the
	// address proven. Nil offers it to no user.
	MailFallback func(ctx context.Context, p *pintle.PendingSignIn) (bool, error)

	// AcceptSharedSessions lets a session be used of which no proofs are recorded: one that
	// Auth.js has begun in the same database, or that is older than the accounts of the
	// application, or that server code has begun without [pintle.Authentication].Methods.
	// Auth.js asks for no second factor. So without AcceptSharedSessions such a session of
	// a user who has one counts as signed out until it has confirmed the user by a code or
	// a passkey; see [pintle.Callbacks].Accept. In any case it meets no [Demand].
	AcceptSharedSessions bool

	// Off takes second factors out. Those that users have are no longer asked for.
	Off bool

	// Issuer names the site in authenticator apps. It has no colon. Empty means
	// Config.Texts.Site, or the host of Config.URL.
	Issuer string
}

func (s SecondFactor) check() error {
	if s.Off && s.Required != nil {
		return errors.New("account: Options.SecondFactor has Off and Required: choose one")
	}
	if strings.Contains(s.Issuer, ":") {
		return errors.New("account: Options.SecondFactor.Issuer has a colon, which separates it from the name of the account in the apps")
	}
	if slices.Contains(s.SkipFor, providerID) {
		return errors.New("account: Options.SecondFactor.SkipFor has \"" + providerID + "\": a password is one factor, and vouches for no second one")
	}
	return nil
}

// The methods that a second factor adds to a session.
const (
	methodTOTP     = "otp"
	methodRecovery = "recovery" // not registered
)

// The limits of wrong codes. They are counted for the user, in the store: a client can
// cause them only after it has shown the password, the mailbox or the session.
const (
	secondAttempts = 5 // of one sign-in
	failureLimit   = 10
	failureWindow  = 15 * time.Minute

	// streakLimit is how many wrong codes in a row end the codes of authenticator apps and
	// of mails, until a recovery code, a passkey or an operator helps.
	//
	// https://pages.nist.gov/800-63-4/sp800-63b.html#throttle
	streakLimit = 100
)

// factors are the second factors of a user.
type factors struct {
	totp     []*accountstore.Factor
	recovery []*accountstore.Factor
	browsers []*accountstore.Factor // that are remembered, the oldest first
}

// asked reports whether the user has a second factor. Recovery codes alone are not one:
// they are for the loss of one.
func (f *factors) asked() bool { return len(f.totp) > 0 }

func (a *Accounts) factorsOf(ctx context.Context, userID string) (*factors, error) {
	rows, err := a.rows.Factors(ctx, userID)
	if err != nil {
		return nil, err
	}
	return factorsIn(rows), nil
}

// factorsIn are the second factors among rows.
func factorsIn(rows []*accountstore.Factor) *factors {
	f := &factors{}
	for _, row := range rows {
		switch row.Kind {
		case factorTOTP:
			f.totp = append(f.totp, row)
		case factorRecovery:
			f.recovery = append(f.recovery, row)
		case factorDevice:
			f.browsers = append(f.browsers, row)
		}
	}
	f.browsers = currentBrowsers(f.browsers)
	f.recovery = newestSet(f.recovery)
	return f
}

// askSecondFactor holds the sign-in of a user who has a second factor, or needs one.
func (a *Accounts) askSecondFactor(ctx context.Context, p *pintle.PendingSignIn) (string, error) {
	if a.o.SecondFactor.Off || a.hasBoth(p) {
		if err := a.afterPasskey(ctx, p); err != nil {
			return "", err
		}
		return a.askCodes(ctx, p)
	}
	rows, err := a.askedFactors(ctx, p)
	if err != nil {
		return "", err
	}
	set := factorsIn(rows)
	needs, err := a.needOf(ctx, p, set)
	switch {
	case err != nil || needs == needsNone:
		return "", err
	case needs == needsFirst:
		return a.holdForEnrolment(p), nil
	case hasSecond(p):
		return a.askCodes(ctx, p)
	}
	if done, err := a.isRemembered(ctx, p, set); err != nil || done {
		return "", err
	}
	if done, err := a.mailAccepted(ctx, p); err != nil || done {
		return "", err
	}
	return a.heldAt("second-factor"), nil
}

// A need is what a sign-in needs of a second factor, unless its first proof is two.
type need int

const (
	needsNone  need = iota
	needsProof      // of the one that the user has
	needsFirst      // the user has none, and adds one
)

// needOf returns the need of a user with the factors of set.
func (a *Accounts) needOf(ctx context.Context, p *pintle.PendingSignIn, set *factors) (need, error) {
	if set.asked() {
		return needsProof, nil
	}
	must, err := a.needsFactor(ctx, p)
	if err != nil || !must {
		return needsNone, err
	}
	if has, err := a.hasPasskeyInstead(ctx, p); err != nil || has {
		return needsProof, err
	}
	return needsFirst, nil
}

// willEnrol reports whether a sign-in is going to wait for a first factor.
func (a *Accounts) willEnrol(ctx context.Context, p *pintle.PendingSignIn) (bool, error) {
	if a.o.SecondFactor.Off || a.hasBoth(p) {
		return false, nil
	}
	rows, err := a.askedFactors(ctx, p)
	if err != nil {
		return false, err
	}
	needs, err := a.needOf(ctx, p, factorsIn(rows))
	return needs == needsFirst, err
}

// hasSecond reports whether a second factor was proven after the first proof, which never has
// these methods: those of a provider begin with "fed:".
func hasSecond(p *pintle.PendingSignIn) bool {
	has := func(method string) bool { return slices.Contains(p.Authentication.Methods, method) }
	return has(methodTOTP) || has(methodRecovery) || hasSecondKey(p)
}

// hasSecondKey reports whether the second factor was a passkey.
func hasSecondKey(p *pintle.PendingSignIn) bool {
	has := func(method string) bool { return slices.Contains(p.Authentication.Methods, method) }
	return !byKey(p) && has(methodKey) && (has(methodVerified) || hasKnowledge(p))
}

// hasKnowledge reports whether a sign-in has a proof beside which the possession of a key is a
// second factor.
func hasKnowledge(p *pintle.PendingSignIn) bool {
	return slices.Contains(p.Authentication.Methods, methodPassword) || slices.Contains(p.Authentication.Methods, methodMail)
}

// byKey reports whether a sign-in began with a passkey.
func byKey(p *pintle.PendingSignIn) bool {
	return p.Account != nil && p.Account.Type == pintle.TypeWebAuthn
}

// hasPasskeyInstead reports whether a user who needs a second factor, and has no app, has a
// passkey: a thief of the password and the mailbox could otherwise add an app beside it.
// After an operator's reset the user adds an app all the same, since the authenticator may be
// lost, too.
func (a *Accounts) hasPasskeyInstead(ctx context.Context, p *pintle.PendingSignIn) (bool, error) {
	keys, err := a.keyring(ctx, p.User.ID)
	if err != nil {
		return false, storeFault(err)
	}
	if keys.passkey == "" {
		return false, nil
	}
	state, err := a.askedState(ctx, p)
	if err != nil {
		return false, err
	}
	return !mustDo(state, mustEnrol), nil
}

// heldAt is a page of a sign-in that is held. Clients of Auth.js that sign in without a
// redirect take the user for signed in unless the URL has a parameter error.
func (a *Accounts) heldAt(name string) string {
	return withQuery(a.site.path(name), "error", "SecondFactorRequired")
}

// hasBoth reports whether the first proof is two factors: a passkey that verified its
// user, or a provider that vouches for a second one.
func (a *Accounts) hasBoth(p *pintle.PendingSignIn) bool {
	if slices.Contains(a.o.SecondFactor.SkipFor, p.Authentication.Provider) {
		return true
	}
	return isVerifiedPasskey(p)
}

// afterPasskey ends a suspension of codes when a passkey that verified its user signs in. It
// writes at the sign-in, and not when a page asks the gate again.
func (a *Accounts) afterPasskey(ctx context.Context, p *pintle.PendingSignIn) error {
	if !p.Expires.IsZero() || !isVerifiedPasskey(p) {
		return nil
	}
	if err := a.endSuspension(ctx, p.User.ID); err != nil {
		return storeFault(err)
	}
	return nil
}

func isVerifiedPasskey(p *pintle.PendingSignIn) bool {
	return byKey(p) && slices.Contains(p.Authentication.Methods, methodVerified)
}

// needsFactor reports whether a user has to have a second factor: by the rules of the
// application, or because an operator has removed a lost one.
func (a *Accounts) needsFactor(ctx context.Context, p *pintle.PendingSignIn) (bool, error) {
	if a.o.SecondFactor.Required != nil {
		must, err := a.o.SecondFactor.Required(ctx, p)
		a.forgetAsked(ctx) // the application may have changed the state
		if must || err != nil {
			return must, err
		}
	}
	state, err := a.askedState(ctx, p)
	if err != nil {
		return false, err
	}
	return mustDo(state, mustEnrol), nil
}

// storeFault is an error of the store in a callback, where others deny the sign-in.
func storeFault(err error) error { return &pintle.Error{Code: pintle.CodeStore, Err: err} }

// proveSecondFactor checks a code of an authenticator app or a recovery code, and uses it
// up. method is what it proves. The limits for wrong codes of the user hold; the caller
// limits those of its own flow. A user without a second factor proves nothing.
func (v *visit) proveSecondFactor(u *pintle.User, typed string) (method string, err error) {
	return v.proveCode(u, typed, func() error { return nil })
}

// proveCode is proveSecondFactor; count counts the attempt of a flow before the code is
// compared.
func (v *visit) proveCode(u *pintle.User, typed string, count func() error) (method string, err error) {
	set, err := v.factorsOf(v.ctx, u.ID)
	if err != nil {
		return "", unavailable(err)
	}
	code, method := secondCode(typed)
	if method == "" {
		return "", inField("code", "code_wrong") // not a guess
	}
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return "", unavailable(err)
	}
	proves := set.asked()
	if method == methodRecovery {
		if proves, err = v.acceptsCodes(v.ctx, u.ID, set); err != nil {
			return "", err
		}
	}
	if !proves {
		return "", inField("code", "code_wrong")
	}
	var opened []openedTOTP
	if method == methodTOTP {
		if isSuspended(state) {
			return "", suspended()
		}
		if opened = v.openTOTP(set.totp); len(opened) == 0 {
			return "", notCheckable()
		}
	}
	counted, err := v.countFailure(u, method)
	if err != nil {
		return "", err
	}
	if err := count(); err != nil {
		return "", err
	}
	if method == methodRecovery {
		err = v.useRecoveryCode(u, set.recovery, code)
	} else {
		err = v.useAppCode(set, opened, code, counted.at)
	}
	if err != nil {
		return "", v.judge(u, counted, err)
	}
	v.countSuccess(u, counted)
	return method, nil
}

// useAppCode accepts a code of those apps of a set that have opened.
func (v *visit) useAppCode(set *factors, opened []openedTOTP, code string, at time.Time) error {
	err := v.useTOTP(opened, code, at)
	if isWrong(err) && len(opened) < len(set.totp) {
		return notCheckable() // the code may be that of the app that does not open
	}
	return err
}

// secondCode tells by its form which code was typed.
func secondCode(typed string) (code, method string) {
	if code, is := digits(typed, totpDigits); is {
		return code, methodTOTP
	}
	if code, is := recoveryCode(typed); is {
		return code, methodRecovery
	}
	return "", ""
}

func isWrong(err error) bool { return isProblem(err, "code_wrong") }

// suspended shows the page again, which has links to other ways.
func suspended() *problem {
	p := problemOf("suspended")
	p.again = true
	return p
}

// isSuspended reports whether codes of apps and of mails are no longer accepted. The
// streak counts before the state says so: a process may end in between.
func isSuspended(s *accountstore.State) bool { return s.Suspended || s.Streak >= streakLimit }

// An attempt is a code that the store has counted as a failure, until it shows that it is right.
type attempt struct {
	at     time.Time
	method string
	streak int
}

// countFailure counts an attempt before the comparison, so that parallel requests have no
// more attempts than others.
func (v *visit) countFailure(u *pintle.User, method string) (attempt, error) {
	at := time.Now().UTC().Truncate(time.Millisecond)
	f, err := v.rows.CountFailure(v.ctx, u.ID, at, failureWindow, failureLimit)
	switch {
	case err != nil:
		return attempt{}, unavailable(err)
	case !f.Counted:
		return attempt{}, tooMany(max(time.Second, f.Oldest.Add(failureWindow).Sub(at)))
	case method != methodRecovery && f.Streak > streakLimit:
		return attempt{}, suspended() // parallel requests were first
	}
	return attempt{at, method, f.Streak}, nil
}

// judge ends the codes of a user whose attempts were wrong too often in a row. It returns
// the error of the attempt.
func (v *visit) judge(u *pintle.User, counted attempt, err error) error {
	if isWrong(err) && counted.streak >= streakLimit {
		v.suspend(u)
	}
	return err
}

// suspend records that codes of apps and of mails are no longer accepted, and tells the user
// and the operator, once. An error is recorded: the streak suspends them, too.
func (v *visit) suspend(u *pintle.User) {
	was := false
	err := v.changeState(v.ctx, u.ID, func(s *accountstore.State) { was, s.Suspended = s.Suspended, true })
	if err != nil {
		v.log().ErrorContext(v.ctx, "pintle: suspension of codes not recorded", slog.String("code", codeIncomplete), slog.String("user", u.ID), slog.Any("error", err))
		return
	}
	if was {
		return
	}
	v.log().WarnContext(v.ctx, "pintle: too many wrong codes in a row: those of authenticator apps and of mails are no longer accepted", slog.String("code", codeCodesSuspended),
		slog.String("user", u.ID))
	v.notify("codes-suspended", u, "", "forgot")
}

// endSuspension accepts codes again, after a proof that is no such code.
func (a *Accounts) endSuspension(ctx context.Context, userID string) error {
	state, err := a.rows.State(ctx, userID)
	if err != nil || !isSuspended(state) {
		return err
	}
	if state.Suspended {
		err = a.changeState(ctx, userID, func(s *accountstore.State) { s.Suspended = false })
	}
	if err == nil {
		err = a.rows.CountSuccess(ctx, userID, time.Now())
	}
	return err
}

// countSuccess takes the attempt back. A recovery code also ends a suspension. An error
// is recorded: the code was right, and too many failures counted are no danger.
func (v *visit) countSuccess(u *pintle.User, counted attempt) {
	err := v.rows.CountSuccess(v.ctx, u.ID, counted.at)
	if err == nil && counted.method == methodRecovery {
		err = v.endSuspension(v.ctx, u.ID)
	}
	if err != nil {
		v.log().WarnContext(v.ctx, "pintle: success of a code not recorded", slog.String("code", codeIncomplete), slog.Any("error", err))
	}
}
