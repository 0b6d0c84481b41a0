package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/store/memstore"
)

// everything returns all events of a site, the newest first.
func (s *site) everything(q accountstore.ActivityQuery) []*accountstore.Event {
	s.t.Helper()
	q.Limit = 10_000
	events, _, err := s.rows.Activity(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	return events
}

// happened returns the kinds and outcomes of the events of a user, the oldest first.
func (s *site) happened(userID string) string {
	s.t.Helper()
	var all []string
	for _, e := range slices.Backward(s.everything(accountstore.ActivityQuery{UserID: userID})) {
		kind := e.Kind
		if e.Outcome != "ok" {
			kind += ":" + e.Outcome
		}
		all = append(all, kind)
	}
	return strings.Join(all, " ")
}

// logOfActivity returns the lines of the log that are about activity.
func (s *site) logOfActivity() []string {
	var lines []string
	for line := range strings.Lines(s.log()) {
		if strings.Contains(line, `msg="pintle: activity`) {
			lines = append(lines, line)
		}
	}
	return lines
}

// named describes each browser by its User-Agent.
func named(c *pintle.Config, _ *account.Options) {
	c.Session.Describe = func(r *http.Request) map[string]any { return map[string]any{"browser": r.Header.Get("X-Browser")} }
}

// AC-179
func TestWhatHappensToAnAccountIsRecorded(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		b := s.browser()
		b.get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.com").want(http.StatusOK)
		b.post("/auth/account/sign-up-sent", "code", "0000 0000").want(http.StatusUnprocessableEntity)
		b.post("/auth/account/sign-up-sent", "code", s.code()).want(http.StatusOK)
		b.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusOK)
		u := s.user("ada@example.com")
		check := func(want string) {
			t.Helper()
			// A failure is one of its minute, so within one millisecond its place is not known.
			got := slices.Sorted(slices.Values(strings.Fields(s.happened(u.ID))))
			if !slices.Equal(got, slices.Sorted(slices.Values(strings.Fields(want)))) {
				t.Errorf("what happened is\n%s, want\n%s", s.happened(u.ID), want)
			}
		}
		check("sign_up sign_in")
		b.post("/auth/account/profile", "name", "Ada").want(http.StatusOK)
		b.get("/auth/account/password").post("/auth/account/password", "current", "a wrong one of mine", "password", goodPassword+" 2").want(http.StatusUnprocessableEntity)
		b.post("/auth/account/password", "current", goodPassword, "password", goodPassword+" 2").want(http.StatusOK)
		check("sign_up sign_in profile_changed password_changed:failed password_changed")
		b.get("/auth/account/totp")
		key, a := b.key()
		b.post("/auth/account/totp", "key", key, "code", "000000").want(http.StatusUnprocessableEntity)
		b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).want(http.StatusOK)
		codes := shownCodes.FindAllStringSubmatch(b.page, -1)
		b.post("/auth/account/recovery-codes", "saved", "1").want(http.StatusOK)
		b.get("/auth/signout").post("/auth/signout")
		check("sign_up sign_in profile_changed password_changed:failed password_changed factor_added:failed factor_added sign_out")

		b.signIn("ada@example.com", "another wrong one").want(http.StatusOK)
		b.signIn("ada@example.com", goodPassword+" 2").post("/auth/account/second-factor", "code", "123456").want(http.StatusUnprocessableEntity)
		b.post("/auth/account/second-factor", "code", codes[0][1]).want(http.StatusOK)
		b.isSignedInAs("ada@example.com")
		const begin = "sign_up sign_in profile_changed password_changed:failed password_changed factor_added:failed factor_added sign_out "
		check(begin + "sign_in_failed:failed second_factor_failed:failed recovery_used sign_in")
		newest := s.everything(accountstore.ActivityQuery{UserID: u.ID})[0]
		if got := newest.Detail["provider"] + ", " + newest.Detail["methods"]; got != "credentials, pwd otp" && !strings.HasPrefix(got, "credentials, pwd") {
			t.Errorf("the sign-in is recorded with %q", got)
		}
		other := s.browser()
		other.get("/auth/account/forgot").post("/auth/account/forgot", "email", "ada@example.com").want(http.StatusOK)
		other.get(s.lastMail().URL).post("/auth/account/reset", "password", goodPassword+" 3", "code", codes[1][1]).want(http.StatusOK)
		check(begin + "sign_in_failed:failed second_factor_failed:failed recovery_used sign_in reset_asked recovery_used password_reset")
		for _, e := range s.everything(accountstore.ActivityQuery{}) {
			if !slices.Contains(account.ActivityKinds(), e.Kind) {
				t.Errorf("there is no kind %q", e.Kind)
			}
			if e.Kind != "sign_out" && e.Detail["network"] != "127.0.0.0/24" {
				t.Errorf("%s has the network %q", e.Kind, e.Detail["network"])
			}
		}
	})
}

