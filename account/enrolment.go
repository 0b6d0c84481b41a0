package account

import (
	"encoding/base32"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/sealed"
)

// A user adds an authenticator app on the page of a session, or of a sign-in that is held
// until there is one. The page has a new secret, sealed into its form: the store
// learns of it once a code has shown that the app has it. The first app comes with
// recovery codes, and counts once the user has saved them.

// A newKey is a secret on its way through the form of a page.
type newKey struct {
	sealed.Stamp
	User   string `json:"user"`
	Secret []byte `json:"secret"`
}

// keyLife is how long the form of a secret may take.
const keyLife = 10 * time.Minute

// maxName is how many characters the name of a factor has.
const maxName = 64

// showKey is the page with a secret. It is shown on this page alone, and the next request
// gets another one.
func (v *visit) showKey(route string, u *pintle.User) (*view, error) {
	key := &newKey{}
	// A wrong code shows the page again, with the secret that the app has by now.
	if v.problem == nil || v.boxes.keys.Open(v.form["key"], key) != nil || key.User != u.ID {
		key = &newKey{User: u.ID, Secret: newTOTPSecret()}
	}
	text, err := v.boxes.keys.Seal(&newKey{User: key.User, Secret: key.Secret})
	if err != nil {
		return nil, err
	}
	uri := v.otpauth(u, key.Secret)
	svg, err := qrSVG(uri)
	if err != nil {
		return nil, err
	}
	p := v.newPage("totp", "")
	p.Figure = &page.Figure{SVG: svg, Label: v.word("totp_image")}
	p.Text = append(p.Text, page.Fill(v.word("totp_key"), inGroups(totpText(key.Secret))))
	name := page.Input{Name: "name", Label: v.word("totp_name"), Value: v.form["name"], Autocomplete: "off", MaxLength: maxName}
	form := v.formTo(route, "totp", v.totpInput(), name)
	form.Hidden = append(form.Hidden, page.HiddenField{Name: "key", Value: text})
	p.Forms = []page.Form{form}
	p.Links = []page.Link{{URL: uri, Text: v.word("open_app")}}
	return &view{page: p, data: map[string]any{"key": text, "secret": totpText(key.Secret), "uri": uri}}, nil
}

// inGroups is a key as people type it: ABCD EFGH.
func inGroups(text string) string {
	groups := slices.Collect(slices.Chunk([]byte(text), 4))
	words := make([]string, len(groups))
	for i, group := range groups {
		words[i] = string(group)
	}
	return strings.Join(words, " ")
}

// otpauth is the URI of a secret for authenticator apps. Issuer and account are divided by
// a colon, so neither has one.
//
// https://github.com/google/google-authenticator/wiki/Key-Uri-Format
func (v *visit) otpauth(u *pintle.User, secret []byte) string {
	part := func(text string) string {
		text = clip.Text(strings.ToValidUTF8(strings.ReplaceAll(text, ":", " "), ""), 100)
		return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	}
	issuer := v.o.SecondFactor.Issuer
	if issuer == "" {
		issuer = v.siteName()
	}
	name := u.Email
	if name == "" {
		name = u.Name
	}
	if name == "" {
		name = u.ID
	}
	return "otpauth://totp/" + part(issuer) + ":" + part(name) + "?secret=" + totpText(secret) + "&issuer=" + part(issuer) +
		"&algorithm=SHA1&digits=6&period=30"
}

// A confirmedKey is a secret of which a code was right.
type confirmedKey struct {
	secret []byte
	name   string
	step   int64 // of the code, which counts as used
}

// confirmKey reads the form of a secret. Its attempts are not counted: the user sees the
// secret.
func (v *visit) confirmKey(u *pintle.User) (*confirmedKey, error) {
	key := &newKey{}
	if err := v.boxes.keys.Open(v.form["key"], key); err != nil || key.User != u.ID {
		return nil, problemOf("link_expired")
	}
	name, err := factorName(v.form["name"])
	if err != nil {
		return nil, err
	}
	code, is := digits(v.form["code"], totpDigits)
	if !is {
		return nil, inField("code", "code_wrong")
	}
	step, found := matchStep(key.Secret, code, time.Now())
	if !found {
		return nil, inField("code", "code_wrong")
	}
	return &confirmedKey{key.Secret, name, step}, nil
}

// factorName checks the name of a factor.
func factorName(entered string) (string, error) {
	name := strings.TrimSpace(entered)
	if utf8.RuneCountInString(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", inField("name", "invalid_name")
	}
	return name, nil
}

// totpRow is the row of a new app.
func (v *visit) totpRow(u *pintle.User, key *confirmedKey) (*accountstore.Factor, error) {
	id := newToken()[:22]
	text, err := v.boxes.totp.seal(u.ID, id, key.secret)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	return &accountstore.Factor{
		UserID: u.ID, Kind: factorTOTP, ID: id, Secret: text, Step: key.step, Name: key.name, Created: now, LastUsed: now,
	}, nil
}

