package smtp_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http/httptest"
	"net/mail"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/smtp"
)

const (
	link     = "https://app.example.com/auth/callback/email?token=c0ffee&email=ada%40example.com"
	password = "pass word/with:odd@characters"
)

func message() *pintle.Message {
	return &pintle.Message{
		From: "The App <no-reply@app.example.com>", To: "ada@example.com",
		Subject: "Sign in to app.example.com", Text: "Sign in to app.example.com\n" + link + "\n\n",
		HTML: `<p><a href="` + strings.ReplaceAll(link, "&", "&amp;") + `">Sign in</a> – très bien</p>`,
		URL:  link, Token: "c0ffee", Provider: "email",
	}
}

// optionsFor are the options for a mailbox, which is on loopback.
func optionsFor(t *testing.T, address string) smtp.Options {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return smtp.Options{Host: host, Port: number}
}

func newSender(t *testing.T, o smtp.Options) *smtp.Sender {
	t.Helper()
	s, err := smtp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trusting(pool *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// wantNoSecrets fails the test if an error has text that must not be logged.
func wantNoSecrets(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{link, "c0ffee", password, "odd@characters", "ada@example.com"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("SH-13 the error repeats %q: %v", secret, err)
		}
	}
}

func TestAMailArrivesWithTextAndHTML(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	m := message()
	if err := newSender(t, optionsFor(t, box.Addr)).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got, err := box.Wait(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != m.Text || got.HTML != m.HTML {
		t.Errorf("the parts are\n%q\n%q\nwant\n%q\n%q", got.Text, got.HTML, m.Text, m.HTML)
	}
	if got.From != "no-reply@app.example.com" || len(got.To) != 1 || got.To[0] != "ada@example.com" {
		t.Errorf("the envelope is from %q to %q", got.From, got.To)
	}
	if got.Subject != m.Subject {
		t.Errorf("the subject is %q, want %q", got.Subject, m.Subject)
	}
	for name, want := range map[string]string{
		"From": `"The App" <no-reply@app.example.com>`, "To": "<ada@example.com>", "Auto-Submitted": "auto-generated",
	} {
		if is := got.Header.Get(name); is != want {
			t.Errorf("%s is %q, want %q", name, is, want)
		}
	}
	if sent, err := got.Header.Date(); err != nil || time.Since(sent).Abs() > time.Minute {
		t.Errorf("the date is %v (%v), want now", sent, err)
	}
	if id := got.Header.Get("Message-Id"); !strings.HasSuffix(id, "@app.example.com>") {
		t.Errorf("the message id is %q, which is not of the sender's domain", id)
	}
	if kind := got.Header.Get("Content-Type"); !strings.HasPrefix(kind, "multipart/alternative") {
		t.Errorf("the content is %q, want alternatives", kind)
	}
}

func TestAMailWithOnePartIsSentAsThat(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	sender := newSender(t, optionsFor(t, box.Addr))
	for _, change := range []func(*pintle.Message){
		func(m *pintle.Message) { m.HTML = "" },
		func(m *pintle.Message) { m.Text = "" },
	} {
		m := message()
		change(m)
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		got, err := box.Wait(t.Context(), m.To)
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(got.Text) != strings.TrimSpace(m.Text) || strings.TrimSpace(got.HTML) != m.HTML || len(got.Links()) != 1 || got.Links()[0] != link {
			t.Errorf("text %q, HTML %q, links %q", got.Text, got.HTML, got.Links())
		}
	}
}

func TestTheSenderIsThatOfTheProviderOrElseOfTheOptions(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	o := optionsFor(t, box.Addr)
	m := message()
	m.From = ""
	err := newSender(t, o).Send(t.Context(), m)
	if err == nil || !strings.Contains(err.Error(), "From of pintle.Email or account.Options") {
		t.Errorf("without a sender the error is %v, which does not name the option", err)
	}
	o.From = "Other <other@app.example.com>"
	if err := newSender(t, o).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := box.Messages()[0].From; got != "other@app.example.com" {
		t.Errorf("the sender is %q", got)
	}
}

func TestSTARTTLSIsUsed(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{STARTTLS: true, Username: "app", Password: password})
	for _, encryption := range []smtp.Encryption{smtp.STARTTLS, smtp.ByPort} {
		o := optionsFor(t, box.Addr)
		o.Encryption, o.Username, o.Password, o.TLSConfig = encryption, "app", password, trusting(box.CertPool())
		box.Empty()
		if err := newSender(t, o).Send(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
		if got := box.Messages()[0]; !got.Encrypted || got.Username != "app" {
			t.Errorf("the mail came encrypted=%t from %q", got.Encrypted, got.Username)
		}
	}
}

func TestTLSFromTheStartDelivers(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{Username: "app", Password: password})
	front, pool := tlsFront(t, box.Addr)
	o := optionsFor(t, front)
	o.Encryption, o.Username, o.Password, o.TLSConfig = smtp.ImplicitTLS, "app", password, trusting(pool)
	if err := newSender(t, o).Send(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	if got := box.Messages(); len(got) != 1 || got[0].Username != "app" {
		t.Errorf("the mailbox has %d mails", len(got))
	}
}

// tlsFront listens with TLS, as port 465 does, in front of a server without TLS.
// It returns its address and the certificates to trust.
func tlsFront(t *testing.T, behind string) (string, *x509.CertPool) {
	t.Helper()
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	pool := x509.NewCertPool()
	pool.AddCert(certified.Certificate())
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", behind)
				if err != nil {
					return
				}
				defer server.Close()
				go func() { _, _ = io.Copy(server, client) }()
				_, _ = io.Copy(client, server)
			}()
		}
	}()
	return listener.Addr().String(), pool
}