// AC-179, AC-5: each form that fails is recorded, with the user whose it is.
func TestAnAttemptThatFailsIsRecorded(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("ada@example.com", goodPassword, true)
	b := s.browser()
	b.signIn("ada@example.com", goodPassword)
	for i := range 4 {
		b.get("/auth/account/confirm").post("/auth/account/confirm", "method", "password", "password", "a wrong one").want(http.StatusUnprocessableEntity)
		failed := s.everything(accountstore.ActivityQuery{UserID: u.ID, Kind: "confirm_failed"})
		if count := failed[0].Count; len(failed) > 2 || len(failed) == 1 && count != i+1 {
			t.Fatalf("%d failures of one minute are %d events, the last one with the count %d", i+1, len(failed), count)
		}
		if failed[0].Outcome != "failed" || failed[0].Detail["code"] != "wrong_password" {
			t.Errorf("the event is %+v", failed[0])
		}
	}
	if wrong := s.everything(accountstore.ActivityQuery{Kind: "sign_in_failed"}); len(wrong) > 0 {
		t.Errorf("a confirmation is recorded as a sign-in: %+v", wrong)
	}
	s.browser().get("/auth/account/sign-up").post("/auth/account/reset", "password", goodPassword).want(http.StatusForbidden) // without a flow
	if found := s.everything(accountstore.ActivityQuery{Kind: "password_reset"}); len(found) > 0 {
		t.Errorf("a form of another browser is recorded: %+v", found)
	}
}

// AT-95, AC-177: what is typed into the field of the address may be a password.
func TestAnAddressWithoutAnAccountIsRecordedAsAKeyedHash(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, true)
	typed := []string{"nobody@example.com", "NOBODY@example.com", "someone@example.com", "hunter2 is my secret", "hunter2@"}
	for _, text := range typed {
		s.browser().signIn(text, "wrong wrong wrong")
		s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", text)
	}
	subjects := map[accountstore.Hash]int{}
	for _, e := range s.everything(accountstore.ActivityQuery{}) {
		text, _ := json.Marshal(e)
		for _, typed := range append(typed, "hunter2", "nobody", "wrong wrong") {
			if strings.Contains(strings.ToLower(string(text)), strings.ToLower(typed)) {
				t.Errorf("%q is in the record %s", typed, text)
			}
		}
		if e.UserID != "" {
			t.Errorf("an address without an account has the user %q", e.UserID)
		}
		if e.Kind == "sign_in_failed" {
			subjects[e.Subject] += e.Count
		}
	}
	if len(subjects) != 3 || subjects[accountstore.Hash{}] != 2 {
		t.Errorf("three addresses and two other texts have the subjects %v", subjects)
	}
	if log := strings.Join(s.logOfActivity(), ""); strings.Contains(log, "hunter2") || strings.Contains(log, "nobody") {
		t.Errorf("the log has what was typed: %s", log)
	}
	other := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Secrets = []string{strings.Repeat("another ", 5)} })
	other.browser().signIn("nobody@example.com", "wrong wrong wrong")
	for _, e := range other.everything(accountstore.ActivityQuery{}) {
		if subjects[e.Subject] > 0 {
			t.Error("the hash of an address is the same with another secret")
		}
	}
}

// AT-94, AC-12: no secret that a user or the library has made is in a record, or in its line of the log.
func TestNoRecordHasASecret(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub)
		secrets := map[string]string{}
		keep := func(what, secret string) string { secrets[secret] = what; return secret }
		first, second, third := keep("password", "canary horse battery"), keep("password", "canary second battery"), keep("password", "canary third battery")
		wrong := keep("wrong password", "canary wrong battery")
		b := s.browser()
		mailed := func() *pintle.Message {
			m := s.lastMail()
			for what, secret := range map[string]string{"token": m.Token, "link": m.URL, "code": m.Code} {
				if secret != "" && !strings.HasSuffix(secret, "/signin") && !strings.HasSuffix(secret, "/account/forgot") {
					keep(what, secret)
				}
			}
			return m
		}
		b.get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.com")
		mailed()
		b.post("/auth/account/sign-up-sent", "code", keep("wrong code", "9876 5432"))
		b.post("/auth/account/sign-up-sent", "code", keep("code", s.code()))
		b.post("/auth/account/sign-up-finish", "password", first).want(http.StatusOK)
		b.get("/auth/account/totp")
		key, a := b.key()
		keep("key", key)
		keep("secret", a.secret)
		b.post("/auth/account/totp", "key", key, "code", keep("wrong code", "918273"))
		b.post("/auth/account/totp", "key", key, "code", keep("code", a.code(t, 0)))
		codes := shownCodes.FindAllStringSubmatch(b.page, -1)
		for _, code := range codes {
			keep("recovery code", code[1])
			keep("recovery code", strings.ReplaceAll(code[1], "-", ""))
		}
		b.post("/auth/account/recovery-codes", "saved", "1").want(http.StatusOK)
		b.get("/auth/account/password").post("/auth/account/password", "current", wrong, "password", second)
		b.get("/auth/account/password").post("/auth/account/password", "current", first, "password", second)
		b.get("/auth/account/address").post("/auth/account/address", "email", "new@example.com")
		for _, m := range s.sent("new@example.com") {
			keep("token", m.Token)
			keep("link", m.URL)
			b.post("/auth/account/address-finish", "code", keep("code", mailedCode.FindString(m.Text))).want(http.StatusOK)
		}
		b.get("/auth/signout").post("/auth/signout")
		b.signIn(wrong, second)
		b.signIn("ada@example.com", wrong)
		b.signIn("new@example.com", second).post("/auth/account/second-factor", "code", keep("wrong code", "192837"))
		b.post("/auth/account/second-factor", "code", codes[0][1])
		other := s.browser()
		other.get("/auth/account/forgot").post("/auth/account/forgot", "email", "new@example.com")
		link := mailed()
		other.get(link.URL).post("/auth/account/reset", "password", third, "code", keep("wrong code", "564738"))
		other.post("/auth/account/reset", "password", third, "code", codes[1][1])
		other.get("/auth/callback/github?code=canary-code&state=canary-state")
		keep("code of a provider", "canary-code")
		keep("state", "canary-state")
		if _, err := s.accounts.Operators().SetTemporaryPassword(t.Context(), s.user("new@example.com").ID); err != nil {
			t.Fatal(err)
		}
		at, _ := url.Parse(s.server.URL)
		for _, browser := range []*browser{b, other} {
			for _, c := range browser.client.Jar.Cookies(at) {
				keep("cookie "+c.Name, c.Value)
			}
		}
		var records strings.Builder
		events := s.everything(accountstore.ActivityQuery{})
		for _, e := range events {
			text, _ := json.Marshal(e)
			records.Write(append(text, '\n'))
		}
		records.WriteString(strings.Join(s.logOfActivity(), ""))
		if len(events) < 12 || len(secrets) < 25 {
			t.Fatalf("there are %d events and %d secrets: %s", len(events), len(secrets), records.String())
		}
		for secret, what := range secrets {
			if len(secret) >= 6 && strings.Contains(records.String(), secret) {
				t.Errorf("the %s %q is in the records:\n%s", what, secret, records.String())
			}
		}
	})
}

