package account_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// fingerprint is what the store has of a user.
func (s *site) fingerprint(u *pintle.User) string {
	s.t.Helper()
	factors, err := s.rows.Factors(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range factors {
		b.WriteString(f.Kind + " " + f.ID + " " + f.Name + " " + f.Secret + "\n")
	}
	stored, err := s.store.User(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	b.WriteString(stored.Email + stored.EmailVerified.String() + stored.Name)
	return b.String()
}

// everyField is what forms of accounts have, for whichever route.
func everyField(u *pintle.User) []string {
	return []string{
		"email", "eve@example.com", "password", "the password of a thief", "current", goodPassword, "code", "123456", "name", "thief",
		"action", "remove", "kind", "totp", "id", "x", "remove", "1", "saved", "1", "user", u.ID, "userId", u.ID, "method", "password",
		"provider", "github", "confirmed", "1", "others", "1",
	}
}

// needsNoProof are the routes whose forms an old session may send, too.
var needsNoProof = map[string]bool{"address-cancel": true, "profile": true, "picture": true, "remembered": true, "confirm": true}

// hasNoForm are the routes that only show, and hasNoPage those that only take a form.
var (
	hasNoForm = map[string]bool{
		"": true, "me": true, "passkeys": true, "accounts": true, "devices": true, "data": true, "activity": true, "factors": true, "confirm-options": true,
	}
	hasNoPage = map[string]bool{"address-cancel": true, "unlink": true, "end-devices": true}
)

// belongs is what the store has of a user, except for sessions.
func (s *site) belongs(u *pintle.User) string {
	s.t.Helper()
	linked, err := s.store.UserAccounts(s.t.Context(), u.ID)
	s.done(err)
	text := fmt.Sprint(s.fingerprint(u), s.passkeys(u), s.state(u).DeleteAt)
	for _, a := range linked {
		text += " " + a.Provider + " " + a.ProviderAccountID
	}
	return text
}

// AT-80: no route does without the check that its siblings have.
func TestEveryRouteOfAnAccountAsksWhoIsThere(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		pictures := &pictureStore{link: "https://pictures.example/thief.png"}
		s := newSite(t, tokens, withAll, pictures.configure)
		u := s.seed("ada@example.com", goodPassword, true)
		s.app(u)
		s.passkey(u)
		s.link(u, "github")
		remembered := s.giveBrowser(u, s.browser())
		plain := s.seed("grace@example.com", goodPassword, true) // without a second factor
		s.browser().startSession(u, 0, "pwd", "otp")             // is not to be ended
		sessions := func() (n int) {
			for _, err := range s.store.UserSessions(t.Context(), u.ID) {
				s.done(err)
				n++
			}
			return n
		}
		// Each route gets what exists, so that only the check keeps it.
		ids := map[string]string{
			"factor": s.factor(u, "totp").ID, "passkey": s.passkeyID(u), "unlink": "1 " + u.ID, "remembered": remembered,
		}
		before := s.belongs(u) + s.belongs(plain)
		routes := s.accounts.RoutesOf()
		for _, name := range []string{"passkey", "passkeys", "accounts", "unlink", "picture", "end-devices", "remembered"} {
			if routes[name] == "" {
				t.Fatalf("the site has no route %s", name)
			}
		}
		for name, who := range routes {
			path := strings.TrimSuffix("/auth/account/"+name, "/")
			t.Run(path, func(t *testing.T) {
				if who == "anyone" {
					return // such a route goes with a flow, and has its own tests
				}
				send := func(b *browser, u *pintle.User) {
					t.Helper()
					if name == "picture" {
						b.uploads(path, drawn(t, "image/png", 1, 1))
						return
					}
					fields := everyField(u)
					if id := ids[name]; id != "" {
						fields = append(fields, "id", id)
					}
					b.post(path, fields...)
				}
				half := s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("")
				for visitor, b := range map[string]*browser{"signed out": s.browser(), "half signed in": half} {
					b.stay().get(path)
					to := b.header.Get("Location")
					switch {
					case hasNoPage[name]:
						b.want(http.StatusMethodNotAllowed)
					case name == "me" || name == "confirm-options": // they answer scripts
						b.want(http.StatusUnauthorized)
					case b.status != http.StatusSeeOther || !strings.HasPrefix(to, "/auth/signin"):
						t.Errorf("GET, %s: %d, to %q: %s", visitor, b.status, to, b.page)
					}
					want := http.StatusUnauthorized
					if hasNoForm[name] {
						want = http.StatusMethodNotAllowed
					}
					if send(b, u); b.status != want {
						t.Errorf("POST, %s: %d, want %d", visitor, b.status, want)
					}
				}
				for _, u := range []*pintle.User{u, plain} {
					stale := s.browser().startSession(u, 25*time.Hour, "pwd", "otp").stay() // end-devices accepts a day
					takesPassword := name == "password" && u == plain                       // which is the proof
					if who == "proven" && !takesPassword && !hasNoPage[name] {
						if stale.get(path); !strings.HasPrefix(stale.header.Get("Location"), "/auth/account/confirm?") {
							t.Errorf("GET of an old session: %d, to %q", stale.status, stale.header.Get("Location"))
						}
					}
					want := http.StatusForbidden // the demand
					switch {
					case needsNoProof[name]:
						continue
					case hasNoForm[name]:
						want = http.StatusMethodNotAllowed
					case u == plain && (name == "factor" || name == "passkey"):
						want = http.StatusNotFound // of another user
					}
					sessionsBefore := sessions()
					if send(stale, u); stale.status != want {
						t.Errorf("POST of an old session of %s: %d, want %d: %s", u.Email, stale.status, want, stale.text())
					}
					if want == http.StatusForbidden && !strings.Contains(stale.page, `/auth/account/confirm`) {
						t.Errorf("POST of an old session of %s does not lead to the confirmation: %s", u.Email, stale.text())
					}
					if after := sessions(); after != sessionsBefore {
						t.Errorf("of %d sessions there are %d", sessionsBefore, after)
					}
				}
			})
		}
		if after := s.belongs(u) + s.belongs(plain); after != before {
			t.Errorf("the account was changed from\n%s\nto\n%s", before, after)
		}
		if len(pictures.stored) > 0 {
			t.Error("a picture was stored")
		}
	})
}

