package account

import (
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

// mayAdd returns what keeps a user from adding a second factor.
func (v *visit) mayAdd(u *pintle.User, set *factors) error {
	switch {
	case v.o.SecondFactor.Off:
		return problemOf("not_found")
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
