package account_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/store/memstore"
)

// withAll gives an application everything that the pages of an account show.
func withAll(c *pintle.Config, o *account.Options) {
	withGitHub(c, o)
	withPasskeys(&echo{verifies: true})(c, o)
	describesDevices(c, o)
}

// asJSON reads a page as a script does.
func (b *browser) asJSON(path string) map[string]any {
	b.t.Helper()
	r := b.request(http.MethodGet, path, http.NoBody)
	r.Header.Set("Accept", "application/json")
	other := *b
	return other.send(r).want(http.StatusOK).json()
}

// withOptions returns the error of a configuration.
func withOptions(t *testing.T, change func(*account.Options)) error {
	t.Helper()
	o := account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }}
	change(&o)
	_, err := pintle.New(pintle.Config{
		Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("secret ", 6)}, Getenv: func(string) string { return "" },
		Accounts: account.New(o),
	})
	return err
}

// fresh is a browser whose user has just signed in.
func (s *site) fresh(u *pintle.User) *browser {
	s.t.Helper()
	return s.browser().startSession(u, 0, "pwd", "otp")
}

// AC-166: the pages of an account lead to one another, and to the end of the session.
func TestEveryPageOfAnAccountHasTheNavigationAndTheSignOut(t *testing.T) {
	s := newSite(t, false, withAll)
	u := s.seed(ada, goodPassword, true)
	s.app(u)
	s.passkey(u)
	s.link(u, "github")
	b := s.fresh(u)
	for path, current := range map[string]string{
		"": `href="/auth/account" aria-current="page"`, "/profile": `href="/auth/account/profile" aria-current="page"`,
		"/address":  `href="/auth/account/profile" aria-current="true"`,
		"/password": `href="/auth/account/password" aria-current="page"`, "/factors": `href="/auth/account/factors" aria-current="page"`,
		"/totp": `href="/auth/account/factors" aria-current="true"`, "/recovery-codes": `href="/auth/account/factors" aria-current="true"`,
		"/passkeys": `href="/auth/account/passkeys" aria-current="page"`, "/accounts": `href="/auth/account/accounts" aria-current="page"`,
		"/devices": `href="/auth/account/devices" aria-current="page"`, "/data": `href="/auth/account/data" aria-current="page"`,
		"/export": `href="/auth/account/data" aria-current="true"`, "/delete": `href="/auth/account/data" aria-current="true"`,
		"/confirm": `<nav `,
	} {
		b.get("/auth/account" + path).want(http.StatusOK).says(current).says(`<a class="skip" href="#content">`).says(`<main class="page" id="content" tabindex="-1">`)
		if n := strings.Count(b.page, "aria-current="); n != strings.Count(current, "aria-current=") {
			t.Errorf("%s: %d links are the current one", path, n)
		}
		if n := strings.Count(b.page, "<nav "); n != 1 {
			t.Errorf("%s: %d navigations", path, n)
		}
		if b.header.Get("Referrer-Policy") != "same-origin" || b.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: the headers are %v", path, b.header)
		}
		s.fresh(u).get("/auth/account" + path).says(`action="/auth/signout"`).post("/auth/signout").isSignedInAs("")
	}
	b.get("/auth/account/password").post("/auth/account/password", "current", "x", "password", newPassword).want(http.StatusUnprocessableEntity).says("<nav ")
	b.get("/auth/account/devices").post("/auth/account/end-devices", "handle", "x").want(http.StatusNotFound).says("<nav ")
}

func TestAPageThatIsNotThereLeadsUsersToTheAccount(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		const overview, signIn = `href="/auth/account">Overview</a>`, `href="/auth/signin">Sign in</a>`
		for path, status := range map[string]int{
			"/auth/account/passwords": http.StatusNotFound, "/auth/account/end-devices": http.StatusMethodNotAllowed,
		} {
			if b := s.fresh(u).get(path).want(status).says(overview); strings.Contains(b.page, signIn) {
				t.Errorf("%s offers to sign in to a user who is signed in", path)
			}
			if b := s.browser().get(path).want(status).says(signIn); strings.Contains(b.page, overview) {
				t.Errorf("%s leads to an account without a user", path)
			}
		}
	})
}

