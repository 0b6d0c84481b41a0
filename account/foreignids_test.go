package account_test

import (
	"context"
	"errors"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
)

var (
	shownForm  = regexp.MustCompile(`(?s)<form action="([^"]*)" method="post"(?: aria-labelledby="[^"]*")?>(.*?)</form>`)
	shownInput = regexp.MustCompile(`<input [^>]*?name="([^"]+)"[^>]*>`)
	shownValue = regexp.MustCompile(` value="([^"]*)"`)
)

// A shown form is one of a page, with its fields as a browser would send them.
type form struct {
	action string
	fields map[string]string
}

// forms are those of the last page.
func (b *browser) forms() (all []form) {
	for _, found := range shownForm.FindAllStringSubmatch(b.text(), -1) {
		f := form{html.UnescapeString(found[1]), map[string]string{}}
		for _, input := range shownInput.FindAllStringSubmatch(found[2], -1) {
			value := ""
			if v := shownValue.FindStringSubmatch(input[0]); v != nil {
				value = html.UnescapeString(v[1])
			}
			f.fields[input[1]] = value
		}
		delete(f.fields, "csrfToken")
		all = append(all, f)
	}
	return all
}

// belongings is what the store has of a user, sessions and accounts of providers as well.
func (s *site) belongings(u *pintle.User, b *browser) string {
	s.t.Helper()
	accounts, err := s.store.UserAccounts(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	text := s.fingerprint(u) + b.who()
	for _, a := range accounts {
		text += "\n" + a.Provider + " " + a.ProviderAccountID
	}
	return text
}

// idFields are the fields that name what a form is about.
var idFields = map[string]string{
	"/auth/account/factor": "id", "/auth/account/passkey": "id", "/auth/account/unlink": "id", "/auth/account/end-devices": "handle",
}

// passkeyID is the id of the passkey of a user.
func (s *site) passkeyID(u *pintle.User) string {
	s.t.Helper()
	keys, err := s.store.UserPasskeys(s.t.Context(), u.ID)
	if err != nil || len(keys) != 1 {
		s.t.Fatalf("%d passkeys: %v", len(keys), err)
	}
	return keys[0].CredentialID
}

// AT-81, AC-2: the pages of the route table say which fields there are. Each of them, alone, has
// what belongs to another user: ids, an address, a sealed key, a code that was mailed.
func TestWhatBelongsToAnotherUserIsOfNoUseInAnyField(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub, withPasskeys(&echo{}))
		const evesAddress = "eve@example.com"
		ada, eve := s.seed(ada, goodPassword, true), s.seed(evesAddress, "the password of a thief", true)
		for _, u := range []*pintle.User{ada, eve} {
			s.app(u)
			s.link(u, "github")
			s.passkey(u)
			if _, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID); err != nil {
				t.Fatal(err)
			}
		}
		owner := s.browser().startSession(ada, 0, "pwd", "otp").get("/auth/account/totp")
		key, _ := owner.key()
		before := s.belongings(ada, owner)
		foreign := []string{ada.ID, ada.Email, key, s.factor(ada, "totp").ID, s.factor(ada, "recovery").ID, "1 " + ada.ID, s.passkeyID(ada)}
		for _, d := range owner.get("/auth/account/me").json()["devices"].([]any) {
			foreign = append(foreign, d.(map[string]any)["handle"].(string))
		}
		thief := func() *browser { return s.browser().startSession(eve, 0, "pwd", "otp").stay() }
		forms, named := 0, map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(s.accounts.RoutesOf())) {
			for _, f := range thief().get(strings.TrimSuffix("/auth/account/"+name, "/")).forms() {
				if !strings.HasPrefix(f.action, "/auth/account") {
					continue
				}
				forms++
				named[f.action] = true
				for _, field := range []string{"confirmed", "others", "all"} {
					delete(f.fields, field) // Eve's own account and sessions stay, for the next attempt
				}
				names := append(slices.Sorted(maps.Keys(f.fields)), "user", "userId", "user_id", "sub", "id", "email")
				for _, field := range names {
					for _, value := range foreign {
						sent := maps.Clone(f.fields)
						sent[field] = value
						members, pairs := map[string]any{}, []string{}
						for name, value := range sent {
							members[name] = value
							pairs = append(pairs, name, value)
						}
						// What is changed is Eve's own, which the next attempt needs again.
						about := idFields[f.action]
						if about != "" && field != about {
							continue
						}
						b := thief()
						b.post(f.action, pairs...)
						if about != "" && b.status != http.StatusNotFound {
							t.Errorf("%s with a foreign id: %d", f.action, b.status)
						}
						b.postJSON(f.action, members)
						if about != "" && b.status != http.StatusNotFound {
							t.Errorf("%s with a foreign id, as JSON: %d", f.action, b.status)
						}
					}
				}
			}
		}
		for action := range idFields {
			if !named[action] && !(tokens && action == "/auth/account/end-devices") { // of tokens there is no list
				t.Errorf("no page has the form %s", action)
			}
		}
		if forms < 8 {
			t.Errorf("only %d forms were tried", forms)
		}
		if after := s.belongings(ada, owner); after != before {
			t.Errorf("what belongs to the other user was changed from\n%s\nto\n%s", before, after)
		}
	})
}

