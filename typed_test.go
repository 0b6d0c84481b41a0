package pintle_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// AT-161: the cookie is sealed, and the same for a user who exists and one who does not. Neither
// the URL nor the cookie tells what was typed.
func TestAWrongPasswordLeavesTheNameThatWasTyped(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"ada", "nobody"} { // known and unknown alike
		b := s.browser()
		r := b.submit("/auth/callback/credentials", "username", name, "password", "difference engine")
		r.fails("/auth/signin", "CredentialsSignin")
		line := r.setCookie(typedCookie)
		if !strings.Contains(line, "; Max-Age=900; Path=/; ") || !strings.HasSuffix(line, "; HttpOnly; SameSite=Lax") {
			t.Errorf("the cookie is set by %q", line)
		}
		for place, text := range map[string]string{"URL": r.location(), "cookie": line} {
			if strings.Contains(text, name) || strings.Contains(text, "difference engine") {
				t.Errorf("the %s tells what was typed: %s", place, text)
			}
		}
		page := b.get(r.location(), navigating...).want(http.StatusOK).body
		if !strings.Contains(page, `name="username"`) || !strings.Contains(page, ` value="`+name+`"`) {
			t.Errorf("%s is not in the form: %s", name, page)
		}
		if !strings.Contains(page, ` autofocus type="password"`) && !strings.Contains(page, ` autocomplete="current-password" autofocus`) {
			t.Errorf("the focus is not in the field of the password: %s", page)
		}
		if strings.Contains(page, "difference engine") {
			t.Error("the page has the password")
		}
	}
}

const typedCookie = "pintle.typed"

func TestASignInForgetsWhatWasTyped(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.submit("/auth/callback/credentials", "username", "ada", "password", "wrong")
	if b.cookie(typedCookie) == "" {
		t.Fatal("nothing is kept")
	}
	b.signIn("ada")
	if got := b.cookie(typedCookie); got != "" {
		t.Errorf("after the sign-in the browser has %q", got)
	}
}

// AT-161, S-48: scripts, forms of other sites, sites with pages of their own, and what has no end.
func TestWhatWasTypedIsKeptOnlyForTheBuiltInPage(t *testing.T) {
	s := newSite(t)
	unchecked := newSite(t, func(s *site) {
		s.Store, s.Providers, s.DangerouslySkipCSRFCheck = memstore.New(), append(s.Providers, s.mailProvider()), true
	})
	wrong := url.Values{"username": {"ada"}, "password": {"wrong"}}
	withToken := func(b *browser) url.Values {
		form := url.Values{"csrfToken": {b.csrf()}}
		maps.Copy(form, wrong)
		return form
	}
	for name, send := range map[string]func(b *browser) *reply{
		"a client": func(b *browser) *reply { return b.postForm("/auth/callback/credentials", withToken(b)) },
		"a script": func(b *browser) *reply {
			return b.postForm("/auth/callback/credentials", withToken(b), append([]string{"X-Auth-Return-Redirect", "1"}, navigating...)...)
		},
		"a form of another site": func(b *browser) *reply { return b.postForm("/auth/callback/credentials", wrong, navigating...) },
		"a long name": func(b *browser) *reply {
			return b.submit("/auth/callback/credentials", "username", strings.Repeat("a", 400), "password", "x")
		},
		"no name": func(b *browser) *reply { return b.submit("/auth/callback/credentials", "password", "x") },
		"a form for a password, without a check of the token": func(*browser) *reply {
			return unchecked.browser().postForm("/auth/callback/credentials", wrong, navigating...).fails("/auth/signin", "CredentialsSignin")
		},
		"a form for a mail, without a check of the token": func(*browser) *reply {
			r := unchecked.browser().postForm("/auth/signin/email", url.Values{"email": {"ada@example.com"}}, navigating...)
			return r.goesTo(unchecked.url + "/auth/verify-request?provider=email&type=email")
		},
		"a page of its own": func(*browser) *reply {
			own := newSite(t, func(s *site) { s.Pages.SignIn = "/login" })
			return own.browser().submit("/auth/callback/credentials", "username", "ada", "password", "x")
		},
	} {
		if got := send(s.browser()).setCookie(typedCookie); got != "" {
			t.Errorf("%s: the cookie is set by %q", name, got)
		}
	}
	b := s.browser()
	b.submit("/auth/callback/credentials", "username", "ada", "password", "x")
	kept := b.cookie(typedCookie)
	for name, planted := range map[string]string{"text": "ada", "another cookie": b.cookie("authjs.csrf-token"), "a changed one": kept[:len(kept)-2] + "AA"} {
		other := s.browser()
		other.plant(typedCookie, planted)
		if page := other.get("/auth/signin", navigating...).want(http.StatusOK).body; strings.Contains(page, ` value="ada"`) {
			t.Errorf("%s: the page has the name", name)
		}
	}
}