// AC-176
func TestARecordHasNoOtherTextOfARequest(t *testing.T) {
	s := newSite(t, false, named)
	u := s.seed("ada@example.com", goodPassword, true)
	b := s.browser()
	r := b.get("/auth/signin").request(http.MethodPost, "/auth/callback/credentials?canary=query", strings.NewReader(url.Values{
		"csrfToken": {b.token()}, "email": {"ada@example.com"}, "password": {goodPassword}, "callbackUrl": {"/canary-callback"}, "canary": {"canary"},
	}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Browser", "Fire\tfox\u202e "+strings.Repeat("x", 200))
	r.Header.Set("User-Agent", "canary agent")
	r.Header.Set("Referer", "http://canary.example/")
	b.send(r)
	e := s.everything(accountstore.ActivityQuery{UserID: u.ID})[0]
	text, _ := json.Marshal(e)
	if strings.Contains(string(text), "canary") {
		t.Errorf("the record has a text of the request: %s", text)
	}
	if device := e.Detail["device"]; !strings.HasPrefix(device, "Fire fox x") || len([]rune(device)) > 64 {
		t.Errorf("the device is %q", device)
	}
}

// AT-96, AC-184
func TestACursorBelongsToItsQuery(t *testing.T) {
	s := newSite(t, false)
	ada, bob := s.seed("ada@example.com", goodPassword, true), s.seed("bob@example.com", goodPassword, true)
	for i := range 45 {
		for _, id := range []string{ada.ID, bob.ID} {
			s.recordFor(id, "profile_changed", time.Now().Add(time.Duration(-i)*time.Minute))
		}
	}
	b := s.browser().signIn("ada@example.com", goodPassword)
	page := b.get("/auth/account/activity").want(http.StatusOK).page
	if n := strings.Count(page, "Profile changed"); n != 19 { // and the sign-in
		t.Errorf("the page has %d events of a kind, want 19", n)
	}
	next := func(b *browser, cursor string) (ids []string, after string) {
		t.Helper()
		r := b.request(http.MethodGet, "/auth/account/activity?cursor="+url.QueryEscape(cursor), nil)
		r.Header.Set("Accept", "application/json")
		answer := b.send(r).want(http.StatusOK).json()
		for _, e := range answer["activity"].([]any) {
			ids = append(ids, e.(map[string]any)["id"].(string))
		}
		after, _ = answer["next"].(string)
		return ids, after
	}
	var all []string
	for cursor, pages := "", 0; ; pages++ {
		ids, after := next(b, cursor)
		all = append(all, ids...)
		if cursor = after; cursor == "" || pages > 5 {
			break
		}
	}
	if len(all) != 46 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 46 {
		t.Errorf("the pages have %d events, want 46 different ones", len(all))
	}
	_, ofAda := next(b, "")
	_, ofBob := next(s.browser().signIn("bob@example.com", goodPassword), "")
	_, ofOperator, err := s.accounts.Operators().Activity(t.Context(), accountstore.ActivityQuery{UserID: ada.ID, Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	for what, cursor := range map[string]string{
		"of another user": ofBob, "of an operator": ofOperator, "forged": "' OR 1=1 --", "cut": ofAda[:len(ofAda)-2], "longer": ofAda + "A", "long": strings.Repeat("A", 5000),
	} {
		b.get("/auth/account/activity?cursor=" + url.QueryEscape(cursor)).want(http.StatusBadRequest)
		if _, _, err := s.accounts.Operators().Activity(t.Context(), accountstore.ActivityQuery{UserID: bob.ID, After: cursor}); !errors.Is(err, account.ErrCursor) {
			t.Errorf("a cursor that is %s: %v, want ErrCursor", what, err)
		}
	}
	for what, q := range map[string]accountstore.ActivityQuery{
		"user": {UserID: bob.ID}, "kind": {UserID: ada.ID, Kind: "sign_in"}, "outcome": {UserID: ada.ID, Outcome: "ok"}, "operator": {UserID: ada.ID, Actor: "o"},
		"time": {UserID: ada.ID, Since: time.Now().Add(-time.Hour)}, "end": {UserID: ada.ID, Until: time.Now()}, "nothing": {},
	} {
		q.After = ofOperator
		if _, _, err := s.accounts.Operators().Activity(t.Context(), q); !errors.Is(err, account.ErrCursor) {
			t.Errorf("the cursor of a query with another %s: %v, want ErrCursor", what, err)
		}
	}
	if text, err := url.QueryUnescape(ofAda); err != nil || strings.Contains(text, ada.ID) {
		t.Errorf("the cursor shows the user: %q", ofAda)
	}
}

// AC-180: of an act of an operator a user sees how it ended, and not that it has begun.
func TestNoPageOfTheActivityIsEmpty(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	begun := func(ago time.Duration) {
		t.Helper()
		at := time.Now().Add(-ago)
		s.done(s.rows.Record(t.Context(), &accountstore.Event{
			ID: fmt.Sprint(at.UnixNano()), At: at, Kind: "op_roles", Outcome: "begun", UserID: u.ID, Actor: "operator", Expires: at.Add(time.Hour),
		}))
	}
	for i := range 19 {
		s.recordFor(u.ID, "profile_changed", time.Now().Add(time.Duration(-i-1)*time.Minute))
	}
	for i := range 25 {
		begun(time.Hour + time.Duration(i)*time.Second)
	}
	b := s.browser().signIn(ada, goodPassword) // the 20th event that is shown
	if answer := b.script(http.MethodGet, "/auth/account/activity", "").json(); len(answer["activity"].([]any)) != 20 || answer["next"] != nil {
		t.Errorf("the page has %d events and goes on with %v", len(answer["activity"].([]any)), answer["next"])
	}
	s.recordFor(u.ID, "profile_changed", time.Now().Add(-2*time.Hour))
	answer := b.script(http.MethodGet, "/auth/account/activity", "").json()
	next, _ := answer["next"].(string)
	last := b.script(http.MethodGet, "/auth/account/activity?cursor="+url.QueryEscape(next), "").json()
	if len(answer["activity"].([]any)) != 20 || next == "" || len(last["activity"].([]any)) != 1 || last["next"] != nil {
		t.Errorf("the pages are %v and %v", answer, last)
	}
}

// recordFor stores an event of a user.
func (s *site) recordFor(userID, kind string, at time.Time) {
	s.t.Helper()
	e := &accountstore.Event{
		ID: fmt.Sprintf("%s-%d", strings.NewReplacer("@", "_", ".", "_").Replace(userID), at.UnixNano()), At: at, Kind: kind, Outcome: "ok", UserID: userID,
		Expires: at.Add(time.Hour),
	}
	if err := s.rows.Record(s.t.Context(), e); err != nil {
		s.t.Fatal(err)
	}
}

// AC-184
func TestAnOperatorFindsEventsByWhatTheyHave(t *testing.T) {
	s := newSite(t, false)
	ada := s.seed("ada@example.com", goodPassword, true)
	s.browser().signIn("ada@example.com", "a wrong one")
	s.browser().signIn("ada@example.com", goodPassword)
	finish, err := account.BeginAct(t.Context(), s.accounts, "op_ban", "operator-1", ada.ID, "spam")
	if err != nil || finish(nil) != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    accountstore.ActivityQuery
		want string
	}{
		{accountstore.ActivityQuery{UserID: ada.ID}, "op_ban:ok op_ban:begun sign_in:ok sign_in_failed:failed"},
		{accountstore.ActivityQuery{Outcome: "failed"}, "sign_in_failed:failed"},
		{accountstore.ActivityQuery{Actor: "operator-1"}, "op_ban:ok op_ban:begun"},
		{accountstore.ActivityQuery{Kind: "sign_in"}, "sign_in:ok"},
		{accountstore.ActivityQuery{Until: time.Now().Add(-time.Hour)}, ""},
		{accountstore.ActivityQuery{Since: time.Now().Add(-time.Hour), Limit: 1}, "op_ban:ok"},
	} {
		events, next, err := s.accounts.Operators().Activity(t.Context(), c.q)
		var got []string
		for _, e := range events {
			got = append(got, e.Kind+":"+e.Outcome)
		}
		if err != nil || strings.Join(got, " ") != c.want || (next != "") != (c.q.Limit == 1) {
			t.Errorf("%+v finds %q and %q, %v, want %q", c.q, got, next, err, c.want)
		}
	}
	for i := range 250 {
		s.recordFor(ada.ID, "sign_out", time.Now().Add(time.Duration(-i)*time.Second))
	}
	for limit, want := range map[int]int{0: 50, 20: 20, 1000: 200} {
		if events, _, err := s.accounts.Operators().Activity(t.Context(), accountstore.ActivityQuery{Limit: limit}); err != nil || len(events) != want {
			t.Errorf("a page with the limit %d has %d events, %v, want %d", limit, len(events), err, want)
		}
	}
}

// AC-180
func TestAUserSeesActsOfOperatorsAsThoseOfTheSupport(t *testing.T) {
	s := newSite(t, false)
	ada := s.seed("ada@example.com", goodPassword, true)
	b := s.browser().signIn("ada@example.com", goodPassword)
	finish, err := account.BeginAct(t.Context(), s.accounts, "op_roles", "canary-operator", ada.ID, "canary reason")
	if err != nil {
		t.Fatal(err)
	}
	_ = finish(errors.New("it failed"))
	_ = finish(errors.New("it failed"))
	b.get("/auth/account/activity").want(http.StatusOK).says("Attempt: Support changed your rights").says("Signed in")
	var list struct {
		Activity []map[string]any
		Next     string
	}
	r := signedInRequest(b, b.request(http.MethodGet, "/auth/account/activity", nil))
	if err := s.accounts.Read(httptest.NewRecorder(), r, "activity", &list); err != nil || list.Next != "" || len(list.Activity) != 3 {
		t.Fatalf("Read: %+v, %v", list, err) // acts that fail are not counted together
	}
	act := list.Activity[0]
	delete(act, "id")
	delete(act, "at")
	if want := map[string]any{"kind": "op_roles", "outcome": "failed", "count": 1.0, "actor": "support"}; !maps.Equal(act, want) {
		t.Errorf("the user sees %v, want %v", act, want)
	}
	r = b.request(http.MethodGet, "/auth/account/activity", nil)
	r.Header.Set("Accept", "application/json")
	for _, page := range []string{b.page, b.send(r).page} {
		if strings.Contains(page, "canary") || strings.Count(page, "op_roles")+strings.Count(page, "Support") < 1 {
			t.Errorf("the page shows who the operator is, or not what was done: %s", page)
		}
	}
	r = s.browser().request(http.MethodGet, "/", nil)
	if err := s.accounts.Read(httptest.NewRecorder(), r, "activity", &list); !errors.Is(err, account.CodeSignedOut) {
		t.Errorf("Read without a session: %v, want CodeSignedOut", err)
	}
}

// signedInRequest is a request with the cookies of a browser, as a server receives it.
func signedInRequest(b *browser, r *http.Request) *http.Request {
	for _, c := range b.client.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	r.RequestURI, r.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:1"
	return r
}

// AC-160, AC-162
func TestThePageOfActivityIsInWords(t *testing.T) {
	s := newSite(t, false, named)
	ada := s.seed("ada@example.com", goodPassword, true)
	b := s.browser()
	for range 3 {
		b.signIn("ada@example.com", "a wrong one")
	}
	b.signIn("ada@example.com", goodPassword)
	s.recordFor(ada.ID, "unheard_of", time.Now().Add(-time.Hour))
	b.get("/auth/account/activity").want(http.StatusOK).says("A sign-in failed").says("127.0.0.0/24").says("Something happened to your account")
	for _, e := range s.everything(accountstore.ActivityQuery{Kind: "sign_in"}) {
		at := e.At.UTC()
		b.says(">Signed in</p>").says(`<time datetime="` + at.Format(time.RFC3339) + `">` + at.Format("2 January 2006, 15:04 UTC") + "</time>")
	}
	if failed, warned := strings.Count(b.page, ">A sign-in failed"), strings.Count(b.page, "row-warns\""); failed == 0 || warned != failed {
		t.Errorf("%d of %d failures stand out", warned, failed)
	}
	b.says(`href="/auth/account/password"`).says(`href="/auth/account/devices"`) // where "this was not me" leads
	failed := s.everything(accountstore.ActivityQuery{Kind: "sign_in_failed"})
	if len(failed) == 1 {
		b.says("3 times")
	}
	b.get("/auth/account").says(`href="/auth/account/activity"`)
	s.browser().stay().get("/auth/account/activity").want(http.StatusSeeOther)
	off := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Activity.Off = true })
	off.seed("ada@example.com", goodPassword, true)
	b = off.browser().signIn("ada@example.com", goodPassword)
	b.get("/auth/account/activity").want(http.StatusNotFound)
	if text := b.get("/auth/account").page; strings.Contains(text, "account/activity") {
		t.Error("a page without activity links to it")
	}
	if events := off.everything(accountstore.ActivityQuery{}); len(events) > 0 {
		t.Errorf("Off stores %+v", events)
	}
	if len(off.logOfActivity()) == 0 {
		t.Error("Off logs nothing")
	}
}

// AC-182: acts of operators are stored although the events of users are not.
func TestActsOfOperatorsAreStoredWhileActivityIsOff(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Activity.Off = true })
	u := s.seed(ada, goodPassword, true)
	ops, ctx := s.operators()
	s.done(ops.SignOut(ctx, u.ID))
	s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	if got, want := s.acts(), []string{"op_signed_out begun grace", "op_signed_out ok grace"}; !slices.Equal(got, want) {
		t.Errorf("the acts are %q, want %q", got, want)
	}
	if n := len(s.everything(accountstore.ActivityQuery{})); n != 2 {
		t.Errorf("%d events are stored, want those of the operator", n)
	}
}

