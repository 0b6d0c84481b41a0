package pintle

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/wire"
)

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
// flow or ceremony that begins here: a keyed hash of the token. It is empty where
// the flow must not confirm the address: without a proof, and where the request
// is signed in by a session that the browser did not have, or not of this user,
// when the mail link was opened. Another host of the domain can plant a session,
// and the cookies of a flow from another browser, but not the proof.
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
	return proof.good(row), err
}

// good reports whether row, which may be nil, is that of the proof.
func (p *addressProof) good(row *Verification) bool {
	return row != nil && row.Identifier == p.Address && row.Expires.After(time.Now())
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
	if err := w.beforeProof(who, user); err != nil {
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

// beforeProof lets the host remove what was added to a user before the address was proven.
// It fails with an [errand] until the host was asked: it may use the database, and would
// wait there for the transaction.
func (w *unitOfWork) beforeProof(who *arrival, user *User) error {
	if w.x.Callbacks.ProveAddress == nil || who.errands.proving[user.ID] {
		return nil
	}
	return &errand{func(e *errands) error {
		p := &PendingSignIn{
			User: user.clone(), Account: who.account.clone(), Profile: who.profile, Authentication: who.authentication.complete(), Request: w.x.r,
		}
		if err := w.x.Callbacks.ProveAddress(w.x.ctx, p); err != nil {
			if isClassified(err) {
				return err
			}
			return &Error{Code: CodeAccessDenied, Provider: who.provider.id, Err: fmt.Errorf("Callbacks.ProveAddress: %w", err)}
		}
		if e.proving == nil {
			e.proving = map[string]bool{}
		}
		e.proving[user.ID] = true
		return nil
	}}
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

// A holding is a user with an address that no mail has proven, and how that user
// can sign in, as far as is known.
type holding struct {
	user *User

	// accounts are those of providers other than mail. A passkey has one, too.
	accounts []*Account

	// unseen reports that there is, or may be, another way in without an
	// account: a password, or accounts of a store that cannot list them.
	unseen bool
}

// holding finds out how a user can sign in without a mail. It fails with an
// [errand] where the host has to be asked.
func (x *exchange) holding(ctx context.Context, r *records, found *errands, user *User) (*holding, error) {
	h := &holding{user: user}
	if !r.can.Accounts {
		// Only mails signed users in here, or accounts may exist.
		h.unseen = x.connect != nil || slices.ContainsFunc(x.providers, func(p *provider) bool { return !p.sendsLinks })
	} else {
		linked, err := r.userAccounts(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		h.accounts = slices.DeleteFunc(linked, func(a *Account) bool { return a.Type == TypeEmail })
	}
	if h.vouched() {
		return h, nil
	}
	if r.can.Passkeys {
		passkeys, err := r.userAuthenticators(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		h.unseen = h.unseen || len(passkeys) > 0
	}
	password, err := x.mayHavePassword(found, user)
	h.unseen = h.unseen || password
	return h, err
}

// mayHavePassword reports whether a user may be known to a [Credentials]
// provider, here or at another configuration of the store. The host is called
// before the transaction: during it, its database may have no free connection.
func (x *exchange) mayHavePassword(found *errands, user *User) (bool, error) {
	hostKnows := x.Callbacks.HasPassword != nil
	for _, p := range x.providers {
		if !p.hostUsers {
			continue
		}
		// Without Knows every user may have a password: assume the case with
		// more checks.
		if p.knows == nil {
			return true, nil
		}
		hostKnows = true
	}
	if !hostKnows {
		return false, nil
	}
	if known, asked := found.passwords[user.ID]; asked {
		return known, nil
	}
	return false, &errand{func(e *errands) error { return x.askForPassword(e, user) }}
}

func (x *exchange) askForPassword(e *errands, user *User) error {
	known := false
	var err error
	if x.Callbacks.HasPassword != nil {
		if known, err = x.Callbacks.HasPassword(x.ctx, user.clone()); err != nil {
			return fail(CodeConfiguration, fmt.Errorf("Callbacks.HasPassword: %w", err))
		}
	}
	for _, p := range x.providers {
		if known || !p.hostUsers || p.knows == nil {
			continue
		}
		if known, err = p.knows(x.ctx, user); err != nil {
			return err
		}
	}
	if e.passwords == nil {
		e.passwords = map[string]bool{}
	}
	e.passwords[user.ID] = known
	return nil
}

// vouched reports whether a provider had verified the user's address when one
// of their accounts was stored. An account with another verified address is no
// evidence for this one.
func (h *holding) vouched() bool {
	return h.user.Email != "" && slices.ContainsFunc(h.accounts, func(a *Account) bool { return a.VerifiedEmail == h.user.Email })
}

// othersMayEnter reports whether there is, or may be, a way in other than mail.
func (h *holding) othersMayEnter() bool { return len(h.accounts) > 0 || h.unseen }

// endSessions ends the sessions of a user whose address is proven for the first
// time, but for the database session with the token except: one of them may be
// of a person who used the address before its owner did. A store that cannot
// list sessions, and tokens without [SessionConfig.Revocation], keep theirs.
func (w *unitOfWork) endSessions(who *arrival, userID, except string) error {
	return w.x.sessions.endUnproven(w, who, userID, except)
}

// stillHeld rejects an account that was linked to a user whose address a mail
// has proven since the session was read. That proof ended the session, which
// may belong to a person who used the address before its owner did.
//
// Two transactions that overlap altogether may miss one another. That is accepted:
// such a user has no way in but mail, and so hardly a session to link from.
func (w *unitOfWork) stillHeld(who *arrival, user *User) error {
	if !w.inTx || user.Email == "" || !user.EmailVerified.IsZero() {
		return nil
	}
	now, err := w.user(w.ctx, user.ID)
	if err != nil {
		return err
	}
	if now == nil || !now.EmailVerified.IsZero() {
		return who.notLinked("the session ended during the sign-in: the address of its user was proven")
	}
	return nil
}

// takenAddress is what an address is replaced by where the store refuses users
// without one. No mail reaches it.
//
// https://www.rfc-editor.org/rfc/rfc6761#section-6.4
func takenAddress(userID string) string { return "taken+" + userID + "@invalid" }

// takeAddress removes an address from a user who has not proven it, because the user
// of the arrival has. It fails if user is not the one whom the page named when it
// asked, or has proven the address since. Sessions that carry the address end if
// they can be ended.
func (w *unitOfWork) takeAddress(who *arrival, user *User) error {
	if user.ID != who.taking || !user.EmailVerified.IsZero() {
		return &Error{
			Code: CodeVerification, Provider: who.provider.id,
			Err: errors.New("the address belongs to another user than the one the person was asked about"),
		}
	}
	if w.x.sessions.carryAddress() {
		if err := w.endSessions(who, user.ID, ""); err != nil {
			return err
		}
	}
	var instead string
	if who.errands.marking {
		instead = takenAddress(user.ID)
	}
	var unproven time.Time
	_, err := w.updateUser(user.ID, UserUpdate{Email: &instead, EmailVerified: &unproven})
	if err != nil && !errors.Is(err, ErrConflict) && !who.errands.marking {
		// The column of the address may be NOT NULL, and the decision runs again
		// with takenAddress.
		return &errand{func(e *errands) error { e.marking = true; return nil }}
	}
	return err
}