// AT-161: the page after the mail names the address in the browser that asked, and sends the mail again.
func TestThePageAfterAMailNamesTheAddressAndSendsItAgain(t *testing.T) {
	s := newSite(t, func(s *site) {
		mail := s.mailProvider()
		mail.MaxAge = 90 * time.Minute
		s.Store, s.Providers = memstore.New(), append(s.Providers, mail)
	})
	b := s.browser()
	r := b.submit("/auth/signin/email", "email", "Ada@Example.com", "callbackUrl", "/members").want(http.StatusFound)
	if r.location() != s.url+"/auth/verify-request?provider=email&type=email" {
		t.Fatalf("the browser goes to %s", r.location())
	}
	shown := b.get(r.location(), navigating...).want(http.StatusOK).body
	for _, want := range []string{"Your address: <bdi>ada@example.com</bdi>", "The link works for 90 minutes.", "Send the mail again"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %s", want, shown)
		}
	}
	if strings.Contains(shown, "We sent the mail again.") {
		t.Error("the mail was not sent again yet")
	}
	again := b.submit("/auth/signin/email", "email", "ada@example.com", "again", "1", "callbackUrl", s.url+"/members").want(http.StatusFound)
	if shown := b.get(again.location(), navigating...).body; !strings.Contains(shown, "We sent the mail again.") {
		t.Errorf("the page does not say so: %s", shown)
	}
	if n := len(s.mails); n != 2 || s.mails[1].To != "ada@example.com" || !strings.Contains(s.mails[1].URL, url.QueryEscape(s.url+"/members")) {
		t.Errorf("%d mails, the last one %+v", n, s.mails[n-1])
	}
	if !strings.Contains(s.mails[0].HTML, "The link works for 90 minutes.") {
		t.Errorf("the mail does not say how long its link works: %s", s.mails[0].HTML)
	}
	other := s.browser().get(r.location(), navigating...).want(http.StatusOK).body
	if strings.Contains(other, "ada@example.com") || strings.Contains(other, "<form") || !strings.Contains(other, "90 minutes") {
		t.Errorf("another browser sees %s", other)
	}
	for _, query := range []string{"", "?provider=credentials", "?provider=gone&type=email", "?provider=%3Cscript%3E"} {
		if page := b.get("/auth/verify-request"+query, navigating...).want(http.StatusOK).body; strings.Contains(page, "ada@example.com") || strings.Contains(page, "script>") {
			t.Errorf("%s names the address: %s", query, page)
		}
	}
	if page := b.get("/auth/signin", navigating...).body; !strings.Contains(page, ` value="ada@example.com"`) {
		t.Error("the sign-in page does not have the address, to be corrected")
	}
	b.get(s.mails[1].URL, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "none").goesTo(s.url + "/members")
	if b.cookie(typedCookie) != "" || b.cookie(lastProviderCookie) != "email" {
		t.Errorf("after the sign-in the cookies are %q and %q", b.cookie(typedCookie), b.cookie(lastProviderCookie))
	}
}

// AT-161: an application may show unknown addresses the page that follows a mail, and send none.
func TestAnAddressThatGetsNoMailLooksLikeOneThatDoes(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Store, s.Providers = memstore.New(), append(s.Providers, s.mailProvider())
		s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			if a.User.Email == "bob@example.com" {
				return "/auth/verify-request?provider=email&type=email", nil
			}
			return "", nil
		}
	})
	seen := func(address string) (names []string, page string) {
		b := s.browser()
		r := b.submit("/auth/signin/email", "email", address)
		r.goesTo(s.url + "/auth/verify-request?provider=email&type=email")
		for name := range r.cookies() {
			names = append(names, name)
		}
		slices.Sort(names)
		page = b.get(r.location(), navigating...).want(http.StatusOK).body
		for text, common := range map[string]string{address: "ADDRESS", b.csrf(): "TOKEN"} {
			if !strings.Contains(page, text) {
				t.Errorf("%s: no %q in %s", address, text, page)
			}
			page = strings.ReplaceAll(page, text, common)
		}
		return names, page
	}
	names, page := seen("ada@example.com")
	unknownNames, unknownPage := seen("bob@example.com")
	if !slices.Equal(names, unknownNames) || !slices.Contains(names, typedCookie) {
		t.Errorf("an address that gets a mail sets the cookies %q, one that gets none %q", names, unknownNames)
	}
	if page != unknownPage {
		t.Errorf("an address that gets a mail sees %s\none that gets none %s", page, unknownPage)
	}
	if n := s.mailsSent(); n != 1 {
		t.Errorf("%d mails were sent, want one", n)
	}
}