// beginCodes shows recovery codes next: with an app that counts once they are saved, or
// alone. An earlier attempt of the user ends.
func (v *visit) beginCodes(u *pintle.User, key *confirmedKey) error {
	if _, err := v.rows.EndFlows(v.ctx, u.ID, totpKind.name); err != nil {
		return unavailable(err)
	}
	p := payload{Codes: newRecoveryCodes()}
	if key != nil {
		p.Secret, p.Name, p.Step = totpText(key.secret), key.name, key.step
	}
	token, f, err := v.beginFlow(v.ctx, totpKind, u.ID, p)
	if err != nil {
		return err
	}
	if f == nil {
		return tooMany(0)
	}
	return v.setFlowCookie(totpKind, &heldFlow{Token: token, Began: true})
}

// heldCodes returns the codes of a user that wait to be saved, or nil.
func (v *visit) heldCodes(u *pintle.User) (*flow, error) {
	f, _, err := v.heldFlow(totpKind)
	var p *problem
	switch {
	case errors.As(err, &p) && p.err == nil:
		return nil, nil // none, expired, or of a former session
	case err != nil:
		return nil, err
	case f.Subject != u.ID:
		return nil, nil
	}
	return f, nil
}

// showCodes is the page with new recovery codes, or the file of them.
func (v *visit) showCodes(route string, f *flow) *view {
	if queryOf(v.r.URL, "format") == "text" {
		return &view{file: &file{name: "recovery-codes.txt", text: v.siteName() + "\n\n" + strings.Join(f.payload.Codes, "\n") + "\n"}}
	}
	p := v.newPage("recovery-codes", "")
	p.Codes, p.Print = f.payload.Codes, v.word("print")
	p.Forms = []page.Form{v.formTo(route, "recovery-codes", page.Input{
		Name: "saved", Label: v.word("saved"), Type: "checkbox", Required: true,
	})}
	p.Links = []page.Link{v.link(route, "save_as_text", "format", "text")}
	return &view{page: p, data: map[string]any{"codes": f.payload.Codes}}
}

// A saved is what the user has saved: an app, unless it is nil, and recovery codes.
type saved struct {
	app   *accountstore.Factor
	codes []*accountstore.Factor
}

// takeCodes uses the flow of codes up once the user says that they are saved. Whatever
// ends the sessions of the user ends the flow first: a basis that was read before takeCodes
// succeeds has no part of such a change.
func (v *visit) takeCodes(u *pintle.User, f *flow) (*saved, error) {
	if v.form["saved"] == "" {
		return nil, inField("saved", "invalid")
	}
	s, now := &saved{}, time.Now().UTC().Truncate(time.Millisecond)
	var err error
	if s.codes, err = v.hashCodes(v.ctx, u.ID, f.payload.Codes, now); err != nil {
		return nil, unavailable(err)
	}
	if f.payload.Secret != "" {
		secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(f.payload.Secret)
		if err != nil {
			return nil, unavailable(err)
		}
		if s.app, err = v.totpRow(u, &confirmedKey{secret, f.payload.Name, f.payload.Step}); err != nil {
			return nil, unavailable(err)
		}
	}
	if err := v.useFlow(v.ctx, totpKind, f); err != nil {
		return nil, err
	}
	v.clearCookie(totpKind)
	return s, nil
}