// rowsWithoutLog is a store whose log of activity fails.
type rowsWithoutLog struct {
	pintle.Store
	failing *bool
}

func (s rowsWithoutLog) AccountStore() accountstore.Store {
	return failingLog{s.Store.AccountStore(), s.failing}
}

type failingLog struct {
	accountstore.Store
	failing *bool
}

func (l failingLog) Record(ctx context.Context, e *accountstore.Event) error {
	if *l.failing {
		return errAway
	}
	return l.Store.Record(ctx, e)
}

// AT-97, AC-182
func TestALogThatIsDownStopsOperatorsAndNoUser(t *testing.T) {
	failing := true
	forwarded := 0
	s := newSite(t, false, func(c *pintle.Config, o *account.Options) {
		c.Store = rowsWithoutLog{c.Store, &failing}
		o.Activity.Record = func(context.Context, *accountstore.Event) { forwarded++ }
	})
	u := s.seed("ada@example.com", goodPassword, true)
	b := s.browser()
	b.signIn("ada@example.com", "a wrong one")
	b.signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
	b.get("/auth/account/password").post("/auth/account/password", "current", goodPassword, "password", goodPassword+" 2").want(http.StatusOK)
	b.get("/auth/signout").post("/auth/signout")
	b.signIn("ada@example.com", goodPassword+" 2").isSignedInAs("ada@example.com")
	for _, kind := range []string{"sign_in", "sign_in_failed", "password_changed", "sign_out"} {
		if !strings.Contains(s.log(), `level=ERROR msg="pintle: activity not recorded" code=ActivityNotRecorded kind=`+kind+" ") {
			t.Errorf("the log does not say that %s was not recorded", kind)
		}
	}
	if forwarded > 0 {
		t.Errorf("%d events were forwarded that are not stored", forwarded)
	}
	if _, err := account.BeginAct(t.Context(), s.accounts, "op_ban", "operator", u.ID, "spam"); !errors.Is(err, errAway) {
		t.Errorf("an act that cannot be recorded begins: %v", err)
	}
	failing = false
	finish, err := account.BeginAct(t.Context(), s.accounts, "op_ban", "operator", u.ID, "spam")
	if err != nil {
		t.Fatal(err)
	}
	failing = true
	if err := finish(nil); err != nil {
		t.Errorf("an act that was done fails because its end cannot be recorded: %v", err)
	}
	if got := s.happened(u.ID); got != "op_ban:begun" {
		t.Errorf("what happened is %q", got)
	}
}