// AT-105: the forms of both pages are bound to the cookie of an operator who acts as a user. It may
// be left over in a browser in which nobody is signed in any more.
func TestFormsAreAcceptedBesideALeftoverOfActing(t *testing.T) {
	waits := func(s *site) {
		s.Callbacks.Act = func(context.Context, *pintle.ActingRequest) (*pintle.Session, error) { return nil, nil }
	}
	t.Run("send the mail again", func(t *testing.T) {
		s := newSite(t, waits, func(s *site) {
			s.Store, s.Providers = memstore.New(), append(s.Providers, s.mailProvider())
		})
		b := s.browser()
		b.submit("/auth/signin/email", "email", "ada@example.com").want(http.StatusFound)
		b.plant("pintle.acting", "grant")
		fields := b.get("/auth/verify-request?provider=email", navigating...).want(http.StatusOK).hidden()
		if fields.Get("csrfToken") == "" {
			t.Fatalf("the page has the fields %v", fields)
		}
		fields.Set("email", "ada@example.com")
		b.postForm("/auth/signin/email", fields, navigating...).goesTo(s.url + "/auth/verify-request?provider=email&type=email")
		if n := s.mailsSent(); n != 2 {
			t.Errorf("%d mails were sent, want two", n)
		}
	})
	t.Run("sign in as another user", func(t *testing.T) {
		s := initiable(t, pintle.StrategyJWT, waits)
		s.idp.SignInAs(authtest.Person{Subject: "666", Name: "Mallory", Email: "mallory@evil.example"})
		b := s.browser()
		b.signInWith("second").goesTo(s.url)
		at := mustParse(t, b.get(initiateAcme).want(http.StatusFound).location())
		back := b.consent(at)
		b.plant("pintle.acting", "grant")
		r := b.get(back).want(http.StatusOK)
		b.plant("authjs.session-token", "")
		if to := b.postForm("/auth/initiate/acme", r.hidden(), "Origin", s.url).location(); !strings.HasPrefix(to, "https://idp.example/") {
			t.Errorf("the browser is sent to %q", to)
		}
	})
}

// AT-161: the next person at the browser does not go back to the page. Pages that show nothing of
// the browser are sent as Auth.js sends them.
func TestPagesThatShowWhatTheBrowserKeptAreNotStored(t *testing.T) {
	s := newSite(t, func(s *site) { s.Store, s.Providers = memstore.New(), append(s.Providers, s.mailProvider()) })
	mailed, refused, returning := s.browser(), s.browser(), s.browser()
	mailed.submit("/auth/signin/email", "email", "ada@example.com").want(http.StatusFound)
	refused.submit("/auth/callback/credentials", "username", "ada", "password", "wrong").fails("/auth/signin", "CredentialsSignin")
	returning.plant(lastProviderCookie, "credentials")
	const signIn, sent = "/auth/signin", "/auth/verify-request?provider=email"
	for name, tt := range map[string]struct {
		b     *browser
		path  string
		keeps bool
	}{
		"the address of a mail":               {mailed, sent, true},
		"the address in the form":             {mailed, signIn, true},
		"the name after a wrong password":     {refused, signIn, true},
		"the provider that was used last":     {returning, signIn, true},
		"the sign-in page of a new browser":   {s.browser(), signIn, false},
		"the page of a mail of another":       {s.browser(), sent, false},
		"the page of a mail of no provider":   {mailed, "/auth/verify-request", false},
		"the page of a mail, and a name only": {refused, sent, false},
	} {
		r := tt.b.get(tt.path, navigating...).want(http.StatusOK)
		if kept := strings.Contains(r.header.Get("Cache-Control"), "no-store"); kept != tt.keeps {
			t.Errorf("%s: Cache-Control is %q", name, r.header.Get("Cache-Control"))
		}
	}
}

// A limit holds for mails that are sent again, and the address stays in the form.
func TestAMailThatIsAskedForTooOftenIsRefusedAgain(t *testing.T) {
	sent := 0
	s := newSite(t, func(s *site) {
		mail := s.mailProvider()
		s.Store, s.Providers = memstore.New(), append(s.Providers, mail)
		mail.Allow = func(_ context.Context, _ *pintle.MailRequest) error {
			if sent++; sent > 1 {
				return &pintle.Error{Code: pintle.Code("EmailSignInError"), Detail: "too_many_mails", RetryAfter: time.Minute}
			}
			return nil
		}
	})
	b := s.browser()
	b.submit("/auth/signin/email", "email", "ada@example.com").want(http.StatusFound)
	r := b.submit("/auth/signin/email", "email", "ada@example.com", "again", "1").want(http.StatusFound)
	page := b.get(r.location(), navigating...).want(http.StatusTooManyRequests).body
	if !strings.Contains(page, ` value="ada@example.com"`) || len(s.mails) != 1 {
		t.Errorf("%d mails were sent, and the page is %s", len(s.mails), page)
	}
}
