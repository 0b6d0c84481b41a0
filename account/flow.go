package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/sealed"
)

// A kind is a kind of flow: something that is begun, and finished by another request.
type kind struct {
	name string // in the store
	life time.Duration

	// cookie names the cookie of the browser in which the flow goes on; empty for
	// flows that go with a session or a pending sign-in.
	cookie string
}

var (
	signUpKind = kind{"signup", 24 * time.Hour, "pintle.signup"}
	resetKind  = kind{"reset", time.Hour, "pintle.reset"}

	// inviteKind is a sign-up that an operator has begun. Only its link continues it, in the
	// pages of a sign-up.
	inviteKind = kind{"invite", 7 * 24 * time.Hour, "pintle.signup"}

	// secondKind, enrolKind, proveKind and mustKind go with a pending sign-in: they
	// count its attempts and have its codes.
	secondKind = kind{name: "second", life: time.Hour}
	enrolKind  = kind{name: "enrol", life: time.Hour}
	proveKind  = kind{name: "prove", life: time.Hour}

	// confirmKind counts the attempts of a session, and totpKind has a secret and
	// recovery codes that the user has not saved.
	confirmKind = kind{"confirm", 10 * time.Minute, "pintle.confirm"}
	totpKind    = kind{"totp", 10 * time.Minute, "pintle.totp"}

	// addressKind is a change of address, and undoKind its link that undoes it. The row of the
	// link has the life of AddressChange, and the cookie an hour: the link may be opened on the
	// computer of another person, who must not take the account later. undoableKind has the list of a user's changes that can be undone,
	// and linkedKind records when an account was linked.
	addressKind  = kind{"address", 24 * time.Hour, "pintle.address"}
	undoKind     = kind{"undo-address", time.Hour, "pintle.undo"}
	undoableKind = kind{name: "undoable", life: time.Hour}
	linkedKind   = kind{name: "linked", life: longestUndo}
)

// longestFlow is for how long a payload opens. The row of a flow says when it ends.
const longestFlow = longestUndo

// maxOpen is how many flows of one kind a subject has at a time. A new flow does not end
// the older ones: anyone could end the reset of another user by asking for one.
const maxOpen = 5

// A payload is what a flow carries, sealed.
type payload struct {
	sealed.Stamp

	// Flow is the id of the row, so that the payload of one flow does not open as that
	// of another.
	Flow string `json:"flow"`

	// Email is the address that the flow is about, and From the one that it replaces.
	Email       string `json:"email,omitempty"`
	From        string `json:"from,omitempty"`
	CallbackURL string `json:"callback,omitempty"`
	Secret      string `json:"secret,omitempty"`
	Name        string `json:"name,omitempty"`

	// Fields are what the application asks for at a sign-up, and Roles what an operator
	// gives to the user of an invitation.
	Fields map[string]string `json:"fields,omitempty"`
	Roles  []string          `json:"roles,omitempty"`

	// By is the operator of an invitation with Roles, if that is a user, and ByRoles are the roles
	// that the operator had.
	By      string   `json:"by,omitempty"`
	ByRoles []string `json:"byRoles,omitempty"`

	// Proved reports that the code of the mail was typed in the browser that began.
	Proved bool `json:"proved,omitempty"`

	// Again is how often the mail was sent once more, and CodeUntil when its code
	// expires, in Unix seconds.
	Again     int   `json:"again,omitempty"`
	CodeUntil int64 `json:"until,omitempty"`

	// Codes are recovery codes that are shown until the user has saved them. They are
	// stored as hashes afterwards. Step is that of the code which has confirmed Secret.
	Codes []string `json:"codes,omitempty"`
	Step  int64    `json:"step,omitempty"`

	// Accounts are those that were linked when the address changed, and Undoable the ids of
	// the flows that undo changes.
	Accounts []string `json:"accounts,omitempty"`
	Undoable []string `json:"undoable,omitempty"`

	// Operator is the operator who acts as the user, OperatorSince when the session of the
	// operator began, in Unix seconds, and Reason why the operator acts.
	Operator      string `json:"operator,omitempty"`
	OperatorSince int64  `json:"since,omitempty"`
	Reason        string `json:"reason,omitempty"`
}

// A flow is a row with its payload.
type flow struct {
	*accountstore.Flow
	payload payload
}

// A heldFlow is what the cookie of a flow has.
type heldFlow struct {
	sealed.Stamp
	Token string `json:"token"`

	// Began reports that the flow began in this browser, and Linked that its link was
	// opened here.
	Began  bool `json:"began,omitempty"`
	Linked bool `json:"linked,omitempty"`

	// Taking is the id of the user who loses the address, because the person in this
	// browser has said that the account is not theirs.
	Taking string `json:"taking,omitempty"`
}