// storeSaved replaces the recovery codes of the user, and adds the app last: without codes it
// would lock the user out if it is lost.
func (v *visit) storeSaved(u *pintle.User, s *saved) error {
	err := v.together(func(store pintle.Store) error {
		rows := store.AccountStore()
		if _, err := rows.DeleteFactors(v.ctx, u.ID, []string{factorRecovery}, nil); err != nil {
			return err
		}
		for _, row := range s.codes {
			if err := rows.AddFactor(v.ctx, row); err != nil {
				return err
			}
		}
		if s.app == nil {
			return nil
		}
		return rows.AddFactor(v.ctx, s.app)
	})
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// mayAdd returns what keeps a user from adding a second factor.
func (v *visit) mayAdd(u *pintle.User, set *factors) error {
	switch {
	case v.o.SecondFactor.Off:
		return problemOf("refused")
	case u.Email != "" && !isProved(u):
		return v.unproved()
	case len(set.totp) >= maxTOTP:
		return problemOf("invalid")
	}
	return nil
}

// showTOTP is the page of a new secret.
func (v *visit) showTOTP() (*view, error) {
	u, set, err := v.ownFactors()
	if err != nil {
		return nil, err
	}
	if err := v.mayAdd(u, set); err != nil {
		return nil, err
	}
	return v.showKey("totp", u)
}

// ownFactors returns the user of the session with the second factors.
func (v *visit) ownFactors() (*pintle.User, *factors, error) {
	u, err := v.user()
	if err != nil {
		return nil, nil, err
	}
	set, err := v.factorsOf(v.ctx, u.ID)
	if err != nil {
		return nil, nil, unavailable(err)
	}
	return u, set, nil
}

// addTOTP adds an app to the account of the session.
func (v *visit) addTOTP() (next string, err error) {
	u, set, err := v.ownFactors()
	if err != nil {
		return "", err
	}
	if err := v.mayAdd(u, set); err != nil {
		return "", err
	}
	key, err := v.confirmKey(u)
	if err != nil {
		return "", err
	}
	if !set.asked() {
		return v.onWith("recovery-codes"), v.beginCodes(u, key)
	}
	row, err := v.totpRow(u, key)
	if err != nil {
		return "", unavailable(err)
	}
	before, err := v.sessionBasis(u)
	if err != nil {
		return "", err
	}
	return v.changeFactors(u, "factor-added", "factor_added", func() (bool, error) {
		if err := v.rows.AddFactor(v.ctx, row); err != nil {
			return false, unavailable(err)
		}
		return v.keepUnlessOvertaken(u, before, []*accountstore.Factor{row})
	}, methodTOTP)
}

// changeFactors changes the second factors of the session's user. All other sessions end,
// and so do sign-ins that are held: what they have proven may not count any more. change
// reports whether it has changed something, also beside an error: then the user is told.
func (v *visit) changeFactors(u *pintle.User, mail, notice string, change func() (bool, error), methods ...string) (next string, err error) {
	err = v.changeWays(u, change, func() { v.notify(mail, u, "", "factors") }, methods...)
	if err != nil {
		return "", err
	}
	return v.onWith("factors", "notice", notice), nil
}

// changeWays is changeFactors for an app or a passkey. tell tells the user of a change.
func (v *visit) changeWays(u *pintle.User, change func() (bool, error), tell func(), methods ...string) error {
	v.seeThrough()
	changed := false
	err := v.whileSignedOut(v.ctx, u.ID, func() (err error) {
		changed, err = change()
		return err
	})
	if changed {
		tell()
	}
	if err != nil {
		return err
	}
	return v.startAgain(u, v.session.Authentication, methods...)
}

// showRecoveryCodes is the page of new codes, or of how many are left.
func (v *visit) showRecoveryCodes() (*view, error) {
	u, set, err := v.ownFactors()
	if err != nil {
		return nil, err
	}
	f, err := v.heldCodes(u)
	if err != nil {
		return nil, err
	}
	if f != nil {
		return v.showCodes("recovery-codes", f), nil
	}
	if !set.asked() {
		return nil, problemOf("not_found")
	}
	p := v.newPage("recovery-codes-new", "")
	p.Text = []page.Line{page.Fill(v.pageText("recovery-codes-new").Text[0], count(set.recovery))}
	form := v.formTo("recovery-codes", "recovery-codes-new")
	form.Hidden = append(form.Hidden, page.HiddenField{Name: "new", Value: "1"})
	p.Forms, p.Links = []page.Form{form}, []page.Link{v.link("factors", "second_factor", "callbackUrl", v.callbackURL())}
	return &view{page: p, data: map[string]any{"recoveryLeft": len(set.recovery)}}, nil
}

// makeRecoveryCodes makes new codes, or stores those that the user has saved.
func (v *visit) makeRecoveryCodes() (next string, err error) {
	u, set, err := v.ownFactors()
	if err != nil {
		return "", err
	}
	f, err := v.heldCodes(u)
	if err != nil {
		return "", err
	}
	if f == nil || v.form["new"] != "" {
		if v.form["saved"] != "" {
			return "", problemOf("link_expired") // the codes that were shown are not stored
		}
		if !set.asked() {
			return "", problemOf("not_found")
		}
		return v.onWith("recovery-codes"), v.beginCodes(u, nil)
	}
	if f.payload.Secret != "" {
		if err := v.mayAdd(u, set); err != nil {
			return "", err
		}
	} else if !set.asked() {
		return "", problemOf("not_found")
	}
	before, err := v.basisOf(v.ctx, u.ID)
	if err != nil {
		return "", err
	}
	s, err := v.takeCodes(u, f)
	if err != nil {
		return "", err
	}
	change := func() (bool, error) {
		if err := v.storeSaved(u, s); err != nil {
			return false, err
		}
		return v.keepUnlessOvertaken(u, before, s.rows())
	}
	if s.app == nil {
		return v.changeFactors(u, "recovery-made", "codes_made", change)
	}
	return v.changeFactors(u, "factor-added", "factor_added", change, methodTOTP)
}
