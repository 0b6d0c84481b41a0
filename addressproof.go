package pintle

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/internal/wire"
)

// An addressProof states that the user of this browser reads mail at an address
// that another user has without having proven it. It is sealed into a cookie
// while the person decides whether that user is theirs:
//
//   - They sign in as that user in another way. Two proofs together prove the
//     address for that user.
//   - They go on without. The user loses the address, and a new one is made.
//
// It is good for one of the two, once, for as long as the store has a row that
// goes with it.
type addressProof struct {
	Address  string `json:"address"`
	User     string `json:"user"`
	Provider string `json:"provider"` // the mail provider

	// Token finds the row in the [Store]. Only its hash is there.
	Token string `json:"token"`

	// SignedIn reports that the browser was signed in as the user when the mail
	// link was opened.
	SignedIn bool `json:"signedIn,omitempty"`
}

// proofPurpose stands before the token where it is hashed, so that no link in a
// mail can be made of it.
const proofPurpose = "address proof "

func (c *cookieSet) proofCheck() sealedCookie {
	return sealedCookie{c.addressProof, c.addressProofBox}
}

// of reports whether it is the address of a user that was proven.
func (p *addressProof) of(user *User) bool { return p != nil && p.User == user.ID }

// openFor reports whether the address of the user is still waiting for the answer
// to the question.
func (p *addressProof) openFor(user *User) bool {
	return p.of(user) && user.Email == p.Address && user.EmailVerified.IsZero()
}

// proofMark returns the mark of the proof that this browser has, for the id of a
// flow or ceremony that begins here: a keyed hash of the token. It is empty where the flow must not confirm the address: without a proof, and where
// the request is signed in by a session that the browser did not have, or not of
// this user, when the mail link was opened. Another host of the domain can plant
// a session, and the cookies of a flow from another browser, but not the proof.
func (x *exchange) proofMark(signedIn *User) string {
	proof := x.keptProof()
	if proof == nil || signedIn != nil && !(proof.of(signedIn) && proof.SignedIn) {
		return ""
	}
	return sealed.Mark(x.jwtSecrets[0], proofMarkPurpose, proof.Token)
}

// showsSecondProof reports whether the sign-in was begun in the browser that has the
// proof: its form token came along, or the flow has the mark of the proof.
func (x *exchange) showsSecondProof(who *arrival) bool {
	return who.fromHere || sealed.HasMark(parseFlowID(who.flow).proof, x.jwtSecrets, proofMarkPurpose, who.proof.Token)
}

// askAboutAddress keeps the proof and sends the browser to the question. A script
// sees in the URL that the request stayed signed out.
func (x *exchange) askAboutAddress(who *arrival, here *presence, held *heldAddress) error {
	p := who.provider
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	proof := &addressProof{Address: held.user.Email, User: held.user.ID, Provider: p.id, Token: hex.EncodeToString(random)}
	proof.SignedIn = here.user != nil && proof.of(here.user)
	row := &Verification{
		Identifier: proof.Address, Token: p.hashes.Sum(proofPurpose + proof.Token),
		Expires: time.Now().Add(checkMaxAge).UTC().Truncate(time.Millisecond),
	}
	if err := x.records.createVerification(x.ctx, row); err != nil {
		return err
	}
	text, err := wire.Marshal(proof)
	if err != nil {
		return err
	}
	// A provider that answers with a form posts it from its own site.
	crossSite := slices.ContainsFunc(x.providers, func(p *provider) bool { return p.formPost })
	line, err := x.set.proofCheck().seal(sealedCheck{Value: string(text), Provider: proofPurpose}, crossSite)
	if err != nil {
		return err
	}
	x.addCookie(line)
	x.debug("a mail proved an address that another user has unproven: the question page is shown")
	return x.redirect(query.Append(x.callbackRoute(p.id), "error", string(CodeAccountNotLinked)))
}

// keptProof returns the proof that this browser has, or nil.
func (x *exchange) keptProof() *addressProof {
	if x.records == nil || !x.records.can.Verifications {
		return nil
	}
	if kept, _ := x.initialCookie(x.set.addressProof); kept == "" {
		return nil
	}
	check, err := x.set.proofCheck().open(x, proofPurpose)
	if err != nil {
		return nil
	}
	proof := &addressProof{}
	if json.Unmarshal([]byte(check.Value), proof) != nil || proof.Address == "" || proof.User == "" {
		return nil
	}
	if p := x.byID[proof.Provider]; p == nil || !p.sendsLinks {
		return nil
	}
	return proof
}

// useProof uses a proof up, and reports whether it was good.
func (x *exchange) useProof(r *records, proof *addressProof) (bool, error) {
	row, err := x.useVerification(r, x.byID[proof.Provider].hashes, proof.Address, proofPurpose+proof.Token)
	return row != nil && row.Identifier == proof.Address && row.Expires.After(time.Now()), err
}

// confirmAddress records that two proofs agree: the person who reads mail at
// the address of a user has signed in as that user in another way, by a flow
// that began in this browser while it had the proof. An account that was linked
// by this very sign-in does not prove who owns the user.
func (x *exchange) confirmAddress(w *unitOfWork, who *arrival, d *decision) error {
	proof := who.proof
	if !d.returning || !proof.of(d.user) || !x.showsSecondProof(who) {
		return nil
	}
	user, err := w.user(w.ctx, d.user.ID)
	if err != nil || user == nil || !proof.openFor(user) {
		return err
	}
	except := d.marker
	if d.session != nil {
		except = d.session.Token
	}
	if err := w.endSessions(who, user.ID, except); err != nil {
		return err
	}
	good, err := x.useProof(w.records, proof)
	if err != nil || !good {
		return err
	}
	verified, err := w.verifyEmail(user, time.Now().UTC().Truncate(time.Millisecond))
	if err != nil {
		return err
	}
	if who.by != byHost { // whose user stays as the host returned it
		d.user = verified
	}
	d.proven = true
	return nil
}

// aboutAddress reports whether a request to the callback route of a mail provider
// is one of the page that asks whose an address is, and no link in a mail.
func (x *exchange) aboutAddress() bool {
	_, link := x.query.Last("token")
	_, asked := x.query.Last("error")
	if x.r.Method == http.MethodPost {
		_, asked, _ = x.body.String("choice")
	}
	return asked && !link
}

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
	good, err := x.useProof(x.records, proof)
	if err != nil {
		return nil, err
	}
	if !good {
		return nil, refuse("the proof was used before, or has expired")
	}
	x.debug("a new user gets the proven address")
	user := &User{ID: uuid.New(), Email: proof.Address}
	account := &Account{Type: TypeEmail, Provider: f.id, ProviderAccountID: user.Email, UserID: user.ID}
	return &arrival{by: byAddress, user: user, account: account, taking: proof.User, authentication: readsMail()}, nil
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
		Site: x.pageSite(), Action: x.formAction("/callback/" + f.id), CSRFToken: x.csrfToken, CallbackURL: x.formCallbackURL(), Email: proof.Address,
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