// newToken returns 256 random bits.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func hashOf(token string) accountstore.Hash { return sha256.Sum256([]byte(token)) }

// beginFlow stores a flow and returns it with its token. If the subject has too many of
// its kind already the flow is nil.
func (a *Accounts) beginFlow(ctx context.Context, k kind, subject string, p payload) (token string, f *flow, err error) {
	n, err := a.rows.CountFlows(ctx, subject, k.name, time.Now())
	if err != nil {
		return "", nil, unavailable(err)
	}
	if n >= maxOpen {
		return "", nil, nil
	}
	token = newToken()
	f, err = a.createFlow(ctx, k, hashOf(token), subject, p)
	return token, f, err
}

// createFlow stores a flow with a given id.
func (a *Accounts) createFlow(ctx context.Context, k kind, id accountstore.Hash, subject string, p payload) (*flow, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	f := &flow{
		Flow:    &accountstore.Flow{ID: id, Kind: k.name, Subject: subject, Created: now, Expires: now.Add(k.life)},
		payload: p,
	}
	if err := a.sealPayload(f); err != nil {
		return nil, err
	}
	if err := a.rows.CreateFlow(ctx, f.Flow); err != nil {
		return nil, unavailable(fmt.Errorf("create flow: %w", err))
	}
	f.Version = 1
	return f, nil
}

func (a *Accounts) sealPayload(f *flow) error {
	f.payload.Flow = hex.EncodeToString(f.ID[:])
	text, err := a.boxes.payloads.Seal(&f.payload)
	if err != nil {
		return err
	}
	f.Flow.Payload = text
	return nil
}

// findFlow returns the flow of an id and a kind. The error is the problem link_expired if
// there is no such flow, or if it has ended.
func (a *Accounts) findFlow(ctx context.Context, k kind, id accountstore.Hash) (*flow, error) {
	row, err := a.rows.Flow(ctx, id)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, problemOf("link_expired")
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return a.openFlow(k, row)
}

// openFlow reads a row. Its kind is compared, so that the token of a sign-up resets no
// password.
func (a *Accounts) openFlow(k kind, row *accountstore.Flow) (*flow, error) {
	f := &flow{Flow: row}
	if row.Kind != k.name || !row.Expires.After(time.Now()) {
		return nil, problemOf("link_expired")
	}
	if err := a.boxes.payloads.Open(row.Payload, &f.payload); err != nil {
		return nil, unavailable(fmt.Errorf("the payload of a flow %w", err))
	}
	if f.payload.Flow != hex.EncodeToString(row.ID[:]) {
		return nil, unavailable(errors.New("the payload of a flow is that of another one"))
	}
	return f, nil
}

// changeFlow stores what has changed of a flow.
func (a *Accounts) changeFlow(ctx context.Context, f *flow) error {
	if err := a.sealPayload(f); err != nil {
		return err
	}
	switch err := a.rows.ChangeFlow(ctx, f.Flow); {
	case errors.Is(err, pintle.ErrNotFound):
		return problemOf("link_expired")
	case errors.Is(err, pintle.ErrConflict):
		return problemOf("changed_meanwhile")
	case err != nil:
		return unavailable(err)
	}
	f.Version++
	return nil
}

// useFlow removes a flow. Of any number of requests one succeeds, and only then does what
// the flow is for happen: a store that fails afterwards costs the user a new mail.
func (a *Accounts) useFlow(ctx context.Context, k kind, f *flow) error {
	row, err := a.rows.UseFlow(ctx, f.ID, k.name)
	if errors.Is(err, pintle.ErrNotFound) {
		return problemOf("link_expired")
	}
	if err != nil {
		return unavailable(err)
	}
	if !row.Expires.After(time.Now()) || row.Version != f.Version {
		return problemOf("link_expired")
	}
	return nil
}

// boxes seal what leaves the server.
type boxes struct {
	secrets  []string
	tenant   string
	payloads *sealed.Box
	cookies  map[string]*sealed.Box // by the whole name of the cookie
	acting   string                 // the cookie of an operator who acts as a user, without its prefix
	totp     *totpBox
	lists    *sealed.Box // of places in lists
	keys     *sealed.Box // of secrets in forms
}