// A fault of the server gives an error that names it, in time and without secrets,
// and no mail is delivered.
func TestAServerThatMisbehavesGivesAnErrorThatNamesTheFault(t *testing.T) {
	tests := []struct {
		fault authtest.MailFault
		hint  string
	}{
		{authtest.MailHangs, "Options.Timeout"},
		{authtest.MailHangsAfterMessage, "Options.Timeout"},
		{authtest.MailBusy, "421"},
		{authtest.MailRefusesSender, "From of pintle.Email or account.Options"},
		{authtest.MailRefusesRecipient, "550 5.1.1"},
		{authtest.MailDefersRecipient, "later"},
		{authtest.MailRefusesMessage, "554 5.6.0"},
		{authtest.MailRefusesAuth, "Options.Password"},
		{authtest.MailDrops, "handing the mail over"},
		{authtest.MailRefusesTLS, "starting TLS"},
		{authtest.MailHidesTLS, "STARTTLS"},
		{authtest.MailForeignCertificate, "certificate"},
	}
	covered := map[authtest.MailFault]bool{}
	for _, tt := range tests {
		covered[tt.fault] = true
		t.Run("the server "+string(tt.fault), func(t *testing.T) {
			t.Parallel()
			box := authtest.StartMailbox(t, authtest.MailboxOptions{STARTTLS: true, Username: "app", Password: password})
			box.Break(tt.fault)
			o := optionsFor(t, box.Addr)
			o.Encryption, o.Username, o.Password, o.TLSConfig = smtp.STARTTLS, "app", password, trusting(box.CertPool())
			o.Timeout = time.Minute // for a machine that is slow to encrypt
			if tt.fault == authtest.MailHangs || tt.fault == authtest.MailHangsAfterMessage {
				o.Timeout = time.Second
			}
			began := time.Now()
			err := newSender(t, o).Send(t.Context(), message())
			if err == nil {
				t.Fatal("the mail counts as sent")
			}
			if took := time.Since(began); took > 8*time.Second { // without Options.Timeout it takes 10
				t.Errorf("BCP-21 it took %s to fail", took)
			}
			if !strings.Contains(err.Error(), tt.hint) || !strings.Contains(err.Error(), box.Addr) {
				t.Errorf("the error names neither %q nor the server: %v", tt.hint, err)
			}
			wantNoSecrets(t, err)
			if n := len(box.Messages()); n != 0 {
				t.Errorf("%d mails arrived", n)
			}
		})
	}
	for _, fault := range authtest.MailFaults() {
		if !covered[fault] {
			t.Errorf("no test of a server that %s", fault)
		}
	}
}