// AT-84, AC-2: methods of server code for a user take the request or the session. Those that take
// the id of a user are for operators, and are listed here.
func TestMethodsForUsersTakeNoIDOfAUser(t *testing.T) {
	forOperators := map[string]bool{"Activity": true, "ResetSecondFactor": true, "SetTemporaryPassword": true}
	maps.Copy(forOperators, map[string]bool{"Do": true, "Read": true})                                         // the name of a route; the session determines the user
	maps.Copy(forOperators, map[string]bool{"GiveTOTP": true, "GiveRecoveryCodes": true, "GiveBrowser": true}) // of export_test.go
	maps.Copy(forOperators, map[string]bool{"UserActivity": true})                                             // its text is a cursor, which is bound to the user
	text := reflect.TypeFor[string]()
	all := reflect.TypeFor[*account.Accounts]()
	for m := range all.Methods() {
		takesText := false
		for p := 1; p < m.Type.NumIn(); p++ {
			takesText = takesText || m.Type.In(p) == text
		}
		if takesText != forOperators[m.Name] {
			t.Errorf("%s takes a text: %t", m.Name, takesText)
		}
	}
	if all.NumMethod() < 6 {
		t.Errorf("only %d methods were looked at", all.NumMethod())
	}
}

// AT-84: the methods that take a session take ids of what belongs to its user alone.
func TestMethodsForASessionChangeNothingOfAnotherUser(t *testing.T) {
	s := withAcme(t, false, authtest.Person{Subject: "ada", Email: ada}, withPasskeys(&echo{}))
	ada, eve := s.seed(ada, goodPassword, true), s.seed("eve@example.com", goodPassword, true)
	for _, u := range []*pintle.User{ada, eve} {
		s.link(u, "acme")
	}
	key := s.passkey(ada)
	owner, thief := s.browser().startSession(ada, 0, "pwd"), s.browser().startSession(eve, 0, "pwd")
	before := s.belongings(ada, owner)
	sessionOf := func(b *browser) *pintle.Session {
		t.Helper()
		r := b.request(http.MethodGet, "/", nil)
		for _, c := range b.client.Jar.Cookies(r.URL) {
			r.AddCookie(c)
		}
		session, err := s.auth.Session(r)
		if err != nil || session == nil {
			t.Fatal(session, err)
		}
		return session
	}
	handle := ""
	for d, err := range s.auth.Devices(t.Context(), sessionOf(owner)) {
		if err != nil {
			t.Fatal(err)
		}
		handle = d.Handle
	}
	for name, do := range map[string]func(context.Context, *pintle.Session) error{
		"Unlink": func(ctx context.Context, of *pintle.Session) error {
			return s.auth.Unlink(ctx, of, "acme", "1 "+ada.ID)
		},
		"EndDevice": func(ctx context.Context, of *pintle.Session) error { return s.auth.EndDevice(ctx, of, handle) },
		"RenamePasskey": func(ctx context.Context, of *pintle.Session) error {
			return s.auth.RenamePasskey(ctx, of, key, "of a thief")
		},
	} {
		if err := do(t.Context(), sessionOf(thief)); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("%s with what belongs to another user: %v", name, err)
		}
	}
	if after := s.belongings(ada, owner); after != before {
		t.Errorf("what belongs to the other user was changed to\n%s", after)
	}
	if keys, err := s.store.UserPasskeys(t.Context(), ada.ID); err != nil || len(keys) != 1 || keys[0].Name != "" {
		t.Errorf("the passkeys of the other user are %+v, %v", keys, err)
	}
}

