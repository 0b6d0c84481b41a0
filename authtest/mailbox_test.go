package authtest_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/authtest"
)

const plainMail = "From: Pintle <no-reply@example.com>\r\nTo: kim@example.com\r\nSubject: Sign in\r\n\r\nhttps://app.example.test/x?token=1\r\n"

// send delivers a mail with the standard library's client, which is not ours.
func send(t *testing.T, box *authtest.Mailbox, auth smtp.Auth, to, raw string) error {
	t.Helper()
	return sendWithin(t, box, auth, to, raw, 10*time.Second)
}

func sendWithin(t *testing.T, box *authtest.Mailbox, auth smtp.Auth, to, raw string, limit time.Duration) error {
	t.Helper()
	conn, err := net.DialTimeout("tcp", box.Addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(limit))
	client, err := smtp.NewClient(conn, "127.0.0.1")
	if err != nil {
		return err
	}
	if ok, _ := client.Extension("STARTTLS"); ok {
		if err := client.StartTLS(&tls.Config{ServerName: "127.0.0.1", RootCAs: box.CertPool()}); err != nil {
			return err
		}
	}
	if auth != nil {
		if err := client.Auth(auth); err != nil {
			return err
		}
	}
	if err := client.Mail("no-reply@example.com"); err != nil {
		return err
	}
	if err := client.Rcpt(to); err != nil {
		return err
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, raw); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return client.Quit()
}

func TestMailboxTakesMailFromNetSMTP(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	if err := smtp.SendMail(box.Addr, nil, "no-reply@example.com", []string{"Kim@example.com", "lee@example.com"}, []byte(plainMail+"\r\n.hidden dot\r\n")); err != nil {
		t.Fatal(err)
	}
	m, err := box.Wait(t.Context(), "kim@EXAMPLE.com")
	if err != nil {
		t.Fatal(err)
	}
	if m.From != "no-reply@example.com" || !slices.Equal(m.To, []string{"Kim@example.com", "lee@example.com"}) {
		t.Errorf("envelope from %q to %q", m.From, m.To)
	}
	if m.Subject != "Sign in" || m.Header.Get("To") != "kim@example.com" || m.Encrypted || m.Username != "" {
		t.Errorf("mail = %+v", m)
	}
	if want := "https://app.example.test/x?token=1\n\n.hidden dot\n"; m.Text != want {
		t.Errorf("text = %q, want %q", m.Text, want)
	}
	if got := m.Links(); !slices.Equal(got, []string{"https://app.example.test/x?token=1"}) {
		t.Errorf("links = %q", got)
	}
}

func TestMailboxAuthenticatesBehindSTARTTLS(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{STARTTLS: true, Username: "kim", Password: "pass word"})
	if err := send(t, box, smtp.PlainAuth("", "kim", "pass word", "127.0.0.1"), "a@example.com", plainMail); err != nil {
		t.Fatal(err)
	}
	m, err := box.Wait(t.Context(), "a@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if !m.Encrypted || m.Username != "kim" {
		t.Errorf("encrypted %t, user %q; want true, kim", m.Encrypted, m.Username)
	}
	for _, auth := range []smtp.Auth{nil, smtp.PlainAuth("", "kim", "wrong", "127.0.0.1"), smtp.PlainAuth("", "lee", "pass word", "127.0.0.1")} {
		if err := send(t, box, auth, "b@example.com", plainMail); err == nil {
			t.Errorf("mail was accepted with %v", auth)
		}
	}
	if n := len(box.Messages()); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
}