// AT-98, AC-178: a flood of failures makes a bounded number of events, also if each has another
// address and another network, and does not hide those of a user.
func TestAFloodOfFailuresIsFewEvents(t *testing.T) {
	client := netip.Addr{}
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
		c.ClientAddress = func(*http.Request) netip.Addr { return client }
	})
	u := s.seed("ada@example.com", goodPassword, true)
	const attempts = 2000
	minute := time.Now().Truncate(time.Minute)
	b := s.browser()
	b.get("/auth/signin")
	token := b.token()
	client = netip.AddrFrom4([4]byte{10, 0, 0, 1})
	for i := range attempts {
		client = netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1})
		form := url.Values{"csrfToken": {token}, "email": {fmt.Sprintf("victim%d@example.com", i)}, "password": {"a wrong one"}}
		b.stay().do(http.MethodPost, "/auth/callback/credentials", form)
		if i%500 == 0 {
			form.Set("email", "ada@example.com")
			b.do(http.MethodPost, "/auth/callback/credentials", form)
		}
	}
	minutes := int(time.Since(minute)/time.Minute) + 1
	events, counted, own := s.everything(accountstore.ActivityQuery{Kind: "sign_in_failed"}), 0, 0
	for _, e := range events {
		counted += e.Count
		if e.UserID == u.ID {
			own += e.Count
		}
	}
	if most := minutes * (account.MergedFailures + 3); len(events) > most || len(events) < account.MergedFailures {
		t.Errorf("%d failures in %d minutes are %d events, want at most %d", attempts, minutes, len(events), most)
	}
	if counted != attempts+4 || own != 4 {
		t.Errorf("the events count %d failures, %d of them of the user, want %d and 4", counted, own, attempts+4)
	}
	if lines := len(s.logOfActivity()); lines > minutes*(account.MergedFailures+3) {
		t.Errorf("the flood is %d lines of the log", lines)
	}
}

