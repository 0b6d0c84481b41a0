package account_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
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
	s.recordsNone(secrets, "op_invited", "op_reset_sent", "sign_up", "password_reset", "device_remembered", "exported", "address_change_done",
		"address_change_undone")
}

// AT-94, AC-12: the code that is mailed in place of a second factor, recovery codes, and
// what a picture has, which may be where it was taken.
func TestNoRecordHasASecretOfAMailedSecondFactorOrAPicture(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		secrets := map[string]string{}
		keep := func(what, secret string) string { secrets[secret] = what; return secret }
		p := &pictureStore{link: keep("address of a picture", "/pictures/canary-address")}
		s, u := withMailedCode(t, tokens, p.configure)
		b := s.half()
		code := keep("mailed code", b.mailsACode())
		keep("mailed code without the space", strings.ReplaceAll(code, " ", ""))
		b.post(secondFactor, "method", "mail", "code", keep("wrong code", "1357 9135")).want(http.StatusUnprocessableEntity)
		b.get(secondFactor+"?method=mail").post(secondFactor, "method", "mail", "code", code).isSignedInAs(ada)
		b.get("/auth/account/profile")
		b.uploads(picturePath, append(drawn(t, "image/png", 1, 1), keep("picture", "canary of the camera")...)).isAt("/auth/account/profile").want(http.StatusOK)
		b.uploads(picturePath, []byte(keep("file that is no picture", "canary of a document"))).want(http.StatusUnprocessableEntity)
		p.err = &pintle.Error{Code: pintle.CodeAccessDenied}
		b.uploads(picturePath, drawn(t, "image/png", 1, 1)).want(http.StatusForbidden)
		made := s.fresh(u).post(recoveryPage, "new", "1")
		codes := made.codes()
		for _, code := range codes {
			keep("recovery code", code)
		}
		made.post(recoveryPage, "saved", "1").want(http.StatusOK)
		s.half().post(secondFactor, "method", "recovery", "code", codes[0]).isSignedInAs(ada)
		s.recordsNone(secrets, "sign_in", "second_factor_failed", "profile_changed", "recovery_made", "recovery_used")
	})
}

// recordsNone checks that no secret is in a record or its line of the log, and that there are events of
// the kinds.
func (s *site) recordsNone(secrets map[string]string, kinds ...string) {
	s.t.Helper()
	var records strings.Builder
	caused := map[string]bool{}
	for _, e := range s.everything(accountstore.ActivityQuery{}) {
		text, err := json.Marshal(e)
		s.done(err)
		records.Write(append(text, '\n'))
		caused[e.Kind] = true
	}
	records.WriteString(strings.Join(s.logOfActivity(), ""))
	for _, kind := range kinds {
		if !caused[kind] {
			s.t.Errorf("the test has caused no %s", kind)
		}
	}
	for secret, what := range secrets {
		if len(secret) >= 6 && strings.Contains(records.String(), secret) {
			s.t.Errorf("the %s %q is in the records:\n%s", what, secret, records.String())
		}
	}
}