func TestWaitReturnsEachMailOnceInOrder(t *testing.T) {
	box := authtest.NewMailbox(authtest.MailboxOptions{})
	deliver := func(to, subject string) {
		if err := box.Deliver("x@example.com", []string{to}, []byte("Subject: "+subject+"\r\n\r\nhello\r\n")); err != nil {
			t.Error(err)
		}
	}
	deliver("a@example.com", "one")
	deliver("b@example.com", "other")
	deliver("a@example.com", "two")
	time.AfterFunc(20*time.Millisecond, func() { deliver("a@example.com", "three") })
	for _, want := range []string{"one", "two", "three"} {
		m, err := box.Wait(t.Context(), "a@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if m.Subject != want {
			t.Errorf("subject = %q, want %q", m.Subject, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := box.Wait(ctx, "a@example.com"); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "b@example.com") {
		t.Errorf("error = %v, want the deadline, and the addresses with mail", err)
	}
	if n := len(box.Messages()); n != 4 {
		t.Errorf("%d messages, want 4", n)
	}
	box.Empty()
	if n := len(box.Messages()); n != 0 {
		t.Errorf("%d messages after Empty, want none", n)
	}
}

func TestEveryMailFaultCanBeSeen(t *testing.T) {
	opts := authtest.MailboxOptions{STARTTLS: true, Username: "kim", Password: "pass"}
	auth := smtp.PlainAuth("", "kim", "pass", "127.0.0.1")
	code := func(want int) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*textproto.Error](err)
			return ok && e.Code == want
		}
	}
	silence := func(err error) bool {
		e, ok := errors.AsType[net.Error](err)
		return ok && e.Timeout()
	}
	tests := map[authtest.MailFault]func(error) bool{
		authtest.MailHangs:              silence,
		authtest.MailHangsAfterMessage:  silence,
		authtest.MailBusy:               code(421),
		authtest.MailRefusesSender:      code(550),
		authtest.MailRefusesRecipient:   code(550),
		authtest.MailDefersRecipient:    code(450),
		authtest.MailRefusesMessage:     code(554),
		authtest.MailRefusesAuth:        code(535),
		authtest.MailRefusesTLS:         code(454),
		authtest.MailDrops:              func(err error) bool { return errors.Is(err, io.EOF) || isReset(err) },
		authtest.MailForeignCertificate: func(err error) bool { _, ok := errors.AsType[*tls.CertificateVerificationError](err); return ok },
		authtest.MailHidesTLS:           func(err error) bool { return err == nil }, // net/smtp lets itself be downgraded on loopback
	}
	for _, fault := range authtest.MailFaults() {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			see, ok := tests[fault]
			if !ok {
				t.Fatal("no test detects this fault")
			}
			box := authtest.StartMailbox(t, opts)
			if err := send(t, box, auth, "a@example.com", plainMail); err != nil {
				t.Fatalf("without the fault: %v", err)
			}
			box.Break(fault)
			limit := 10 * time.Second
			if fault == authtest.MailHangs || fault == authtest.MailHangsAfterMessage {
				limit = 300 * time.Millisecond
			}
			err := sendWithin(t, box, auth, "a@example.com", plainMail, limit)
			if !see(err) {
				t.Errorf("got %v", err)
			}
			arrived := box.Messages()
			if fault == authtest.MailHidesTLS {
				if len(arrived) != 2 || arrived[1].Encrypted {
					t.Errorf("%d messages; want a second one in the clear", len(arrived))
				}
			} else if len(arrived) != 1 {
				t.Errorf("%d messages arrived, want only the one before", len(arrived))
			}
			box.Repair()
			if err := send(t, box, auth, "a@example.com", plainMail); err != nil {
				t.Errorf("after Repair: %v", err)
			}
		})
	}
}