// AT-120, AC-220
func TestNoRouteOfAnAccountTakesAFormOfAnotherSite(t *testing.T) {
	s := newSite(t, true)
	u := s.seed("ada@example.com", goodPassword, true)
	before := s.fingerprint(u)
	b := s.browser().startSession(u, 0, "pwd").stay()
	token := b.get("/auth/account").token()
	form := url.Values{"csrfToken": {token}}
	fields := everyField(u)
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	const isForm = "application/x-www-form-urlencoded"
	for name := range s.accounts.RoutesOf() {
		path := strings.TrimSuffix("/auth/account/"+name, "/")
		for attack, send := range map[string]struct{ kind, body, header, value string }{
			"no token":                  {isForm, "password=x", "Sec-Fetch-Site", "same-origin"},
			"another token":             {isForm, "csrfToken=" + strings.Repeat("0", 64), "Sec-Fetch-Site", "same-origin"},
			"another site":              {isForm, form.Encode(), "Sec-Fetch-Site", "cross-site"},
			"a sibling domain":          {isForm, form.Encode(), "Sec-Fetch-Site", "same-site"},
			"another origin":            {isForm, form.Encode(), "Origin", "https://evil.example"},
			"no origin":                 {isForm, form.Encode(), "Origin", "null"},
			"JSON as text":              {"text/plain", `{"csrfToken":"` + token + `"}`, "Sec-Fetch-Site", "same-origin"},
			"JSON with a type of forms": {isForm, `{"csrfToken":"` + token + `"}`, "Sec-Fetch-Site", "same-origin"},
		} {
			r := b.request(http.MethodPost, path, strings.NewReader(send.body))
			r.Header.Set("Content-Type", send.kind)
			r.Header.Set("Accept", "text/html")
			r.Header.Set(send.header, send.value)
			if b.send(r); b.status != http.StatusForbidden {
				t.Errorf("%s, %s: %d", path, attack, b.status)
			}
		}
	}
	if after := s.fingerprint(u); after != before {
		t.Errorf("the account was changed to\n%s", after)
	}
}

