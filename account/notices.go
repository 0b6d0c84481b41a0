package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// Notices are the rules for the mails that tell users what has happened to their accounts.
// They go to the proven address of the user. The zero value sends all of them.
type Notices struct {
	// Off are the kinds that are not sent: "new-device", "second-factor-wrong",
	// "account-linked", "account-unlinked", "passkey-added" and "passkey-removed" are the
	// ones that can be left out, and of the acts of operators "banned", "unbanned",
	// "signed-out" and "acting-begun". [pintle.New] returns an error for another one.
	Off []string

	// Change is called with each notice, and returns the mail to send: n.Message, changed or
	// not, another one, or nil for none. The recipient stays, and so does the kind. A notice
	// with Required set is sent unchanged before Change is called, so that a panic in Change
	// does not prevent it. The result is ignored. If Change fails, or returns a mail whose
	// subject or sender has several lines, the error is recorded and the notice is sent
	// unchanged. Nil changes none.
	//
	// It runs in the request that caused the notice, and may be called concurrently. ctx
	// does not end with the request.
	Change func(ctx context.Context, n *Notice) (*pintle.Message, error)
}

// A Notice is a mail that tells a user what has happened to the account.
type Notice struct {
	// Kind is what has happened: a name of Texts.Account.Mails, such as
	// "password-changed".
	Kind string

	// User is the user as the request has read it.
	User *pintle.User

	// Required reports that the notice is sent in any case: an attacker has to change what
	// it is about, and its owner could not know.
	Required bool

	// Time is when it happened.
	Time time.Time

	// Device is the browser that did it, in the words of [pintle.SessionConfig].Describe:
	// at most 64 characters, of which an attacker may have chosen each. It is empty
	// without Describe, and for what an operator has done.
	Device string

	// Message is the mail. It has no token but for "address-changed-undo", which also has a code
	// if [Passwords].Off is set.
	Message *pintle.Message
}

// The kinds of notices that an application can leave out.
const (
	newDevice         = "new-device"
	newDevices        = "new-devices" // the last one of a day
	secondFactorWrong = "second-factor-wrong"
	accountLinked     = "account-linked"
	passkeyAdded      = "passkey-added"
	accountUnlinked   = "account-unlinked"
	passkeyRemoved    = "passkey-removed"
	userBanned        = "banned"
	userUnbanned      = "unbanned"
	userSignedOut     = "signed-out"
	userActedAs       = "acting-begun"
)

// The notices of a change of address.
const (
	addressAsked       = "address-asked"
	addressChanged     = "address-changed"
	addressChangedUndo = "address-changed-undo" // with the link that undoes it
)

// canBeOff are the kinds that [Notices].Off may have.
var canBeOff = []string{
	newDevice, secondFactorWrong, accountLinked, passkeyAdded, accountUnlinked, passkeyRemoved,
	userBanned, userUnbanned, userSignedOut, userActedAs,
}

func (n Notices) check() error {
	for _, kind := range n.Off {
		if !slices.Contains(canBeOff, kind) {
			return fmt.Errorf("account: Options.Notices.Off has %q: the notices that can be left out are %s", kind, strings.Join(canBeOff, ", "))
		}
	}
	return nil
}

// A budget is how many notices of some kinds a user gets in a day. The budgets are apart from
// one another and from those of the mails that any client can cause: a flood of one must not
// hold back the notice of a takeover.
type budget struct {
	kind kind // of the flow that counts
	most int
}

// The days of budgets are those of UTC. A flow outlives the day in which it was made.
var (
	noticeBudget = budget{kind{name: "notices", life: 24 * time.Hour}, 20}

	// deviceBudget has one more than the mails about single devices: the summary.
	deviceBudget = budget{kind{name: "notices-of-devices", life: 24 * time.Hour}, maxNewDevices + 1}

	// wrongBudget is small because an attacker with the password can cause these.
	wrongBudget = budget{kind{name: "wrong-codes", life: 24 * time.Hour}, 1}

	// askedBudget keeps a thief who begins changes of the address from using up the others.
	askedBudget = budget{kind{name: "notices-of-addresses", life: 24 * time.Hour}, 5}
)

// maxNewDevices is how many mails about single new devices a user gets in a day. Users
// who get one at each sign-in stop reading them.
const maxNewDevices = 5

// budgetOf returns the budget of a kind.
func budgetOf(kind string) budget {
	switch kind {
	case newDevice:
		return deviceBudget
	case secondFactorWrong:
		return wrongBudget
	case addressAsked:
		return askedBudget
	}
	return noticeBudget
}