// Without second factors nothing leads to their page, unless a user has one from before.
func TestWithoutSecondFactorsNothingLeadsToTheirPage(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.SecondFactor.Off = true })
	u := s.seed(ada, goodPassword, true)
	const link = `href="/auth/account/factors"`
	if b := s.fresh(u).get("/auth/account").want(http.StatusOK); strings.Contains(b.page, link) {
		t.Error("the page of the account leads to second factors, which are off")
	}
	for _, name := range []string{"factors", "factor", "remembered", "totp", "recovery-codes"} {
		s.fresh(u).get("/auth/account/" + name).want(http.StatusNotFound)
	}
	s.app(u)
	if b := s.fresh(u).get("/auth/account").want(http.StatusOK); strings.Count(b.page, link) != 1 {
		t.Errorf("%d links lead to the app from before, want the one of its row", strings.Count(b.page, link))
	}
	b := s.fresh(u).get("/auth/account/factors").want(http.StatusOK)
	if strings.Contains(b.page, "/auth/account/totp") {
		t.Error("the page offers another app")
	}
	b.post("/auth/account/factor", "id", s.factor(u, "totp").ID, "action", "remove").isAt("/auth/account").says("The app is removed.")
	if to := s.server.URL + "/auth/account"; s.mailOf("factor-removed").URL != to {
		t.Errorf("the mail links to %s, want %s", s.mailOf("factor-removed").URL, to)
	}
	b.get("/auth/account/factors").want(http.StatusNotFound)
}

// A button that removes a way to sign in, or the account, is red. The end of a session is not: the
// user signs in again. A page has one main button at most.
func TestButtonsThatRemoveLookAsGraveAsTheyAre(t *testing.T) {
	s := newSite(t, false, withAll)
	u := s.seed(ada, goodPassword, true)
	s.app(u)
	s.passkey(u)
	s.link(u, "github")
	s.fresh(u) // another device
	b := s.fresh(u)
	for path, buttons := range map[string][]string{
		"/delete":   {`class="primary grave" type="submit">Delete the account<`},
		"/password": {`class="primary" type="submit">`, `class="secondary grave" type="submit">Remove the password<`},
		"/factors":  {`class="secondary grave" type="submit" aria-describedby="row-1 row-1-lines">Remove<`},
		"/passkeys": {`class="secondary grave" type="submit" aria-describedby="row-1">Remove<`},
		"/accounts": {`class="secondary grave" type="submit" aria-describedby="row-1 row-1-lines">Unlink<`},
		"/devices": {
			`class="secondary" type="submit" aria-describedby="row-`, `class="secondary" type="submit">Sign out all others<`,
			`class="secondary" type="submit">Sign out everywhere<`,
		},
		"/export": {`class="primary" type="submit">Download the file<`},
		"/data":   nil, "/profile": nil, "": nil, "/activity": nil,
	} {
		b.get("/auth/account" + path).want(http.StatusOK)
		grave := 0
		for _, button := range buttons {
			b.says(button)
			grave += strings.Count(button, "grave")
		}
		if n := strings.Count(b.page, ` grave"`); n != grave {
			t.Errorf("%s: %d buttons look grave, want %d", path, n, grave)
		}
		if n := strings.Count(b.page, `class="primary`); n > 1 {
			t.Errorf("%s: %d main buttons", path, n)
		}
	}
}

func TestThePagesOfAnAccountAreThoseOfTheConfiguration(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Deletion.Off, o.Export.Off = true, true })
	b := s.fresh(s.seed(ada, goodPassword, true)).get("/auth/account").want(http.StatusOK)
	for _, name := range []string{"passkeys", "accounts", "data"} {
		if strings.Contains(b.page, "/auth/account/"+name) {
			t.Errorf("the navigation leads to %s", name)
		}
		s.browserWith(b).get("/auth/account/" + name).want(http.StatusNotFound)
	}
}

