package smtp_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/smtp"
)

func TestInvalidOptionsAreRejected(t *testing.T) {
	tests := []struct {
		name    string
		options smtp.Options
		want    string
	}{
		{"no host", smtp.Options{}, "Options.Host"},
		{"a host with a port", smtp.Options{Host: "mail.example.com/x"}, "Options.Host"},
		{"a negative port", smtp.Options{Host: "mail.example.com", Port: -1}, "Options.Port"},
		{"a port beyond all", smtp.Options{Host: "mail.example.com", Port: 70000}, "Options.Port"},
		{"a negative time-out", smtp.Options{Host: "mail.example.com", Timeout: -time.Second}, "Options.Timeout"},
		{"an unknown encryption", smtp.Options{Host: "mail.example.com", Encryption: 9}, "Options.Encryption"},
		{"a password without a name", smtp.Options{Host: "mail.example.com", Password: password}, "Options.Username"},
		{"no encryption to another machine", smtp.Options{Host: "mail.example.com", Encryption: smtp.NoEncryption}, "Options.DangerouslyAllowPlaintext"},
		{"an unencrypted password", smtp.Options{Host: "mail.example.com", Encryption: smtp.NoEncryption, DangerouslyAllowPlaintext: true, Username: "app", Password: password}, "password"},
		{"an invalid sender", smtp.Options{Host: "mail.example.com", From: "the app"}, "Options.From"},
		{"a sender in quotes", smtp.Options{Host: "mail.example.com", From: `"x y"@example.com`}, "Options.From"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := smtp.New(tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), password) {
				t.Errorf("the error is %v, want one about %s", err, tt.want)
			}
		})
	}
	for _, good := range []smtp.Options{
		{Host: "mail.example.com"},
		{Host: "mail.example.com", Port: 465},
		{Host: "mail.example.com", Encryption: smtp.NoEncryption, DangerouslyAllowPlaintext: true},
		{Host: "127.0.0.1", Encryption: smtp.NoEncryption, Username: "app", Password: password},
		{Host: "::1", Encryption: smtp.NoEncryption},
	} {
		if _, err := smtp.New(good); err != nil {
			t.Errorf("%v is rejected: %v", good, err)
		}
	}
}

func TestAURLDescribesAServer(t *testing.T) {
	box := authtest.StartMailbox(t, authtest.MailboxOptions{Username: "app@example.com", Password: password})
	sender, err := smtp.FromURL("smtp://app%40example.com:pass%20word%2Fwith%3Aodd%40characters@" + box.Addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	if got := box.Messages()[0].Username; got != "app@example.com" {
		t.Errorf("the mail came from %q", got)
	}
	for _, good := range []string{"smtps://mail.example.com", "smtps://mail.example.com:465/", "smtp://user:p@mail.example.com:587", "smtp://[::1]:1025"} {
		if _, err := smtp.FromURL(good); err != nil {
			t.Errorf("%s is rejected: %v", good, err)
		}
	}
}

// A URL holds a password, whose place in a malformed URL is unknown.
func TestAnInvalidURLIsRejectedWithoutRepeatingIt(t *testing.T) {
	for _, bad := range []string{
		"", "mail.example.com", "https://user:s3cret@mail.example.com", "smtp://", "smtp://user:s3cret@", "smtp://:25",
		"smtp://user:s3cret@mail.example.com:port", "smtp://user:s3cret@mail.example.com:0", "smtp://user:s3cret@mail.example.com:99999",
		"smtp://user:s3/cret@mail.example.com", "smtp://user:s3?cret@mail.example.com", "smtp://user:s3#cret@mail.example.com",
		"smtp://user:s3%cret@mail.example.com", "smtp://user:s3cret@mail.example.com/path", "smtp://mail.example.com?password=s3cret", "smtp://user:s3\ncret@mail.example.com",
	} {
		_, err := smtp.FromURL(bad)
		if err == nil {
			t.Errorf("%q is taken", bad)
			continue
		}
		if strings.Contains(err.Error(), "s3") || strings.Contains(err.Error(), "cret@") {
			t.Errorf("SH-13 the error repeats the password: %v", err)
		}
	}
}

func FuzzAnInvalidURLIsRejectedWithoutRepeatingIt(f *testing.F) {
	f.Add("s3cret")
	f.Add("/s3cret")
	f.Add("s3%cret:@")
	f.Fuzz(func(t *testing.T, password string) {
		const canary = "K7Q2canary"
		_, err := smtp.FromURL("smtp://user:" + canary + password + canary + "@mail.example.com:25")
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("the error repeats the password: %v", err)
		}
	})
}

func TestOptionsDoNotPrintTheirPassword(t *testing.T) {
	o := smtp.Options{Host: "mail.example.com", Username: "app", Password: "s3cret"}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("mail", "options", o)
	for _, text := range []string{log.String(), fmt.Sprint(o), fmt.Sprintf("%+v %#v %s", o, o, o)} {
		if strings.Contains(text, "s3cret") || !strings.Contains(text, "mail.example.com") {
			t.Errorf("SH-13 the options are shown as %s", text)
		}
	}
}