// AT-122: a site on a sibling domain sets cookies for the whole domain, and for this path.
// The names of this package's cookies keep it out of a site with https.
func TestASiblingDomainPlantsNoFlow(t *testing.T) {
	t.Parallel()
	const origin = "https://app.example.com"
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.URL = origin })
	jar := func() map[string]string { return map[string]string{} }
	do := func(t *testing.T, held map[string]string, method, path string, form url.Values, planted ...string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequest(method, origin+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		for _, line := range planted {
			r.Header.Add("Cookie", line)
		}
		for name, value := range held {
			r.Header.Add("Cookie", name+"="+value)
		}
		w := httptest.NewRecorder()
		s.auth.ServeHTTP(w, r)
		for _, c := range w.Result().Cookies() {
			if strings.Contains(c.Name, "pintle.") && (!strings.HasPrefix(c.Name, "__Host-") || !c.Secure || c.Domain != "" || c.Path != "/" ||
				!c.HttpOnly || c.SameSite != http.SameSiteLaxMode) {
				t.Errorf("%s %s sets %s", method, path, c)
			}
			held[c.Name] = c.Value
		}
		return w
	}
	begin := func(t *testing.T, email string) map[string]string {
		t.Helper()
		held := jar()
		token := formToken.FindStringSubmatch(do(t, held, http.MethodGet, "/auth/account/sign-up", nil).Body.String())
		do(t, held, http.MethodPost, "/auth/account/sign-up", url.Values{"csrfToken": {token[1]}, "email": {email}})
		link, err := url.Parse(s.lastMail().URL)
		if err != nil {
			t.Fatal(err)
		}
		do(t, held, http.MethodGet, link.RequestURI(), nil)
		return held
	}
	eve := begin(t, "eve@example.com")
	value := eve["__Host-pintle.signup"]
	if value == "" {
		t.Fatalf("the attacker holds %v", eve)
	}
	for name, planted := range map[string]string{"plain": "pintle.signup=" + value, "secure": "__Secure-pintle.signup=" + value} {
		t.Run(name, func(t *testing.T) {
			victim := jar()
			if w := do(t, victim, http.MethodGet, "/auth/account/sign-up-finish", nil, planted); w.Code != http.StatusForbidden {
				t.Errorf("a planted cookie opens the page of the attacker: %d %s", w.Code, w.Body)
			}
			victim = begin(t, ada)
			w := do(t, victim, http.MethodGet, "/auth/account/sign-up-finish", nil, planted)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), ada) || strings.Contains(w.Body.String(), "eve@") {
				t.Errorf("beside a planted cookie the page is that of the attacker: %d %s", w.Code, w.Body)
			}
		})
	}
}

// AT-123, AC-53, AC-74, AC-222: a person follows the link of an attacker, who would like to see
// what the person then enters in the attacker's account.
func TestALinkOfAnAttackerSignsNoPersonIn(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		const evesAddress = "eve@example.com"
		for name, victim := range map[string]struct {
			stands func(s *site) *browser
			who    string
		}{
			"signed out": {func(s *site) *browser { return s.browser() }, ""},
			"signed in":  {func(s *site) *browser { return s.browser().signIn(ada, goodPassword) }, ada},
		} {
			t.Run("the link of a sign-up, "+name, func(t *testing.T) {
				s := newSite(t, tokens)
				s.seed(ada, goodPassword, true)
				b := victim.stands(s)
				s.browser().signUp(evesAddress, "callbackUrl", "/enter-your-card")
				link, code := s.lastMail().URL, s.code()
				b.get(link + "&callbackUrl=/enter-your-card").isAt("/auth/account/sign-up-finish").says(evesAddress).isSignedInAs(victim.who)
				b.post("/auth/account/sign-up-finish").want(http.StatusUnprocessableEntity).isSignedInAs(victim.who)
				// The code belongs to the browser that began.
				b.get("/auth/account/sign-up-sent").post("/auth/account/sign-up-sent", "code", code).want(http.StatusForbidden).isSignedInAs(victim.who)
				// Only a password that the person chooses on the page that names the address goes
				// on, and not to where the attacker wants.
				b.get("/auth/account/sign-up-finish").post("/auth/account/sign-up-finish", "password", newPassword).isAt("/").isSignedInAs(evesAddress)
			})
			t.Run("the link of a reset, "+name, func(t *testing.T) {
				s := newSite(t, tokens)
				s.seed(ada, goodPassword, true)
				s.seed(evesAddress, goodPassword, true)
				b := victim.stands(s)
				b.get(s.resetLink(evesAddress) + "&callbackUrl=/enter-your-card").says(evesAddress).isSignedInAs(victim.who)
				b.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin").isSignedInAs(victim.who)
			})
			t.Run("a second factor, "+name, func(t *testing.T) {
				s := newSite(t, tokens)
				s.seed(ada, goodPassword, true)
				eve := s.seed(evesAddress, goodPassword, true)
				code := s.app(eve)
				s.browser().signIn(evesAddress, goodPassword).isAt(secondFactor)
				b := victim.stands(s)
				// No link carries a sign-in that waits: it is in a cookie of the browser that began.
				b.get(secondFactor + "?token=x&code=" + code() + "&callbackUrl=/enter-your-card").want(http.StatusForbidden)
				b.post(secondFactor, "code", code()).want(http.StatusForbidden).isSignedInAs(victim.who)
			})
		}
	})
}