// The error names the stage at which a server rejects the mail.
func TestARefusalNamesTheStage(t *testing.T) {
	fine := map[string]string{"EHLO": "250 mail", "DATA": "354 go on", ".": "250 kept", "QUIT": "221 bye", "*": "250 fine"}
	for verb, stage := range map[string]string{
		"EHLO": "greeting the server", "MAIL": "naming the sender", "RCPT": "naming the recipient", "DATA": "handing the mail over", ".": "handing the mail over",
	} {
		answers := maps.Clone(fine)
		answers[verb] = "550 5.7.1 no"
		answers["HELO"] = answers["EHLO"]
		server := newScripted(t, "220 mail", answers)
		err := newSender(t, optionsFor(t, server.addr)).Send(t.Context(), message())
		refusal, ok := errors.AsType[*smtp.Refusal](err)
		if !ok || refusal.Code != 550 || !strings.Contains(err.Error(), stage) {
			t.Errorf("a server that rejects %s gives the error %v", verb, err)
		}
	}
	server := newScripted(t, "220 mail", fine)
	if err := newSender(t, optionsFor(t, server.addr)).Send(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	if heard := server.heard(); heard[len(heard)-1] != "QUIT" {
		t.Errorf("the conversation ended with %q", heard[len(heard)-1])
	}
}

// The connection is closed whether a server accepts the mail or not, and whatever
// its reply to QUIT.
func TestNoConnectionIsLeftOpen(t *testing.T) {
	fine := map[string]string{"EHLO": "250-mail\r\n250 AUTH PLAIN", "DATA": "354 go on", ".": "250 kept", "QUIT": "250 stay a while", "*": "250 fine", "AUTH": "235 welcome"}
	for verb, answer := range map[string]string{
		"": "", "EHLO": "550 no", "AUTH": "535 5.7.8 no", "MAIL": "550 no", "RCPT": "550 no", "DATA": "550 no", ".": "550 no",
	} {
		answers := maps.Clone(fine)
		answers[verb], answers["HELO"] = answer, answer
		server := newScripted(t, "220 mail", answers)
		o := optionsFor(t, server.addr)
		o.Username, o.Password = "app", password
		err := newSender(t, o).Send(t.Context(), message())
		if refusal, ok := errors.AsType[*smtp.Refusal](err); ok != (verb != "") || ok && strconv.Itoa(refusal.Code) != answer[:3] || err != nil && !ok {
			t.Errorf("a server that answers %q to %s makes the error %v", answer, verb, err)
		}
		select {
		case <-server.hungUp:
		case <-time.After(5 * time.Second):
			t.Errorf("after %q to %s the connection stays open", answer, verb)
		}
	}
}

func TestAServerThatCannotBeReachedIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close() // the port is closed now
	o := optionsFor(t, listener.Addr().String())
	if err := newSender(t, o).Send(t.Context(), message()); err == nil || !strings.Contains(err.Error(), "connecting") {
		t.Errorf("the error is %v", err)
	}
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	o = optionsFor(t, box.Addr)
	o.Encryption = smtp.ImplicitTLS
	if err := newSender(t, o).Send(t.Context(), message()); err == nil || !strings.Contains(err.Error(), "STARTTLS") {
		t.Errorf("a server without TLS on the port for it makes the error %v", err)
	}
	front, pool := tlsFront(t, box.Addr)
	o = optionsFor(t, front)
	o.Encryption, o.TLSConfig = smtp.ImplicitTLS, trusting(pool)
	o.TLSConfig.ServerName = "mail.example.org"
	if err := newSender(t, o).Send(t.Context(), message()); err == nil || !strings.Contains(err.Error(), "Options.Host") {
		t.Errorf("a certificate for another name makes the error %v", err)
	}
}