// AC-163, AT-82: a page shows texts of its own for the codes in the address, and nothing of the
// address.
func TestAnAddressPutsNoTextOnAPage(t *testing.T) {
	s := newSite(t, false, withAll)
	b := s.fresh(s.seed(ada, goodPassword, true))
	b.get("/auth/account?error=OAuthAccountNotLinked").says("Another user signs in here with that account.")
	b.get("/auth/account/accounts?notice=unlinked").says("The account is no longer linked.")
	for _, query := range []string{"error", "notice", "from", "callbackUrl"} {
		for _, path := range []string{"", "/profile", "/password", "/passkeys", "/accounts", "/devices", "/factors"} {
			b.get("/auth/account" + path + "?" + query + "=" + url.QueryEscape(`<b>canary"'`)).want(http.StatusOK)
			if strings.Contains(b.page, "canary") {
				t.Errorf("%s shows the parameter %s", path, query)
			}
		}
	}
}

// AT-82: what others have chosen is text.
func TestWhatOthersHaveChosenIsNoMarkup(t *testing.T) {
	const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`
	s := newSite(t, false, withAll, remembering)
	u := s.seed(ada, goodPassword, true)
	name, image := hostile, "javascript:alert(1)"
	if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Name: &name, Image: &image}); err != nil {
		t.Fatal(err)
	}
	err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: hostile, ProviderAccountID: hostile})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.store.RenamePasskey(t.Context(), u.ID, s.passkey(u), hostile); err != nil {
		t.Fatal(err)
	}
	code := s.app(u)
	s.browser().as(hostile).signIn(ada, goodPassword).post(secondFactor, "code", code(), "remember", "1")
	b := s.fresh(u)
	for path, shown := range map[string]string{"": "&lt;script&gt;", "/activity": "&lt;script&gt;", "/factors": "&lt;script&gt;", "/profile": "&lt;script&gt;", "/passkeys": "&lt;script&gt;", "/accounts": "&lt;script&gt;", "/devices": "&lt;script&gt;"} {
		b.get("/auth/account" + path).want(http.StatusOK).says(shown)
		if strings.Contains(b.text(), "<script>alert") || strings.Contains(b.page, "<img src=x") || strings.Contains(b.page, "javascript:") {
			t.Errorf("%s has markup of others: %s", path, b.text())
		}
		if csp := b.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", path, csp)
		}
	}
}

// AC-164, AC-165
func TestAPictureComesFromItsOriginAndLearnsNoAddress(t *testing.T) {
	for image, want := range map[string]string{
		"https://pictures.example/1.png": " https://pictures.example;", "/me.png": "img-src 'self';", "http://pictures.example/1.png": "img-src 'self';",
		"data:image/png;base64,AA==": "img-src 'self' data:;", "data:text/html,x": "img-src 'self';",
	} {
		s := newSite(t, false)
		u := s.seed(ada, goodPassword, true)
		if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Image: &image}); err != nil {
			t.Fatal(err)
		}
		b := s.fresh(u).get("/auth/account")
		if csp := b.header.Get("Content-Security-Policy"); !strings.Contains(csp, want) {
			t.Errorf("%s: the policy is %q, want %q in it", image, csp, want)
		}
		shown := strings.Contains(b.page, `src="`+image+`" alt="" referrerpolicy="no-referrer"`)
		if allowed := want != "img-src 'self';" || strings.HasPrefix(image, "/"); shown != allowed {
			t.Errorf("%s is shown: %t", image, shown)
		}
	}
}

func TestUsersRenameAndRemovePasskeys(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withAll)
		u := s.seed(ada, goodPassword, true)
		id := s.passkey(u)
		const path = "/auth/account/passkey"
		b := s.fresh(u).get("/auth/account/passkeys").says("A passkey")
		b.post(path, "id", id, "action", "rename", "name", strings.Repeat("x", 65)).want(http.StatusUnprocessableEntity).says("That name cannot be used.").says("<details open>")
		b.post(path, "id", id, "action", "rename", "name", "Laptop").isAt("/auth/account/passkeys").says("<bdi>Laptop</bdi>").says("Your changes are saved.")
		if answer := b.postJSON(path, map[string]any{"id": "other", "action": "remove"}); answer["error"] != "not_found" {
			t.Errorf("a passkey that is not there: %v", answer)
		}
		if answer := b.postJSON(path, map[string]any{"id": id, "action": "x"}); answer["error"] != "invalid" {
			t.Errorf("an unknown action is answered with %v", answer)
		}
		stale := s.browser().startSession(u, time.Hour, "pwd", "otp")
		if answer := stale.postJSON(path, map[string]any{"id": id, "action": "remove"}); answer["error"] != "insufficient_user_authentication" {
			t.Errorf("an old session removes a passkey: %v", answer)
		}
		stale.get("/auth/account/passkeys").says("confirm first that it is you").post(path, "id", id, "action", "rename", "name", "Key").want(http.StatusOK)
		b.get("/auth/account/passkeys").post(path, "id", id, "action", "remove").isAt("/auth/account/passkeys").says("The passkey is removed.")
		if keys := b.get("/auth/account/me").json()["passkeys"].([]any); len(keys) != 0 {
			t.Errorf("the passkeys are %v", keys)
		}
		s.wantMail(ada, "A passkey was removed")
		b.postJSON(path, map[string]any{"id": id, "action": "remove"})
		b.want(http.StatusNotFound)
	})
}

func TestAPasskeyThatIsNeededStays(t *testing.T) {
	s := newSite(t, false, withAll)
	u, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "key-only", Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	id := s.passkey(u)
	b := s.browser().startSession(u, 0, "pop", "mfa")
	if answer := b.postJSON("/auth/account/passkey", map[string]any{"id": id, "action": "remove"}); answer["error"] != "last_sign_in" || b.status != http.StatusForbidden {
		t.Errorf("the last way in: %d %v", b.status, answer)
	}
	s = newSite(t, false, withAll, required)
	u = s.seed(ada, goodPassword, true)
	id = s.passkey(u)
	b = s.browser().startSession(u, 0, "pwd", "pop", "mfa")
	if answer := b.postJSON("/auth/account/passkey", map[string]any{"id": id, "action": "remove"}); answer["error"] != "required_by_policy" {
		t.Errorf("the last second factor: %d %v", b.status, answer)
	}
	s.app(u)
	b = s.fresh(u)
	if answer := b.postJSON("/auth/account/passkey", map[string]any{"id": id, "action": "remove"}); answer["next"] == nil {
		t.Errorf("beside an app: %d %v", b.status, answer)
	}
}

// AC-111: of a user who needs a second factor the last app can go if a passkey stays.
func TestTheLastAppGoesIfAPasskeyStays(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, withAll, required)
	u := s.seed(ada, goodPassword, true)
	s.app(u)
	app := s.factor(u, "totp").ID
	remove := func() map[string]any {
		return s.fresh(u).postJSON("/auth/account/factor", map[string]any{"kind": "totp", "id": app, "action": "remove"})
	}
	if answer := remove(); answer["error"] != "required_by_policy" {
		t.Errorf("without a passkey: %v", answer)
	}
	id := s.passkey(u)
	if answer := remove(); answer["next"] == nil {
		t.Errorf("beside a passkey: %v", answer)
	}
	b := s.fresh(u)
	if answer := b.postJSON("/auth/account/passkey", map[string]any{"id": id, "action": "remove"}); answer["error"] != "required_by_policy" {
		t.Errorf("the passkey is the last second factor now: %d %v", b.status, answer)
	}
	s.browser().signIn(ada, goodPassword).isAt("/auth/account/second-factor")
}

// A passkey is added by the ceremony of the page, and the user comes back to the list.
func TestUsersAddPasskeysOnThePageOfTheirs(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withAll)
		u := s.seed(ada, goodPassword, true)
		b := s.fresh(u).get("/auth/account/passkeys").want(http.StatusOK)
		found := regexp.MustCompile(`data-passkey-options="([^"]+)"`).FindStringSubmatch(b.page)
		if found == nil {
			t.Fatal("the page has no form for a passkey")
		}
		page := *b
		page.get(found[1] + "?action=register")
		var options struct {
			Action  string
			Options struct{ Challenge string }
		}
		if err := json.Unmarshal([]byte(page.page), &options); err != nil || options.Action != "register" {
			t.Fatalf("the options are %s", page.page)
		}
		id := base64.StdEncoding.EncodeToString([]byte("new"))
		b.post("/auth/callback/passkey", "action", "register", "data", fmt.Sprintf(`{"id":%q,"challenge":%q}`, id, options.Options.Challenge),
			"callbackUrl", s.server.URL+"/auth/account/passkeys?notice=passkey_added")
		b.isAt("/auth/account/passkeys").says("The passkey is added.").says(id)
		s.wantMail(ada, "A passkey was added")
	})
}