// spend counts a notice of a user and returns its number in the day, or within = false if
// there were enough. All processes count in the store. An error is recorded, and the notice
// is sent: a store that fails must not hide a takeover.
func (v *visit) spend(b budget, userID string) (number int, within bool) {
	id := v.boxes.idOf(b.kind, userID+" "+time.Now().UTC().Format(time.DateOnly))
	number, err := v.rows.AttemptFlow(v.ctx, id, b.most)
	if errors.Is(err, pintle.ErrNotFound) {
		// Of two requests that begin the day one makes the row, and both count in it.
		if _, err = v.createFlow(v.ctx, b.kind, id, userID, payload{}); err == nil || errors.Is(err, pintle.ErrConflict) {
			number, err = v.rows.AttemptFlow(v.ctx, id, b.most)
		}
	}
	switch {
	case errors.Is(err, pintle.ErrConflict):
		return 0, false
	case err != nil:
		v.log().ErrorContext(v.ctx, "pintle: notices of a user not counted", slog.String("code", codeIncomplete), slog.String("user", userID), slog.Any("error", err))
		return 1, true
	}
	return number, true
}

// noticeTime is how long a notice may take. It does not end with the request: a thief who
// changes the password, and closes the connection, must not keep the mail from being sent.
const noticeTime = time.Minute

// notify records what has been done to the account of a user, and tells them at their proven
// address. page is the one to which the mail links.
func (v *visit) notify(kind string, u *pintle.User, value, page string) {
	if event := noticed[kind]; event != "" {
		v.note(event, u.ID)
	}
	v.inform(u, letter{kind: kind, value: value, link: v.url(page), device: v.device()})
}

// inform sends a notice to the proven address of a user, within the budget of its kind.
func (v *visit) inform(u *pintle.User, l letter) {
	if !isProved(u) || slices.Contains(v.o.Notices.Off, l.kind) {
		return
	}
	v, done := v.forNotice()
	defer done()
	b := budgetOf(l.kind)
	number, within := v.spend(b, u.ID)
	if !within {
		v.log().WarnContext(v.ctx, "pintle: notice held back: the user had enough of its kind today", slog.String("code", codeNoticeHeldBack),
			slog.String("kind", l.kind), slog.String("user", u.ID), slog.Int("limit", b.most))
		return
	}
	required := !slices.Contains(canBeOff, l.kind)
	switch last := number == b.most; {
	case last && l.kind == newDevice:
		l.kind, l.value = newDevices, fmt.Sprint(maxNewDevices)
	case last && l.kind != secondFactorWrong:
		l.last, required = true, true
	}
	l.to, l.at = u.Email, time.Now().UTC()
	v.sendNotice(u, l, required)
}

// forNotice returns a visit whose context lasts for a notice.
func (v *visit) forNotice() (*visit, context.CancelFunc) {
	outlives := *v
	var done context.CancelFunc
	outlives.ctx, done = context.WithTimeout(context.WithoutCancel(v.ctx), noticeTime)
	return &outlives, done
}

// sendNotice asks the application and sends. A required notice is sent as it is, before the
// application sees it.
func (v *visit) sendNotice(u *pintle.User, l letter, required bool) {
	v, done := v.forNotice()
	defer done()
	v.adviseFor(u, &l)
	m, err := v.compose(l)
	if err != nil || v.o.Notices.Change == nil {
		v.deliver(l.kind, m, err)
		return
	}
	n := &Notice{Kind: l.kind, User: copyOf(u), Required: required, Time: l.at, Device: l.device}
	if required {
		v.deliver(l.kind, m, nil)
		v.changed(n, m) // which sees a copy, and may crash
		return
	}
	if m := v.changed(n, m); m != nil {
		v.deliver(l.kind, m, nil)
	}
}

// changed returns the mail that the application wants to send instead of m, or nil.
func (v *visit) changed(n *Notice, m *pintle.Message) *pintle.Message {
	own := *m
	n.Message = &own
	wanted, err := v.o.Notices.Change(v.ctx, n)
	if err == nil && wanted != nil && strings.ContainsFunc(wanted.Subject+wanted.From, unicode.IsControl) {
		err = errors.New("the subject or the sender has several lines")
	}
	if err != nil {
		v.log().ErrorContext(v.ctx, "pintle: Options.Notices.Change failed, and the notice is sent as it is", slog.String("code", codeCallbackFailed),
			slog.String("kind", m.Kind), slog.Any("error", err))
		return m
	}
	if wanted == nil {
		return nil
	}
	changed := *wanted
	changed.To, changed.Kind = m.To, m.Kind
	return &changed
}