func TestAHiddenOfferOfTLSGetsNeitherPasswordNorMail(t *testing.T) {
	server := newScripted(t, "220 mail", map[string]string{
		"EHLO": "250-mail\r\n250 AUTH PLAIN LOGIN", "*": "250 fine",
	})
	o := optionsFor(t, server.addr)
	o.Encryption, o.Username, o.Password = smtp.STARTTLS, "app", password
	err := newSender(t, o).Send(t.Context(), message())
	if err == nil {
		t.Fatal("the mail was sent without TLS")
	}
	if !strings.Contains(err.Error(), "starting TLS: the server does not offer STARTTLS: use ImplicitTLS") {
		t.Errorf("the error does not name what to change: %v", err)
	}
	for _, line := range server.heard() {
		if verb, _, _ := strings.Cut(line, " "); verb != "EHLO" && verb != "QUIT" {
			t.Errorf("the server heard %q", line)
		}
	}
}

func TestASendEndsWithItsContext(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	box.Break(authtest.MailHangs)
	o := optionsFor(t, box.Addr)
	o.Timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	err := newSender(t, o).Send(ctx, message())
	if !errors.Is(err, context.Canceled) || time.Since(began) > 5*time.Second {
		t.Errorf("after %s the error is %v, want that of the context", time.Since(began), err)
	}
}

func TestCallersCanReadARefusal(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	sender := newSender(t, optionsFor(t, box.Addr))
	for fault, want := range map[authtest.MailFault]struct {
		code      int
		enhanced  string
		temporary bool
	}{
		authtest.MailRefusesRecipient: {550, "5.1.1", false},
		authtest.MailDefersRecipient:  {450, "4.2.0", true},
	} {
		box.Repair()
		box.Break(fault)
		refusal, ok := errors.AsType[*smtp.Refusal](sender.Send(t.Context(), message()))
		if !ok || refusal.Code != want.code || refusal.Enhanced != want.enhanced || refusal.Temporary() != want.temporary {
			t.Errorf("a server that %s makes the error %+v", fault, refusal)
		}
	}
}

// Only the answer that a mailbox does not exist is about what a person typed.
func TestARecipientThatDoesNotExistIsNoFaultOfTheServer(t *testing.T) {
	for _, tt := range []struct {
		verb, answer string
		want         bool
	}{
		{"RCPT", "550 5.1.1 no such user", true},
		{"RCPT", "550 5.1.10 null MX", true},
		{"RCPT", "554 5.7.1 relay access denied", false},
		{"RCPT", "550 5.1.8 bad sender", false},
		{"RCPT", "550 no", false},
		{"RCPT", "450 4.1.1 not now", false},
		{"MAIL", "550 5.1.1 no", false},
	} {
		answers := map[string]string{"EHLO": "250 mail", "DATA": "354 go on", ".": "250 kept", "QUIT": "221 bye", "*": "250 fine"}
		answers[tt.verb] = tt.answer
		server := newScripted(t, "220 mail", answers)
		refusal, ok := errors.AsType[*smtp.Refusal](newSender(t, optionsFor(t, server.addr)).Send(t.Context(), message()))
		if !ok || refusal.RecipientRefused() != tt.want {
			t.Errorf("%q to %s is a refusal of the recipient: %t", tt.answer, tt.verb, ok && refusal.RecipientRefused())
		}
	}
}