func TestUsersLinkAndUnlinkAccounts(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withAll)
		u := s.seed(ada, goodPassword, true)
		const path = "/auth/account/unlink"
		b := s.fresh(u).get("/auth/account/accounts").says(`action="/auth/signin/github"`)
		b.stay().post("/auth/signin/github").want(http.StatusFound)
		if to := b.header.Get("Location"); !strings.HasPrefix(to, "https://github.com/") {
			t.Errorf("the form to link leads to %s", to)
		}
		s.browser().startSession(u, time.Hour, "pwd").get("/auth/account/accounts").says("confirm first that it is you").says("/auth/account/confirm?")
		s.link(u, "github")
		b = s.fresh(u).get("/auth/account/accounts").says(">GitHub<").says("1 " + u.ID)
		if strings.Contains(b.page, `action="/auth/signin/github"`) {
			t.Error("an account that is linked can be linked again")
		}
		if answer := b.postJSON(path, map[string]any{"provider": "github", "id": "other"}); answer["error"] != "not_found" {
			t.Errorf("an account that is not there: %v", answer)
		}
		b.get("/auth/account/accounts").post(path, "provider", "github", "id", "1 "+u.ID).isAt("/auth/account/accounts").says("The account is no longer linked.")
		s.wantMail(ada, "An account was unlinked")

		fed, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "fed"})
		if err != nil {
			t.Fatal(err)
		}
		s.link(fed, "github")
		b = s.browser().startSession(fed, 0, "fed")
		if answer := b.postJSON(path, map[string]any{"provider": "github", "id": "1 fed"}); answer["error"] != "last_sign_in" || b.status != http.StatusForbidden {
			t.Errorf("the last way in: %d %v", b.status, answer)
		}
		b.post(path, "provider", "github", "id", "1 fed").want(http.StatusForbidden).says("You could not sign in any more without it.")
		if strings.Contains(b.page, ">Sign in<") {
			t.Error("the page asks a user to sign in who is signed in")
		}
	})
}

