package account_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/internal/page"
)

// saysPassword reports whether a mail leads to a password.
func saysPassword(m *pintle.Message) bool {
	text := strings.ToLower(m.Subject + m.Text)
	return strings.Contains(text, "password") || strings.Contains(text, "forgot")
}

func TestMailsAdviseANewPasswordToUsersWhoHaveOne(t *testing.T) {
	for name, tt := range map[string]struct {
		password string
		former   string // of Passwords.Import
		says     bool
	}{
		"password":        {goodPassword, "", true},
		"none":            {"", "", false},
		"former password": {"", "$2a$04$" + strings.Repeat("a", 53), true},
	} {
		s := newSite(t, false, withGitHub, func(_ *pintle.Config, o *account.Options) {
			if tt.former != "" {
				o.Passwords.Import = func(context.Context, *pintle.User) (string, error) { return tt.former, nil }
			}
		})
		for _, kind := range account.AdvisesPassword {
			if kind == "code" || kind == "address-undone" { // the first is no notice, and the second follows a new password
				continue
			}
			u := s.seed(strings.ReplaceAll(kind, "-", "")+"@example.com", tt.password, true)
			account.Notify(s.accounts, s.browser().request(http.MethodGet, "/", http.NoBody), u, kind, "the value")
			m := s.mailOf(kind)
			if advice := page.English().Account.Mails[kind].Ignore; strings.Contains(m.Text, advice) != (tt.says || !strings.Contains(advice, "password")) {
				t.Errorf("%s: the mail %s says\n%s", name, kind, m.Text)
			}
			if !tt.says && saysPassword(m) {
				t.Errorf("%s: the mail %s speaks of a password:\n%s", name, kind, m.Text)
			}
			if to := s.server.URL + "/auth/account/devices"; !tt.says && m.URL != to {
				t.Errorf("%s: the mail %s links to %s, want %s", name, kind, m.URL, to)
			}
		}
	}
}

// A notice is sent also if it is not known whether the user has a password.
func TestANoticeIsSentWithoutTheRowsOfItsUser(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Passwords.Import = func(context.Context, *pintle.User) (string, error) { return "", errors.New("the table is not there") }
	})
	u := s.seed(ada, "", true)
	account.Notify(s.accounts, s.browser().request(http.MethodGet, "/", http.NoBody), u, "exported", "")
	if m := s.mailOf("exported"); !saysPassword(m) {
		t.Errorf("the mail says\n%s", m.Text)
	}
}

func TestAFirstPasswordIsMailedWithoutWordsAboutTheOneOfBefore(t *testing.T) {
	const stays = "Your password stays as it is."
	for name, tt := range map[string]struct {
		password string
		imports  bool
		says     bool
	}{
		"password": {goodPassword, false, true},
		"none":     {"", false, false},
		"imports":  {"", true, true}, // the mail that anyone can cause does not call the application
	} {
		asked := 0
		s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
			if tt.imports {
				o.Passwords.Import = func(context.Context, *pintle.User) (string, error) { asked++; return "", nil }
			}
		})
		u := s.seed(ada, tt.password, true)
		s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", ada)
		m := s.mailOf("reset")
		if !strings.Contains(m.Text, "If you did not ask for this mail, you can ignore it.") || strings.Contains(m.Text, stays) != tt.says {
			t.Errorf("%s: the mail says\n%s", name, m.Text)
		}
		if asked > 0 {
			t.Errorf("%s: the form for forgotten passwords has called Passwords.Import", name)
		}
		ops, ctx := s.operators()
		s.done(second(ops.SendReset(ctx, u.ID)))
		if m := s.mailOf("reset"); strings.Contains(m.Text, stays) != (tt.password != "") {
			t.Errorf("%s: the mail of an operator says\n%s", name, m.Text)
		}
	}
}