// Spam filters quote the link that they reject, and proxies send pages.
func TestTheTextOfAServerIsNotRepeated(t *testing.T) {
	tests := []struct {
		name    string
		welcome string
		answers map[string]string
	}{
		{"about the message", "220 mail", map[string]string{"EHLO": "250 mail", "DATA": "354 go on", ".": "554 spam: " + link, "*": "250 fine"}},
		{"about the recipient", "220 mail", map[string]string{"EHLO": "250 mail", "RCPT": "550 no ada@example.com here", "*": "250 fine"}},
		{"instead of an answer", "220 mail", map[string]string{"EHLO": "250 mail", "DATA": "354 go on", ".": link, "*": "250 fine"}},
		{"instead of a greeting", "HTTP/1.1 400 " + link, nil},
	}
	for _, tt := range tests {
		t.Run("SH-13 "+tt.name, func(t *testing.T) {
			server := newScripted(t, tt.welcome, tt.answers)
			err := newSender(t, optionsFor(t, server.addr)).Send(t.Context(), message())
			if err == nil {
				t.Fatal("the mail counts as sent")
			}
			wantNoSecrets(t, err)
		})
	}
}

func TestAuthenticationUsesAMechanismOfTheServer(t *testing.T) {
	for offered, want := range map[string]string{
		"LOGIN": "AUTH LOGIN", "PLAIN LOGIN": "AUTH PLAIN", "LOGIN PLAIN CRAM-MD5": "AUTH PLAIN", "PLAIN SCRAM-SHA-256": "AUTH SCRAM-SHA-256",
	} {
		server := newScripted(t, "220 mail", map[string]string{"EHLO": "250-mail\r\n250 AUTH " + offered, "AUTH": "535 5.7.8 no", "*": "250 fine"})
		o := optionsFor(t, server.addr)
		o.Username, o.Password = "app", password
		err := newSender(t, o).Send(t.Context(), message())
		if err == nil || !strings.Contains(err.Error(), "Options.Password") {
			t.Errorf("a wrong password is the error %v", err)
		}
		if heard := strings.Join(server.heard(), "\n"); !strings.Contains(heard, want) {
			t.Errorf("a server that offers %s heard\n%s\nwant %s", offered, heard, want)
		}
	}
	server := newScripted(t, "220 mail", map[string]string{"EHLO": "250-mail\r\n250 AUTH GSSAPI", "*": "250 fine"})
	o := optionsFor(t, server.addr)
	o.Username, o.Password = "app", password
	if err := newSender(t, o).Send(t.Context(), message()); err == nil || !strings.Contains(err.Error(), "PLAIN") {
		t.Errorf("a server that knows no common way makes the error %v", err)
	}
}

// An address that the mail library, the server and this package read in
// different ways is rejected, even if the host normalised it: SH-07, SH-14.
func TestAnAmbiguousAddressIsRejected(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	sender := newSender(t, optionsFor(t, box.Addr))
	for _, to := range []string{
		"", "ada", "@example.com", "ada@", "a@b@example.com",
		"ada@example.com,eve@evil.example", "ada,eve@evil.example", "ada@example.com eve@evil.example", "ada eve@evil.example",
		"ada;eve@evil.example", "<eve@evil.example>", "Ada <eve@evil.example>", "ada@example.com (eve)",
		`"eve@evil.example x"@example.com`, `"ada"@example.com`, `a\b@example.com`, "ada@[192.0.2.1]", "group:eve@evil.example;",
		"ada@example.com\r\nBcc: eve@evil.example", "ada@example.com\nRCPT TO:<eve@evil.example>", "ada\x00@example.com",
		"ada@example.com\u2028", "a\u200bda@example.com", "\xff@example.com", strings.Repeat("a", 400) + "@example.com",
	} {
		m := message()
		m.To = to
		err := sender.Send(t.Context(), m)
		if err == nil {
			t.Errorf("a mail went to %q", to)
			continue
		}
		if strings.Contains(err.Error(), "evil") {
			t.Errorf("the error repeats %q: %v", to, err)
		}
	}
	for _, to := range []string{"ada@example.com", "a.d-a_1+news@example.com", "o'neil@example.com", "ünïcödé@exämple.com", "a/b=c@example.com"} {
		m := message()
		m.To = to
		if err := sender.Send(t.Context(), m); err != nil {
			t.Errorf("no mail goes to %q: %v", to, err)
			continue
		}
		got := box.Messages()[len(box.Messages())-1]
		if len(got.To) != 1 || got.To[0] != to {
			t.Errorf("a mail to %q went to %q", to, got.To)
		}
		if parsed, err := mail.ParseAddressList(got.Header.Get("To")); err != nil || len(parsed) != 1 || parsed[0].Address != to {
			t.Errorf("the To line of a mail to %q reads %q", to, got.Header.Get("To"))
		}
	}
}