// An attacker may have made the user with the address of another person.
func TestNothingIsLinkedBeforeTheAddressIsProven(t *testing.T) {
	s := newSite(t, false, withAll)
	u := s.seed(ada, "", false)
	s.link(u, "github")
	b := s.browser().startSession(u, 0, "fed").get("/auth/account/passkeys").says("Confirm your email address first.")
	if strings.Contains(b.page, "data-passkey-options") {
		t.Error("the page has the form for a passkey")
	}
}

func TestUsersEndTheirSessions(t *testing.T) {
	s := newSite(t, false, withAll)
	u := s.seed(ada, goodPassword, true)
	const path = "/auth/account/end-devices"
	phone, laptop, tablet := s.browser().as("phone").signIn(ada, goodPassword), s.browser().as("laptop").signIn(ada, goodPassword), s.fresh(u)
	here := s.browser().as("here").signIn(ada, goodPassword).get("/auth/account/devices").says("phone").says("laptop").says("This browser")
	handles := map[string]string{}
	for _, d := range here.get("/auth/account/devices").asJSON("/auth/account/devices")["devices"].([]any) {
		d := d.(map[string]any)
		if name, is := d["name"].(string); is {
			handles[name] = d["handle"].(string)
		}
	}
	phone.isSignedInAs(ada)
	here.get("/auth/account/devices").post(path, "handle", handles["phone, 4"]).isAt("/auth/account/devices").says("That device is signed out.")
	phone.isSignedInAs("")
	laptop.isSignedInAs(ada)
	here.get("/auth/account/activity").says("A session was ended") // which does not say that a provider has ended it
	if answer := here.postJSON(path, map[string]any{}); answer["error"] != "invalid" {
		t.Errorf("no device: %v", answer)
	}
	old := s.browser().startSession(u, 25*time.Hour, "pwd")
	if answer := old.postJSON(path, map[string]any{"all": true}); answer["error"] != "insufficient_user_authentication" {
		t.Errorf("a session of yesterday ends the others: %v", answer)
	}
	// A user who is afraid gets there with a proof of this day.
	day := s.browser().startSession(u, 23*time.Hour, "pwd")
	day.get("/auth/account/devices").post(path, "others", "1").isAt("/auth/account/devices").says("All your other devices are signed out.").isSignedInAs(ada)
	for _, b := range []*browser{laptop, tablet, here, old} {
		b.isSignedInAs("")
	}
	other := s.fresh(u)
	other.get("/auth/account/devices").post(path, "all", "1").isAt("/auth/signin").says("You are signed out everywhere.").isSignedInAs("")
	day.isSignedInAs("")
}