// Any client can ask for a new password, also for that of a user: those of a minute are one
// event, as for an address without an account.
func TestMailsForANewPasswordThatAreAskedForInAMinuteAreOneEvent(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, true)
	count := func(email string) (events, times int) {
		before := s.everything(accountstore.ActivityQuery{Kind: "reset_asked"})
		for range 3 {
			s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", email).want(http.StatusOK)
		}
		after := s.everything(accountstore.ActivityQuery{Kind: "reset_asked"})
		for _, e := range after {
			times += e.Count
		}
		for _, e := range before {
			times -= e.Count
		}
		return len(after) - len(before), times
	}
	for _, email := range []string{"ada@example.com", "nobody@example.com"} {
		if events, times := count(email); events > 2 || times != 3 { // two if the minute ends
			t.Errorf("three forms about %s are %d events that count %d", email, events, times)
		}
	}
}

// AT-98, AC-178: the browser of a session changes a name as often as it likes. What it changes in a
// minute is one event, and does not push other events off the first page.
func TestChangesThatABrowserRepeatsInAMinuteAreOneEvent(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{}))
	u := s.seed(ada, goodPassword, true)
	id := s.passkey(u)
	b := s.browser().startSession(u, 0, "pwd", "otp")
	for kind, change := range map[string]func(i int){
		"profile_changed": func(i int) { b.post("/auth/account/profile", "name", fmt.Sprint("Ada ", i)) },
		"passkey_renamed": func(i int) {
			b.post("/auth/account/passkey", "action", "rename", "id", id, "name", fmt.Sprint("key ", i))
		},
		"session_ended": func(int) { b.post("/auth/account/end-devices", "others", "1") },
	} {
		const changes = 6
		minute := time.Now().Truncate(time.Minute)
		for i := range changes {
			change(i)
			b.want(http.StatusOK)
			if i == 0 {
				time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // sessions are told apart by their second
			}
		}
		events, counted := s.everything(accountstore.ActivityQuery{UserID: u.ID, Kind: kind}), 0
		for _, e := range events {
			counted += e.Count
		}
		if most := int(time.Since(minute)/time.Minute) + 1; len(events) > most || counted != changes {
			t.Errorf("%d of %s in %d minutes are %d events that count %d", changes, kind, most, len(events), counted)
		}
	}
	b.post("/auth/account/remembered", "all", "1").want(http.StatusOK)
	if events := s.everything(accountstore.ActivityQuery{Kind: "device_forgotten"}); len(events) > 0 {
		t.Errorf("no browser was remembered, and %d events say that one was forgotten", len(events))
	}
}