// AT-121: another spelling of a path is the same page or none.
func TestAnotherSpellingOfAPathIsNoWayAroundACheck(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("ada@example.com", goodPassword, true)
	s.app(u)
	signedOut, stale := s.browser().stay(), s.browser().startSession(u, time.Hour, "pwd").stay()
	for _, path := range []string{
		"//auth/account/password", "/auth//account/password", "/auth/account//password", "/auth/account/password/", "/auth/./account/password",
		"/auth/x/../account/password", "/auth/%61ccount/password", "/auth/account/%70assword", "/auth/account%2Fpassword", "/auth/ACCOUNT/password",
		"/auth/account/PASSWORD", "/auth/account/password/x", "/auth/account/password;x", "/auth/account/password%00", "/auth/account/password%20",
		"/auth/account/password?x", "/auth/account/password/..%2fpassword", "/auth/account/password/?token=x",
	} {
		for who, b := range map[string]*browser{"signed out": signedOut, "an old session": stale} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			raw, query, _ := strings.Cut(path, "?")
			r.URL.Opaque, r.URL.RawQuery = strings.Replace(s.server.URL, "http:", "", 1)+raw, query
			r.Header.Set("Accept", "text/html")
			if b.send(r); strings.Contains(b.page, `name="password"`) {
				t.Errorf("%s, %s: the form was shown", path, who)
			}
			if b.status >= 500 {
				t.Errorf("%s, %s: %d", path, who, b.status)
			}
		}
	}
}

func TestTheAccountSaysSinceWhenItHasItsPassword(t *testing.T) {
	s := newSite(t, false)
	b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), time.Minute, "pwd")
	changed := func() any {
		t.Helper()
		return s.browserWith(b).get("/auth/account/me").want(http.StatusOK).json()["password"].(map[string]any)["changed"]
	}
	b.get("/auth/account").says("You have a password.") // it is not known since when
	if got := changed(); got != nil {
		t.Errorf("the time is %v", got)
	}
	from := time.Now().Truncate(time.Millisecond)
	b.get("/auth/account/password").post("/auth/account/password", "current", goodPassword, "password", newPassword)
	to := time.Now()
	at, err := time.Parse(time.RFC3339, fmt.Sprint(changed()))
	if err != nil || at.Before(from) || at.After(to) {
		t.Errorf("the time is %v (%v), want one between %v and %v", at, err, from, to)
	}
	b.get("/auth/account").says(`You have a password since <time datetime="` + at.UTC().Format(time.RFC3339) + `">` + at.UTC().Format("2 January 2006") + "</time>.")
}

func TestTheAccountLeadsToRecoveryCodesOnceThereIsAFactor(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("ada@example.com", goodPassword, true)
	b := s.browser().startSession(u, time.Minute, "pwd").get("/auth/account").want(http.StatusOK)
	const link = `href="/auth/account/recovery-codes"`
	if strings.Contains(b.page, link) {
		t.Error("the page leads to recovery codes, which a user without a factor does not get")
	}
	s.app(u)
	b.get("/auth/account").says(link)
}