// maxDevice is the most characters of a device in a mail.
const maxDevice = 64

// device is how the application describes the browser of the request: the texts that
// [pintle.SessionConfig].Describe returns, in the order of their names.
func (v *visit) device() string {
	if v.describeDevice == nil {
		return ""
	}
	return deviceName(v.describeDevice(v.r))
}

// oneLine is a text as one line of a number of characters at most, without those that have no
// picture: they could break a line, or turn the direction of what follows.
func oneLine(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		text = strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	return text
}

// noLink puts a zero-width space where mail programs would begin to make a link of a name.
var noLink = strings.NewReplacer(".", "\u200b.", "://", ":\u200b//", "@", "\u200b@")

// quoted is a name in quotes. An attacker may have chosen it: it must be seen where it ends,
// and no mail program may make a link of it.
func quoted(name string) string {
	return `"` + noLink.Replace(strings.ReplaceAll(name, `"`, "'")) + `"`
}

// facts are when and where something has happened.
func (v *visit) facts(l letter) []string {
	if l.at.IsZero() {
		return nil
	}
	facts := []string{v.inMail("mail_time", page.Texts(v.texts).Moment("%s", l.at).Value)}
	if l.device != "" {
		facts = append(facts, v.inMail("mail_device", quoted(l.device)))
	}
	return facts
}

// linked is what [pintle.Events].LinkAccount calls. An account or a passkey is a way in, for the
// user or for a thief of the session.
func (a *Accounts) linked(ctx context.Context, e *pintle.LinkAccountEvent) error {
	if !e.NewUser {
		v := a.visitOf(e.Request)
		v.noteLinked(context.WithoutCancel(ctx), e.User.ID, e.Account)
		detail := []string{detailProvider, e.Account.Provider, detailSession, a.boxes.sessionHandle(e.User.ID, e.Authentication.Started)}
		if e.Account.Type == pintle.TypeWebAuthn {
			v.note("passkey_added", e.User.ID, detail...)
			v.forgetAfterPasskey(context.WithoutCancel(ctx), e.User.ID)
			v.tellStored(context.WithoutCancel(ctx), passkeyAdded, e.User.ID, "", "")
		} else {
			v.note("account_linked", e.User.ID, detail...)
			v.tellStored(context.WithoutCancel(ctx), accountLinked, e.User.ID, v.configured(a.providers[e.Account.Provider]), "")
		}
	}
	if a.events.LinkAccount == nil {
		return nil
	}
	return a.events.LinkAccount(ctx, e)
}

// forgetAfterPasskey ends the remembered browsers and the flows of a user who has a new passkey, as
// each change of second factors does, and recovery codes of a former factor. The root has ended the sessions. An error is recorded: the
// passkey is stored.
func (v *visit) forgetAfterPasskey(ctx context.Context, userID string) {
	if _, err := v.rows.DeleteFactors(ctx, userID, []string{factorDevice}, nil); err != nil {
		v.log().ErrorContext(ctx, "pintle: remembered browsers of a user with a new passkey still there", slog.String("code", codeIncomplete),
			slog.String("user", userID), slog.Any("error", err))
	}
	if err := v.dropFormerCodes(ctx, userID); err != nil {
		v.log().ErrorContext(ctx, "pintle: recovery codes of a former passkey may still work", slog.String("code", codeIncomplete),
			slog.String("user", userID), slog.Any("error", err))
	}
	if _, err := v.rows.EndFlows(ctx, userID, endedFlows...); err != nil {
		v.log().ErrorContext(ctx, "pintle: links and codes of a user with a new passkey still work", slog.String("code", codeIncomplete),
			slog.String("user", userID), slog.Any("error", err))
	}
}

// tellStored sends a notice of an event. The address is that of the store: a provider of the
// application may have returned another one, and called it proven.
func (v *visit) tellStored(ctx context.Context, kind, userID, value, page string) {
	u, err := v.store.User(ctx, userID)
	switch {
	case errors.Is(err, pintle.ErrNotFound): // a user of the application's provider, who is in no store
	case err != nil:
		v.log().ErrorContext(ctx, "pintle: mail of an account not sent", slog.String("code", codeMailNotSent), slog.String("kind", kind), slog.Any("error", err))
	default:
		v.notify(kind, u, value, page)
	}
}
