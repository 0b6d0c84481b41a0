package account_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// AT-94, AC-12: no link, code, answer of a passkey, cookie or file of the flows that
// TestNoRecordHasASecret does not have is in a record, or in its line of the log.
func TestNoRecordHasASecretOfALinkAKeyOrAFile(t *testing.T) {
	s := newSite(t, false, withAll, remembering)
	secrets := map[string]string{}
	keep := func(what, secret string) string { secrets[secret] = what; return secret }
	ops, ctx := s.operators()
	chosen := keep("password", "canary horse battery")
	link, err := ops.Invite(ctx, account.Invitation{Email: ada})
	s.done(err)
	s.browser().get(keep("link of an invitation", link)).post("/auth/account/sign-up-finish", "password", chosen).isSignedInAs(ada)
	u := s.user(ada)
	sent, err := ops.SendReset(ctx, u.ID)
	s.done(err)
	s.browser().get(keep("link of an operator", sent)).post(reset, "password", keep("password", "canary second battery")).isAt("/auth/signin")
	code, id := s.app(u), s.keyOf(u, "canary key", 9*24*time.Hour)
	keep("id of a passkey", id)
	b := s.browser().signIn(ada, "canary second battery").isAt(secondFactor)
	data, _ := b.answer(id, secondOptions)
	b.post(secondFactor, "method", "passkey", "data", keep("answer of a passkey", data), "remember", "1").isSignedInAs(ada)
	keep("cookie of a browser", b.deviceCookie())
	s.browser().signIn(ada, "canary second battery").post(secondFactor, "code", keep("code", code())).isSignedInAs(ada)
	b.startSession(u, 0, "pwd", "otp").exports().want(http.StatusOK)
	keep("file", b.page)
	b.movesAddress(newAddress)
	keep("code of an address", s.mailOf("address-confirm").Code)
	keep("link of an address", s.mailOf("address-confirm").URL)
	undoing := s.mailOf("address-changed-undo")
	keep("token that undoes", undoing.Token)
	b.get(keep("link that undoes", undoing.URL))
	data, _ = b.answer(id, undo+"-options")
	b.post(undo, "password", keep("password", "canary third battery"), "method", "passkey", "data", keep("answer of a passkey", data)).isAt("/auth/signin")
	at, _ := url.Parse(s.server.URL)
	for _, c := range b.client.Jar.Cookies(at) {
		keep("cookie "+c.Name, c.Value)
	}
	for text := range secrets { // also what a link has alone
		if parsed, err := url.Parse(text); err == nil && parsed.Query().Get("token") != "" {
			keep("token of the "+secrets[text], parsed.Query().Get("token"))
		}
	}
	var records strings.Builder
	kinds := map[string]bool{}
	for _, e := range s.everything(accountstore.ActivityQuery{}) {
		text, _ := json.Marshal(e)
		records.Write(append(text, '\n'))
		kinds[e.Kind] = true
	}
	records.WriteString(strings.Join(s.logOfActivity(), ""))
	for _, kind := range []string{"op_invited", "op_reset_sent", "sign_up", "password_reset", "device_remembered", "exported", "address_change_done", "address_change_undone"} {
		if !kinds[kind] {
			t.Errorf("the test has caused no %s", kind)
		}
	}
	for secret, what := range secrets {
		if len(secret) >= 6 && strings.Contains(records.String(), secret) {
			t.Errorf("the %s %q is in the records:\n%s", what, secret, records.String())
		}
	}
}