func TestTheAccountAsData(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed("ada@example.com", goodPassword, true)
		b := s.browser().startSession(u, time.Minute, "pwd")
		me := b.get("/auth/account/me").want(http.StatusOK).json() // JSON, whatever is asked for
		user, session := me["user"].(map[string]any), me["session"].(map[string]any)
		if user["id"] != u.ID || user["email"] != u.Email || user["emailVerified"] == nil || user["name"] != nil {
			t.Errorf("the user is %v", user)
		}
		if session["acr"] != "1fa" || session["fresh"] != true || session["authTime"] == nil || !equalJSON(session["amr"], []any{"pwd"}) {
			t.Errorf("the session is %v", session)
		}
		if me["password"].(map[string]any)["set"] != true || !equalJSON(me["factors"], []any{}) || me["recoveryLeft"] != 0.0 {
			t.Errorf("the ways in are %v %v %v", me["password"], me["factors"], me["recoveryLeft"])
		}
		if devices := me["devices"].([]any); !tokens && (len(devices) != 1 || devices[0].(map[string]any)["current"] != true) {
			t.Errorf("the devices are %v", devices)
		}
		s.app(u)
		if _, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID); err != nil {
			t.Fatal(err)
		}
		me = b.get("/auth/account/me").json()
		if len(me["factors"].([]any)) != 1 || me["recoveryLeft"] != 10.0 || me["session"].(map[string]any)["fresh"] != false {
			t.Errorf("with an app the account is %v", me)
		}
		// What proves the user is in the store, and not here.
		rows, err := s.rows.Factors(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if strings.Contains(b.page, row.Secret) {
				t.Errorf("the answer has the secret of a %s", row.Kind)
			}
		}
		if b.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the headers are %v", b.header)
		}
		if answer := s.browser().get("/auth/account/me").want(http.StatusUnauthorized).json(); answer["error"] != "signed_out" {
			t.Errorf("without a session the answer is %v", answer)
		}
	})
}

// AT-82
func TestTheAccountPageShowsWhatIsThere(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("ada@example.com", goodPassword, true)
	b := s.browser().startSession(u, time.Hour, "pwd")
	b.get("/auth/account").says("ada@example.com").says("Your address is confirmed.").says("You have a password").says("You have no second factor.")
	b.says(`action="/auth/signout"`).says("/auth/account/password").post("/auth/signout").isSignedInAs("")

	name := `<script>alert(1)</script>"'`
	odd, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "odd", Name: name})
	if err != nil {
		t.Fatal(err)
	}
	b.startSession(odd, 0, "fed").get("/auth/account?notice=" + url.QueryEscape(name)).says("You have no password.")
	if strings.Contains(b.page, "<script>alert") {
		t.Error("a name is markup")
	}
}

// AT-70, AC-140: what was proven in a session keeps its time when something else is proven.
func TestAnOldProofStaysOldWhenAnotherIsGiven(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		calls := s.demand("/danger", account.Demand{MaxAge: tenMinutes, Level: account.TwoFactors})
		s.demand("/any", account.Demand{MaxAge: tenMinutes})
		u := s.seed("ada@example.com", goodPassword, true)
		s.app(u)
		b := s.browser().startSession(u, 20*24*time.Hour, "pwd", "otp")
		b.get("/any").isAt("/auth/account/confirm").confirmBy("password", goodPassword).says("done")
		b.get("/danger").isAt("/auth/account/confirm").says("Code of the app")
		if *calls != 0 {
			t.Error("a code of 20 days ago and a password of now are two factors")
		}
	})
}

// The page after the next sign-in does not say again what was done before the sign-out.
func TestANoticeDoesNotOutliveTheSession(t *testing.T) {
	s := newSite(t, false)
	to := s.browser().stay().get("/auth/account/devices?notice=device_ended&cursor=x").want(http.StatusSeeOther).header.Get("Location")
	if want := "/auth/signin?callbackUrl=" + url.QueryEscape("/auth/account/devices?cursor=x"); to != want {
		t.Errorf("the browser goes to %s, want %s", to, want)
	}
}