// AC-181
func TestEventsAreKeptForTheTimeOfTheirClass(t *testing.T) {
	const day = 24 * time.Hour
	kept := func(o account.Activity) (sign, failed, unknown, act time.Duration) {
		s := newSite(t, false, func(_ *pintle.Config, all *account.Options) { all.Activity = o })
		u := s.seed("ada@example.com", goodPassword, true)
		s.browser().signIn("ada@example.com", "a wrong one")
		s.browser().signIn("ada@example.com", goodPassword)
		s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", "nobody@example.com")
		if _, err := account.BeginAct(t.Context(), s.accounts, "op_ban", "operator", u.ID, "spam"); err != nil {
			t.Fatal(err)
		}
		of := func(kind string) time.Duration {
			e := s.everything(accountstore.ActivityQuery{Kind: kind})[0]
			return e.Expires.Sub(e.At)
		}
		return of("sign_in"), of("sign_in_failed"), of("reset_asked"), of("op_ban")
	}
	if a, b, c, d := kept(account.Activity{}); a != 180*day || b != 30*day || c != 30*day || d != 400*day {
		t.Errorf("events are kept for %s, %s, %s and %s", a, b, c, d)
	}
	if a, b, c, d := kept(account.Activity{Keep: day, KeepFailures: time.Hour, KeepActs: 2 * day}); a != day || b != time.Hour || c != time.Hour || d != 2*day {
		t.Errorf("events are kept for %s, %s, %s and %s", a, b, c, d)
	}
	for what, o := range map[string]account.Activity{"Keep": {Keep: -1}, "KeepFailures": {KeepFailures: -1}, "KeepActs": {KeepActs: -1}, "Network": {Network: 7}} {
		_, err := pintle.New(pintle.Config{
			Store: memstore.New(), URL: "http://localhost", Secrets: []string{strings.Repeat("secret ", 6)}, Getenv: func(string) string { return "" },
			Accounts: account.New(account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }, Activity: o}),
		})
		if err == nil || !strings.Contains(err.Error(), "Options.Activity") {
			t.Errorf("New with a wrong %s: %v", what, err)
		}
	}
}

// AC-176
func TestTheNetworkIsKeptAsTheApplicationWants(t *testing.T) {
	client := netip.Addr{}
	for _, c := range []struct {
		network account.Network
		client  string
		want    string
	}{
		{account.NetworkPrefix, "203.0.113.77", "203.0.113.0/24"},
		{account.NetworkPrefix, "::ffff:203.0.113.77", "203.0.113.0/24"},
		{account.NetworkPrefix, "2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"},
		{account.NetworkAddress, "203.0.113.77", "203.0.113.77"},
		{account.NetworkNone, "203.0.113.77", ""},
	} {
		s := newSite(t, false, func(cfg *pintle.Config, o *account.Options) {
			cfg.ClientAddress = func(*http.Request) netip.Addr { return client }
			o.Activity.Network = c.network
		})
		s.seed("ada@example.com", goodPassword, true)
		client = netip.MustParseAddr(c.client)
		s.browser().signIn("ada@example.com", goodPassword)
		if got := s.everything(accountstore.ActivityQuery{Kind: "sign_in"})[0].Detail["network"]; got != c.want {
			t.Errorf("%s is kept as %q, want %q", c.client, got, c.want)
		}
	}
}