func TestHeaderFieldsCannotBeInjected(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	sender := newSender(t, optionsFor(t, box.Addr))
	m := message()
	m.Subject = "Sign in\r\nBcc: eve@evil.example\r\n\r\nand a body"
	if err := sender.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := box.Messages()[0]; got.Header.Get("Bcc") != "" || len(got.To) != 1 || got.Text != m.Text {
		t.Errorf("the subject became %q to %q with the text %q", got.Header.Get("Bcc"), got.To, got.Text)
	}
	m = message()
	m.From = "App <no-reply@app.example.com>\r\nBcc: eve@evil.example"
	if err := sender.Send(t.Context(), m); err == nil {
		t.Error("a sender with a line break was taken")
	}
	m = message()
	m.Text = "Sign in\r\n.\r\nMAIL FROM:<eve@evil.example>\r\n"
	if err := sender.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if n := len(box.Messages()); n != 2 {
		t.Errorf("a dot in the text ended the mail: %d mails arrived, want 2", n)
	}
}

func TestManyMailsAtATime(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{STARTTLS: true, Username: "app", Password: password})
	o := optionsFor(t, box.Addr)
	o.Username, o.Password, o.TLSConfig = "app", password, trusting(box.CertPool())
	sender := newSender(t, o)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			m := message()
			m.To = fmt.Sprintf("person-%d@example.com", i)
			if err := sender.Send(t.Context(), m); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 16 {
		if _, err := box.Wait(t.Context(), fmt.Sprintf("person-%d@example.com", i)); err != nil {
			t.Error(err)
		}
	}
}

// A scripted is a server with scripted replies: for each command the reply under
// its verb, or else under "*".
type scripted struct {
	addr string

	hungUp chan struct{} // has a value for each connection that the client closed

	mu    sync.Mutex
	lines []string
}

func newScripted(t *testing.T, welcome string, answers map[string]string) *scripted {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	s := &scripted{addr: listener.Addr().String(), hungUp: make(chan struct{}, 10)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(textproto.NewConn(conn), welcome, answers)
		}
	}()
	return s
}

func (s *scripted) serve(conn *textproto.Conn, welcome string, answers map[string]string) {
	defer conn.Close()
	if conn.PrintfLine("%s", welcome) != nil {
		return
	}
	for {
		line, err := conn.ReadLine()
		if err != nil {
			s.hungUp <- struct{}{}
			return
		}
		s.mu.Lock()
		s.lines = append(s.lines, line)
		s.mu.Unlock()
		verb, _, _ := strings.Cut(line, " ")
		answer, ok := answers[verb]
		if !ok {
			answer = answers["*"]
		}
		if conn.PrintfLine("%s", answer) != nil {
			return
		}
		if strings.HasPrefix(answer, "354") {
			if _, err := conn.ReadDotLines(); err != nil || conn.PrintfLine("%s", answers["."]) != nil {
				return
			}
		}
	}
}

func (s *scripted) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.lines...)
}