func TestUsersWithTokenSessionsEndAllOthersOrAll(t *testing.T) {
	s := newSite(t, true, withAll)
	u := s.seed(ada, goodPassword, true)
	before := s.fresh(u)
	b := s.fresh(u).get("/auth/account/devices").says("This browser")
	b.post("/auth/account/end-devices", "others", "1").isAt("/auth/account/devices").isSignedInAs(ada)
	before.isSignedInAs("")
	b.get("/auth/account/devices").post("/auth/account/end-devices", "all", "1").isAt("/auth/signin").isSignedInAs("")
}

// AC-167
func TestALongListIsShownInParts(t *testing.T) {
	s := newSite(t, false, withAll)
	u := s.seed(ada, goodPassword, true)
	for range 105 {
		s.fresh(u)
	}
	b := s.fresh(u).get("/auth/account/devices").says(`href="/auth/account/devices?from=100"`)
	rows := func() int { return strings.Count(b.page, `<li class="row">`) }
	if n := rows(); n != 100 {
		t.Errorf("the first part has %d rows", n)
	}
	if b.get("/auth/account/devices?from=100").says(`href="/auth/account/devices"`); rows() != 6 {
		t.Errorf("the second part has %d rows", rows())
	}
	if answer := b.asJSON("/auth/account/devices"); answer["next"] != 100.0 || len(answer["devices"].([]any)) != 100 {
		t.Errorf("as data: %v", answer["next"])
	}
	for _, from := range []string{"-1", "x", "99999999999999999999"} {
		if b.get("/auth/account/devices?from=" + from).want(http.StatusOK); rows() != 100 {
			t.Errorf("from %s: %d rows", from, rows())
		}
	}
	for range 120 {
		err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: fmt.Sprint(time.Now().UnixNano())})
		if err != nil {
			t.Fatal(err)
		}
	}
	if b.get("/auth/account/accounts").says("from=100"); rows() != 100 {
		t.Errorf("%d accounts", rows())
	}
	if b.get("/auth/account/accounts?from=100"); rows() != 20 {
		t.Errorf("%d accounts in the second part", rows())
	}
	b.get("/auth/account/accounts?from=1000").want(http.StatusOK)
}