// AC-183
func TestAnApplicationReceivesEachEventAfterItIsStored(t *testing.T) {
	var s *site
	var mu sync.Mutex
	var got []string
	crash := false
	s = newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Activity.Record = func(ctx context.Context, e *accountstore.Event) {
			mu.Lock()
			defer mu.Unlock()
			stored := s.everything(accountstore.ActivityQuery{UserID: e.UserID, Kind: e.Kind})
			if len(stored) == 0 || stored[0].ID != e.ID {
				t.Errorf("%s is told before it is stored", e.Kind)
			}
			if _, ends := ctx.Deadline(); !ends {
				t.Error("the context has no deadline")
			}
			got = append(got, fmt.Sprint(e.Kind, e.Count))
			if crash {
				panic("the system is away")
			}
		}
	})
	s.seed("ada@example.com", goodPassword, true)
	b := s.browser()
	b.signIn("ada@example.com", "a wrong one")
	b.signIn("ada@example.com", "a wrong one")
	crash = true
	b.signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
	if want := "sign_in_failed1 sign_in_failed1 sign_in1"; strings.Join(got, " ") != want {
		t.Errorf("the application receives %q, want %q", got, want)
	}
	if !strings.Contains(s.log(), "Options.Activity.Record panicked") {
		t.Error("the log does not say that Record panicked")
	}
	for _, want := range []string{
		`level=WARN msg="pintle: activity" id=`, "kind=sign_in_failed outcome=failed user=id-ada@example.com code=CredentialsSignin network=127.0.0.0/24 provider=credentials",
		`level=INFO msg="pintle: activity" id=`, "kind=sign_in outcome=ok user=id-ada@example.com methods=pwd network=127.0.0.0/24 provider=credentials",
	} {
		if !strings.Contains(strings.Join(s.logOfActivity(), ""), want) {
			t.Errorf("no line has %q: %q", want, s.logOfActivity())
		}
	}
}

// AC-92
func TestADeletedUserLeavesOnlyActsOfOperators(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Deletion.After = -1 })
	u := s.seed("ada@example.com", goodPassword, true)
	finish, err := account.BeginAct(t.Context(), s.accounts, "op_ban", "operator", u.ID, "spam")
	if err != nil {
		t.Fatal(err)
	}
	_ = finish(nil)
	before := s.everything(accountstore.ActivityQuery{Actor: "operator"})[0].Subject
	s.browser().signIn("ada@example.com", goodPassword).get("/auth/account/delete").post("/auth/account/delete", "confirmed", "1").want(http.StatusOK)
	if s.user("ada@example.com") != nil {
		t.Fatal("the user is there")
	}
	var left []string
	for _, e := range s.everything(accountstore.ActivityQuery{}) {
		left = append(left, e.Kind)
		if e.UserID != "" || e.Subject != before || before == (accountstore.Hash{}) {
			t.Errorf("what is left is %+v, want the subject %x", e, before)
		}
	}
	slices.Sort(left)
	if want := "deletion_done op_ban op_ban"; strings.Join(left, " ") != want {
		t.Errorf("what is left is %q, want %q", left, want)
	}
}

// AC-162, AC-179: each kind has words and is in the guide, and each notice has a kind or a reason
// to have none.
func TestEachKindOfActivityHasWords(t *testing.T) {
	guide, err := os.ReadFile("../docs/activity.md")
	if err != nil {
		t.Fatal(err)
	}
	words := page.English().Account.Activity
	for _, kind := range account.ActivityKinds() {
		if words[kind] == "" || !strings.Contains(string(guide), "`"+kind+"`") {
			t.Errorf("%s has the text %q, or is not in the guide", kind, words[kind])
		}
	}
	if len(words) != len(account.ActivityKinds())+1 {
		t.Errorf("there are %d texts for %d kinds", len(words), len(account.ActivityKinds()))
	}
	for route, kind := range account.FailureKinds() {
		if !slices.Contains(account.ActivityKinds(), kind) {
			t.Errorf("the form %s records the kind %q", route, kind)
		}
	}
	for _, kind := range account.NoticedKinds() {
		if _, is := page.English().Account.Mails[kind]; !is {
			t.Errorf("there is no notice %q", kind)
		}
	}
}

// AC-183: a thief who closes the connection is recorded all the same.
func TestARecordOutlivesItsRequest(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("ada@example.com", goodPassword, true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	finish, err := account.BeginAct(ctx, s.accounts, "op_ban", "operator", u.ID, "spam")
	if err != nil {
		t.Fatalf("an act whose request has ended is not recorded: %v", err)
	}
	_ = finish(nil)
	if got := s.happened(u.ID); got != "op_ban:begun op_ban" {
		t.Errorf("what happened is %q", got)
	}
}

// AC-176: a detail has one of the names that there are, on one line, of a length that has a bound.
func TestARecordHasNoDetailOfAnotherName(t *testing.T) {
	s := newSite(t, false)
	err := account.RecordDetail(t.Context(), s.accounts, "ada",
		"password", "canary", "Provider", "canary", "", "canary", "reason", "two\nlines "+strings.Repeat("x", 1000), "provider", "", "methods", "pwd", "code")
	if err != nil {
		t.Fatal(err)
	}
	detail := s.everything(accountstore.ActivityQuery{UserID: "ada"})[0].Detail
	if len(detail) != 2 || detail["methods"] != "pwd" || !strings.HasPrefix(detail["reason"], "two lines xxx") || len([]rune(detail["reason"])) != 500 {
		t.Errorf("the details are %q", detail)
	}
}