func newBoxes(cfg *pintle.Config) (*boxes, error) {
	b := &boxes{secrets: cfg.Secrets, tenant: cfg.Tenant, cookies: map[string]*sealed.Box{}}
	var err error
	if b.payloads, err = b.of("pintle account payload", longestFlow); err != nil {
		return nil, err
	}
	if b.totp, err = newTOTPBox(b.secrets, b.totpPurpose()); err != nil {
		return nil, err
	}
	if b.keys, err = b.of("pintle account new key", keyLife); err != nil {
		return nil, err
	}
	if b.lists, err = b.of("pintle account list", placeLife); err != nil {
		return nil, err
	}
	b.acting = cookie.ActingName(cfg.Cookies.SessionToken.Name, cfg.Cookies.SessionToken.Path, cfg.Tenant)
	acting := kind{life: longestActing, cookie: b.acting}
	for _, k := range []kind{signUpKind, resetKind, confirmKind, totpKind, addressKind, undoKind, knownKind, acting} {
		for _, name := range []string{k.cookie, securePrefix + k.cookie} {
			if b.cookies[name], err = b.of(name, k.life); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// of returns a box for one purpose. Tenants may share a secret, and none opens what
// belongs to another.
func (b *boxes) of(purpose string, life time.Duration) (*sealed.Box, error) {
	return sealed.NewBox(b.secrets, b.purpose(purpose), life)
}

// totpPurpose is the purpose of the secrets of authenticator apps.
func (b *boxes) totpPurpose() string { return b.purpose("pintle totp secret") }

func (b *boxes) purpose(of string) string {
	if b.tenant != "" {
		return of + " of " + b.tenant
	}
	return of
}

// subject is the keyed hash of an address, for flows about an address without a user.
func (b *boxes) subject(address string) string { return b.subjects(address)[0] }

// subjects are the keyed hashes of an address with each of the secrets: a flow that began under a
// former secret has its subject.
func (b *boxes) subjects(address string) []string {
	all := make([]string, 0, len(b.secrets))
	for _, secret := range b.secrets {
		all = append(all, sealed.Mark(secret, "pintle account address "+b.tenant, address))
	}
	return all
}

// securePrefix keeps a cookie from being set by a site on a sibling domain.
//
// https://www.rfc-editor.org/rfc/rfc6265bis#section-4.1.3.2
const securePrefix = "__Host-"

func (v *visit) cookieName(k kind) string {
	if v.site.secure(v.r) {
		return securePrefix + k.cookie
	}
	return k.cookie
}

func (v *visit) setFlowCookie(k kind, held *heldFlow) error {
	name := v.cookieName(k)
	text, err := v.boxes.cookies[name].Seal(held)
	if err != nil {
		return err
	}
	v.setCookie(name, text, k.life)
	return nil
}

func (v *visit) setCookie(name, value string, life time.Duration) {
	a := v.attributes()
	a.MaxAge, a.HasMaxAge = int(life/time.Second), true
	v.w.Header().Add("Set-Cookie", cookie.Line(name, value, a))
}

func (v *visit) clearCookie(k kind) {
	if _, sent := cookie.Get(v.r.Header, v.cookieName(k)); sent {
		v.w.Header().Add("Set-Cookie", cookie.ClearLine(v.cookieName(k), v.attributes()))
	}
}

func (v *visit) attributes() cookie.Attributes {
	return cookie.Attributes{Path: "/", HTTPOnly: true, SameSite: "lax", Secure: v.site.secure(v.r)}
}

// heldCookie returns what the cookie of a flow has. The error is the problem
// flow_missing without one.
func (v *visit) heldCookie(k kind) (*heldFlow, error) {
	held := &heldFlow{}
	name := v.cookieName(k)
	text, sent := cookie.Get(v.r.Header, name)
	if !sent || v.boxes.cookies[name].Open(text, held) != nil {
		return nil, problemOf("flow_missing")
	}
	return held, nil
}

// heldFlow returns the flow whose cookie the browser has, and the cookie.
func (v *visit) heldFlow(k kind) (*flow, *heldFlow, error) {
	held, err := v.heldCookie(k)
	if err != nil {
		return nil, nil, err
	}
	f, err := v.findFlow(v.ctx, k, hashOf(held.Token))
	if err != nil {
		return nil, nil, err
	}
	v.aboutAddress = f.payload.Email
	v.inFlow(k.name)
	return f, held, nil
}

// takeLink answers a GET of a link in a mail: the token goes from the URL into the cookie,
// where neither the history nor a Referer shows it. It consumes nothing. taken reports
// that there was a link, and that the browser was redirected.
func (v *visit) takeLink(k kind) (taken bool, err error) {
	token := queryOf(v.r.URL, "token")
	if token == "" || v.r.Method == http.MethodPost {
		return false, nil
	}
	if _, err := v.findFlow(v.ctx, k, hashOf(token)); err != nil {
		return false, err
	}
	held := &heldFlow{Token: token, Linked: true}
	if before, err := v.heldCookie(k); err == nil && before.Token == token {
		held.Began, held.Taking = before.Began, before.Taking
	}
	return true, v.setFlowCookie(k, held)
}