func TestAnApplicationReplacesPages(t *testing.T) {
	s := newSite(t, false, func(c *pintle.Config, o *account.Options) {
		withAll(c, o)
		c.Pages.Account = "/me?tab=1"
		o.Pages = map[string]string{"password": "/settings/password", "passkeys": "/settings/passkeys", "accounts": "/settings/accounts"}
	})
	b := s.fresh(s.seed(ada, goodPassword, true)).stay()
	goesTo := func(path, want string) {
		t.Helper()
		b.get(path)
		if to := b.header.Get("Location"); b.status != http.StatusSeeOther || to != want {
			t.Errorf("%s leads to %q with status %d, want %q", path, to, b.status, want)
		}
	}
	goesTo("/auth/account?notice=password_set", "/me?tab=1&notice=password_set")
	goesTo("/auth/account/password", "/settings/password")
	goesTo("/auth/account/passkeys", "/settings/passkeys")
	goesTo("/auth/account/accounts", "/settings/accounts")
	b.get("/auth/account/profile").says(`href="/settings/password"`)
	b.post("/auth/account/password", "current", "x", "password", newPassword)
	if to := b.header.Get("Location"); b.status != http.StatusSeeOther || to != "/settings/password?error=wrong_password" {
		t.Errorf("a wrong password leads to %q with status %d", to, b.status)
	}
	if answer := b.asJSON("/auth/account/password"); answer["has_password"] != true {
		t.Errorf("as data: %v", answer)
	}
	s.browser().stay().get("/auth/account/password").want(http.StatusSeeOther).get("/auth/account").want(http.StatusSeeOther)
	for name, page := range map[string]string{"nothing": "/x", "sign-up": "/x", "me": "/x", "": "/x", "devices": "https://evil.example/", "profile": "//evil.example", "data": "x", "passkeys": "/without/a/provider"} {
		if err := withOptions(t, func(o *account.Options) { o.Pages = map[string]string{name: page} }); err == nil || !strings.Contains(err.Error(), "Options.Pages") {
			t.Errorf("Pages[%q] = %q: %v", name, page, err)
		}
	}
}

// The pages of a user without a password do not speak of the user's password.
func TestPagesSpeakOfThePasswordToUsersWhoHaveOne(t *testing.T) {
	s := newSite(t, false, withAll)
	u := s.seed(ada, "", true)
	s.app(u)
	s.passkey(u)
	s.link(u, "github")
	b := s.fresh(u)
	for name := range spoken {
		for _, text := range []string{"your password", "choose a new password"} {
			if page := b.get("/auth/account" + name).want(http.StatusOK).text(); strings.Contains(page, text) {
				t.Errorf("%s says %q to a user without a password", name, text)
			}
		}
	}
	s.setPassword(u.ID, goodPassword)
	for name, text := range spoken {
		if b.get("/auth/account" + name).want(http.StatusOK); text != "" {
			b.says(text)
		}
	}
}

// spoken are the pages of an account, with what they say of the password to a user who has one.
var spoken = map[string]string{
	"": "You have a password", "/password": "Change your password", "/factors": "if your password is stolen", "/devices": "change your password",
	"/activity": "choose a new password", "/profile": "", "/address": "", "/passkeys": "", "/accounts": "", "/totp": "", "/recovery-codes": "", "/data": "",
	"/export": "", "/delete": "",
}

// AC-160: sessions of one day in browsers of one kind are told apart by the time, and so are their buttons.
func TestDevicesOfOneDayAreToldApart(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	day := time.Now().UTC()
	for _, ago := range []time.Duration{3 * time.Hour, time.Hour} {
		s.browser().startSessionAt(u, day.Add(-ago), "pwd")
	}
	b := s.fresh(u).get("/auth/account/devices").want(http.StatusOK)
	for _, ago := range []time.Duration{3 * time.Hour, time.Hour} {
		b.says(day.Add(-ago).Format("2 January 2006, 15:04 UTC"))
	}
	described := regexp.MustCompile(`aria-describedby="(row-\d+) (row-\d+-lines)">Sign out<`).FindAllStringSubmatch(b.page, -1)
	if len(described) != 2 {
		t.Fatalf("%d buttons are described by their rows: %s", len(described), b.text())
	}
	for _, ids := range described {
		b.says(`id="` + ids[1] + `"`).says(`id="` + ids[2] + `"`)
	}
}
