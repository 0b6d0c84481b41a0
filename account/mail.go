package account

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/mail"
	"github.com/pintleauth/pintle/internal/page"
)

// A letter is a mail to be written.
type letter struct {
	kind  string // of pages.AccountTexts.Mails
	to    string
	value string // for %s in its text
	code  string
	link  string // of the button

	// ways are the names of what else the user signs in with. other is a second link, which
	// has no token, and otherWord its word.
	ways             []string
	other, otherWord string

	token   string // in the link
	expires time.Time

	// at is when it happened, for a notice, and device where. last reports that it is the
	// last one of the day.
	at     time.Time
	device string
	last   bool

	noPassword bool // the user has none
}

// send writes a mail and hands it to the host. An error is recorded and not returned: the
// answer to the browser must not tell whether there was a mail, and what has happened
// stays.
func (v *visit) send(l letter) {
	m, err := v.compose(l)
	v.deliver(l.kind, m, err)
}

// sendEither sends one of two mails that anyone can cause, by [Options].Later if there is
// one. A letter without a kind is no mail.
//
// Both are written: they differ in length, and the time of the answer must not tell which one
// it is. For the same reason Later is called for a letter that is no mail.
func (v *visit) sendEither(first bool, a, b letter) {
	v.later(func(v *visit) {
		m, err := v.compose(a)
		other, otherErr := v.compose(b)
		if !first {
			a, m, err = b, other, otherErr
		}
		if a.kind != "" {
			v.deliver(a.kind, m, err)
		}
	})
}