func isReset(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

func TestSMTPCommandsOutOfOrderAreRejected(t *testing.T) {
	tests := []struct {
		name   string
		opts   authtest.MailboxOptions
		script []string // commands, each with the code of its answer behind a bar
	}{
		{"no greeting", authtest.MailboxOptions{}, []string{"MAIL FROM:<a@b>|503"}},
		{"no sender", authtest.MailboxOptions{}, []string{"EHLO x|250", "RCPT TO:<a@b>|503", "DATA|503"}},
		{"no recipient", authtest.MailboxOptions{}, []string{"HELO x|250", "MAIL FROM:<>|250", "DATA|503"}},
		{"two senders", authtest.MailboxOptions{}, []string{"EHLO x|250", "MAIL FROM:<a@b>|250", "MAIL FROM:<a@b>|503", "RSET|250", "MAIL FROM:<a@b> SIZE=9|250"}},
		{"malformed paths", authtest.MailboxOptions{}, []string{
			"EHLO x|250", "MAIL FROM:a@b|501", "MAIL a@b|501", "MAIL FROM:<a@b|501", "MAIL FROM:<a@b>x|501", "mail from: <a@b>|250",
			"RCPT TO:<>|501", `RCPT TO:<"a>b"@c>|250`,
		}},
		{"unknown", authtest.MailboxOptions{}, []string{"EXPN x|500", "|500", "NOOP|250", "VRFY a|252", "STARTTLS|502", "AUTH PLAIN x|503"}},
		{"no password wanted", authtest.MailboxOptions{}, []string{"EHLO x|250", "AUTH PLAIN AGEAYg==|504"}},
		{"TLS first, no password", authtest.MailboxOptions{STARTTLS: true}, []string{"EHLO x|250", "MAIL FROM:<a@b>|530"}},
		{"TLS first", authtest.MailboxOptions{STARTTLS: true, Username: "a", Password: "b"}, []string{
			"EHLO x|250", "AUTH PLAIN AGEAYg==|538", "MAIL FROM:<a@b>|530",
		}},
		{"AUTH first", authtest.MailboxOptions{Username: "a", Password: "b"}, []string{
			"EHLO x|250", "MAIL FROM:<a@b>|530", "AUTH LOGIN|504", "AUTH PLAIN !|501", "AUTH PLAIN AGE=|501", "AUTH PLAIN AGEAYw==|535",
			"AUTH PLAIN|334", "AGEAYg==|235", "AUTH PLAIN AGEAYg==|503", "MAIL FROM:<a@b>|250",
		}},
		{"unreadable mail", authtest.MailboxOptions{}, []string{
			"EHLO x|250", "MAIL FROM:<a@b>|250", "RCPT TO:<c@d>|250", "DATA|354", "no header\r\n.|554", "RCPT TO:<c@d>|503",
		}},
		{"good-bye", authtest.MailboxOptions{}, []string{"QUIT|221"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := dial(t, authtest.StartMailbox(t, tt.opts))
			for _, step := range tt.script {
				command, code, _ := strings.Cut(step, "|")
				if err := text.PrintfLine("%s", command); err != nil {
					t.Fatal(err)
				}
				if got, message, err := text.ReadResponse(0); fmt.Sprint(got) != code {
					t.Fatalf("%q: %d %s (%v), want %s", command, got, message, err, code)
				}
			}
		})
	}
}

func TestPlaintextBehindSTARTTLSIsNotTaken(t *testing.T) { // CVE-2011-0411
	box := authtest.StartMailbox(t, authtest.MailboxOptions{STARTTLS: true})
	conn, err := net.Dial("tcp", box.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	r := bufio.NewReader(conn)
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "EHLO x\r\n")
	for line := ""; !strings.HasPrefix(line, "250 "); {
		if line, err = r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprint(conn, "STARTTLS\r\nEHLO evil\r\nMAIL FROM:<evil@example.com>\r\n")
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "220") {
		t.Fatalf("%q, %v", line, err)
	}
	secure := tls.Client(conn, &tls.Config{ServerName: "localhost", RootCAs: box.CertPool()})
	r = bufio.NewReader(secure)
	for _, command := range []string{"RCPT TO:<a@b>", "MAIL FROM:<a@b>"} {
		fmt.Fprint(secure, command+"\r\n")
		if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "503") {
			t.Errorf("%s: %q, %v; want 503, because there was no EHLO under TLS", command, line, err)
		}
	}
}

func TestMailboxBoundsWhatItReads(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	text := dial(t, box)
	_ = text.PrintfLine("EHLO %s", strings.Repeat("x", 1<<20)) // the server need not read it all
	if _, _, err := text.ReadResponse(250); err == nil {
		t.Error("a command of 1 MiB was answered")
	}
	if err := send(t, box, nil, "a@example.com", plainMail+strings.Repeat("0123456789\r\n", 3<<20)); err == nil {
		t.Error("a mail of 36 MiB was accepted")
	}
	if n := len(box.Messages()); n != 0 {
		t.Errorf("%d messages, want none", n)
	}
}

// dial connects and reads the greeting.
func dial(t *testing.T, box *authtest.Mailbox) *textproto.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", box.Addr)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	text := textproto.NewConn(conn)
	t.Cleanup(func() { text.Close() })
	if _, _, err := text.ReadResponse(220); err != nil {
		t.Fatal(err)
	}
	return text
}
