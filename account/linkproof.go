package account

import (
	"encoding/hex"
	"slices"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// A link in a mail resets a password, or undoes a change of the address. A user who has a second
// factor proves it on the page that the link opens: the mailbox alone must not take over an
// account that has more than a password.

// A linkProof is what the user of a link has to prove, and how.
type linkProof struct {
	route string // of the page
	flow  *flow
	user  *pintle.User

	// set are the factors that are accepted, and keys the accounts of the passkeys.
	set  *factors
	keys []*pintle.Account

	// ways are the ways of the user, the strongest first, and way the one that was chosen. The
	// code of an app and a recovery code are one way. Without a way nothing is asked.
	ways []string
	way  string
}

// linkProofOf returns the proof for a link.
func (v *visit) linkProofOf(route string, f *flow, u *pintle.User, set *factors, keys []*pintle.Account) *linkProof {
	p := &linkProof{route: route, flow: f, user: u, set: set, keys: keys}
	if v.o.SecondFactor.Off {
		return p
	}
	if len(keys) > 0 {
		p.ways = append(p.ways, byPasskey)
	}
	if set.asked() {
		p.ways = append(p.ways, byTOTP)
	}
	if len(p.ways) > 0 {
		p.way = p.ways[0]
		if wanted := v.asked("method"); slices.Contains(p.ways, wanted) {
			p.way = wanted
		}
	}
	return p
}

// methods are the ways for scripts.
func (p *linkProof) methods() []string { return append([]string{}, p.ways...) }

// proves completes the page of a link: its form asks for the proof of the chosen way as well.
func (v *visit) proves(p *linkProof, shown *page.FormPage, form page.Form) {
	switch p.way {
	case byPasskey:
		form.PasskeyOptionsURL = v.site.path(p.route + "-options")
		form.Hidden = append(form.Hidden, page.HiddenField{Name: "method", Value: byPasskey})
		form.Button = v.word(wayWords[byPasskey])
	case byTOTP:
		form.Inputs = append(form.Inputs, page.Input{
			Name: "code", Label: v.word("totp_code"), Hint: v.word("reset_code_hint"), Autocomplete: "one-time-code", MaxLength: 40,
			LTR: true, Required: true,
		})
		form = v.withProblems(form)
	}
	shown.Forms = []page.Form{form}
	for _, way := range p.ways {
		if way != p.way {
			shown.Links = append(shown.Links, v.link(p.route, wayWords[way], "method", way))
		}
	}
}

// provesByPasskey reports whether the form has the answer of a passkey, and returns an error if it
// has no proof although one is asked.
func (v *visit) provesByPasskey(p *linkProof) (bool, error) {
	byKey := v.form["method"] == byPasskey && slices.Contains(p.ways, byPasskey)
	if byKey || v.form["code"] != "" && slices.Contains(p.ways, byTOTP) {
		return byKey, nil
	}
	missing := problemOf("second_factor_required")
	if p.way == byTOTP {
		missing = inField("code", "second_factor_required")
	}
	missing.again = true
	return false, missing
}

// linkKeyOptions begins the ceremony of a passkey, for the script of the page or of the
// application. It stores nothing.
func (v *visit) linkKeyOptions(p *linkProof) (*view, error) {
	if !slices.Contains(p.ways, byPasskey) {
		return nil, problemOf("invalid")
	}
	// The possession of a key is no second factor beside a mailbox that may have another owner.
	o := pintle.SignInOptions{RequireUserVerification: true}
	options, err := v.auth.BeginPasskeyProof(v.w, v.r, p.passkeyProof(), o)
	if err != nil {
		return nil, asSecondProblem(err)
	}
	return &view{data: map[string]any{"action": "authenticate", "options": options}}, nil
}

// passkeyProof names the link, so that an answer for one is of no use to another.
func (p *linkProof) passkeyProof() pintle.PasskeyProof {
	return pintle.PasskeyProof{
		Provider: p.keys[0].Provider, UserID: p.user.ID, Purpose: p.flow.Kind + " " + hex.EncodeToString(p.flow.ID[:]),
	}
}

// proveLinkKey verifies the answer of the ceremony. Attempts are not counted: a signature cannot
// be guessed, and a user whose codes are suspended needs this way.
func (v *visit) proveLinkKey(p *linkProof) error {
	key, err := v.auth.FinishPasskeyProof(v.w, v.r, p.passkeyProof(), []byte(v.form["data"]))
	if err != nil {
		return asSecondProblem(err)
	}
	isThis := func(l *pintle.Account) bool { return l.ProviderAccountID == key.CredentialID }
	if !slices.ContainsFunc(p.keys, isThis) { // it may be of a thief, who has added it
		return problemOf("passkey_failed")
	}
	v.acceptCodes(p.user.ID)
	return nil
}

// passkeysOf returns the accounts of those passkeys of a user that the filter accepts. All are
// of one provider, so that one ceremony names them.
func (v *visit) passkeysOf(userID string, accepts func(*pintle.Passkey, *pintle.Account) (bool, error)) (keys []*pintle.Account, err error) {
	if len(v.passkeys) == 0 || v.o.SecondFactor.Off {
		return nil, nil
	}
	linked, err := v.store.UserAccounts(v.ctx, userID)
	if err != nil {
		return nil, unavailable(err)
	}
	stored, err := v.store.UserPasskeys(v.ctx, userID)
	if err != nil {
		return nil, unavailable(err)
	}
	byID := map[string]*pintle.Passkey{}
	for _, key := range stored {
		byID[key.CredentialID] = key
	}
	for _, provider := range v.passkeys {
		for _, l := range linked {
			key := byID[l.ProviderAccountID]
			if l.Provider != provider || key == nil {
				continue
			}
			if good, err := accepts(key, l); err != nil {
				return nil, err
			} else if good {
				keys = append(keys, l)
			}
		}
		if len(keys) > 0 {
			break
		}
	}
	return keys, nil
}