// later does work after the answer, or at once without [Options].Later. The visit that work
// gets has no answer to write to.
func (v *visit) later(work func(*visit)) {
	if v.o.Later == nil {
		work(v)
		return
	}
	after := *v
	after.w, after.r = nil, v.r.Clone(context.WithoutCancel(v.ctx))
	v.o.Later(after.r.Context(), func(ctx context.Context) {
		after.ctx, after.r = ctx, after.r.WithContext(ctx)
		defer func() {
			// The server recovers from a panic in a handler, and nothing would from this one.
			if p := recover(); p != nil {
				after.log().ErrorContext(ctx, "pintle: Options.Mail panicked", slog.String("code", codeCallbackFailed), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			}
		}()
		work(&after)
	})
}

func (v *visit) deliver(kind string, m *pintle.Message, err error) {
	if err == nil {
		err = v.o.Mail(v.ctx, m)
	}
	if err != nil {
		var refused interface{ RecipientRefused() bool }
		level := slog.LevelError
		if errors.As(err, &refused) && refused.RecipientRefused() {
			level = slog.LevelWarn // any client can type an address that does not exist
		}
		v.log().Log(v.ctx, level, "pintle: mail of an account not sent", slog.String("code", codeMailNotSent), slog.String("kind", kind), slog.Any("error", err))
		v.Accounts.note(v.ctx, entry{kind: "mail_failed", outcome: outcomeFailed, detail: []string{detailMail, kind}})
	}
}

// compose writes a mail. It has one recipient: an address that was stored without a check could
// be a list of them, or end the header.
func (v *visit) compose(l letter) (*pintle.Message, error) {
	if _, err := address.Normalize(l.to); err != nil || strings.ContainsAny(l.to, ",\r\n") {
		return nil, errors.New("the address of the user is not one address")
	}
	t := v.mailText(l)
	data := mail.Letter{
		Data: mail.Data{URL: l.link}, Subject: strings.Replace(t.Subject, "%s", v.siteName(), 1), Heading: t.Heading,
		Code: l.code, Ignore: t.Ignore,
	}
	if l.link != "" {
		data.Button = t.Button
	}
	for _, text := range t.Text {
		data.Text = append(data.Text, strings.Replace(text, "%s", clip.Text(l.value, 64), 1))
	}
	if len(l.ways) > 0 {
		data.Text = append(data.Text, v.inMail("mail_ways", strings.Join(l.ways, ", ")))
	}
	if l.token != "" && !l.expires.IsZero() {
		if l.code != "" && l.kind != addressChangedUndo { // which expires before the link
			data.Text = append(data.Text, v.word("code_hint"))
		}
		texts := page.Texts(v.texts)
		data.Text = append(data.Text, texts.Lifetime(time.Until(l.expires).Round(time.Minute)))
	}
	if l.other != "" {
		data.Link, data.LinkURL = v.word(l.otherWord), l.other
	}
	if l.last {
		data.Text = append(data.Text, v.word("notices_held_back"))
	}
	data.Facts = v.facts(l)
	subject, text, html, err := v.pages.LetterMail(data)
	if err != nil {
		return nil, err
	}
	return &pintle.Message{
		From: v.o.From, To: l.to, Subject: subject, Text: text, HTML: html, Kind: l.kind, URL: l.link, Token: l.token, Code: l.code,
		Expires: l.expires, Provider: providerID, Theme: v.site.theme, Lang: v.texts.Lang, Request: v.r,
	}, nil
}

// inMail is a word of a mail with a value in it.
func (v *visit) inMail(word, value string) string {
	if v.texts.Dir == "rtl" {
		value = "\u2068" + value + "\u2069" // its direction is that of its letters
	}
	return strings.Replace(v.word(word), "%s", value, 1)
}

// An addressee is the user of an address that anyone can type.
type addressee struct {
	user   *pintle.User // or nil
	proved bool         // the user has proven the address

	// ways are the names of the providers of the user's accounts, passkeys among them.
	ways []string
}

// addressee looks up who gets a mail that anyone can cause. The work is the same for every
// address: without a user the accounts of another one are read.
func (v *visit) addressee(email string) (*addressee, error) {
	u, err := v.findUser(v.ctx, email)
	if err != nil {
		return nil, unavailable(err)
	}
	to, read := &addressee{user: u, proved: isProved(u)}, cmp.Or(u, v.present.Load(), v.absent)
	linked, err := v.store.UserAccounts(v.ctx, read.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	names := v.namesOf(linked)
	if to.proved { // others learn nothing of the user
		for _, name := range names {
			to.ways = append(to.ways, v.configured(name))
		}
	}
	return to, nil
}

// knownLetter is the mail to an address whose user signs up once more.
func (v *visit) knownLetter(email string, to *addressee) letter {
	l := letter{kind: "sign-up-known", to: email, link: v.site.originOf(v.r) + v.site.signIn(), at: time.Now(), ways: to.ways}
	if !v.o.Passwords.Off {
		l.other, l.otherWord = v.url("forgot"), "forgot"
	}
	return l
}

// siteName is what mails call the site.
func (v *visit) siteName() string {
	return cmp.Or(v.texts.Site, v.host())
}

func (v *visit) host() string {
	_, host, _ := strings.Cut(v.site.originOf(v.r), "://")
	return host
}

// url is the absolute URL of a page, for mails.
func (v *visit) url(name string, pairs ...string) string {
	return v.site.originOf(v.r) + withQuery(v.site.path(name), pairs...)
}

// allowMail counts a mail that anyone can cause, before anything is looked up.
func (v *visit) allowMail(to string) error { return v.allowBy(v.mails, to) }

// allowCode counts a mail with a code that follows a right password, or that a session asks
// for. It has a limit apart: with one limit for all, an attacker who asks for mails to an
// address would keep its owner from every code, and so from signing in.
func (v *visit) allowCode(to string) error { return v.allowBy(v.codes, to) }

func (v *visit) allowBy(limit *pintle.Email, to string) error {
	err := limit.Allow(v.ctx, &pintle.MailRequest{Address: to, Provider: providerID, Request: v.r, Client: v.client()})
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*pintle.Error](err); ok {
		return tooMany(refused.RetryAfter)
	}
	return unavailable(err)
}

// admitAction asks the host whether the request may cause a mail at all.
func (v *visit) admitAction(action string) error {
	if v.o.Admit == nil {
		return nil
	}
	if err := v.o.Admit(v.ctx, v.submitted(), action); err != nil {
		v.log().InfoContext(v.ctx, "pintle: Options.Admit refused a request", slog.String("action", action), slog.Any("error", err))
		return refusal(err)
	}
	return nil
}
