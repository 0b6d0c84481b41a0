package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// A strictStore fails for texts that no database takes: those that are not UTF-8, and those
// with a zero byte.
type strictStore struct{ pintle.Store }

var errText = errors.New("the database takes no such text")

func textsFault(all ...string) error {
	for _, text := range all {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return errText
		}
	}
	return nil
}

func (s strictStore) InTx(ctx context.Context, do func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(inner pintle.Store) error { return do(strictStore{inner}) })
}

func (s strictStore) User(ctx context.Context, id string) (*pintle.User, error) {
	if err := textsFault(id); err != nil {
		return nil, err
	}
	return s.Store.User(ctx, id)
}

func (s strictStore) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	if err := textsFault(email); err != nil {
		return nil, err
	}
	return s.Store.UserByEmail(ctx, email)
}

func (s strictStore) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	texts := []string{u.ID, u.Name, u.Email, u.Image}
	for name, value := range u.Extra {
		text, _ := value.(string)
		texts = append(texts, name, text)
	}
	if err := textsFault(texts...); err != nil {
		return nil, err
	}
	return s.Store.CreateUser(ctx, u)
}

func (s strictStore) AccountStore() accountstore.Store { return strictRows{s.Store.AccountStore()} }

type strictRows struct{ accountstore.Store }

func (r strictRows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if err := textsFault(f.UserID, f.Kind, f.ID, f.Secret, f.Name); err != nil {
		return err
	}
	return r.Store.AddFactor(ctx, f)
}

func (r strictRows) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	if err := textsFault(f.UserID, f.Kind, f.ID, f.Secret, f.Name); err != nil {
		return err
	}
	return r.Store.ReplaceFactor(ctx, f)
}

func (r strictRows) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	if err := textsFault(userID, kind, id); err != nil {
		return err
	}
	return r.Store.DeleteFactor(ctx, userID, kind, id)
}

func (r strictRows) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	if err := textsFault(f.Kind, f.Subject, f.Payload); err != nil {
		return err
	}
	return r.Store.CreateFlow(ctx, f)
}

func (r strictRows) CountFlows(ctx context.Context, subject, kind string, after time.Time) (int, error) {
	if err := textsFault(subject, kind); err != nil {
		return 0, err
	}
	return r.Store.CountFlows(ctx, subject, kind, after)
}

// withFields is a site with a strict store, with all routes, and a sign-up with fields.
func withFields(c *pintle.Config, o *account.Options) {
	withAll(c, o)
	(&pictureStore{link: "https://pictures.example/1.png"}).configure(c, o)
	c.Store = strictStore{c.Store}
	o.SignUp.Fields = []pintle.Field{{Name: "name"}, {Name: "company"}, {Name: "news", Type: "checkbox"}}
}

// standings are where a browser may be when a request comes: in a session, in a sign-in that
// waits for each of the pages, or with the cookie of a flow.
var standings = map[string]func(s *site) *browser{
	"signed out": func(s *site) *browser { return s.browser() },
	"signed in":  func(s *site) *browser { return s.browser().startSession(s.seed(ada, goodPassword, true), 0, "pwd") },
	"signed in for long": func(s *site) *browser {
		return s.browser().startSession(s.seed(ada, goodPassword, true), time.Hour, "pwd")
	},
	"signed in, with an app": func(s *site) *browser {
		u := s.seed(ada, goodPassword, true)
		s.app(u)
		return s.browser().startSession(u, 0, "pwd", "otp")
	},
	"signed in, with an unproven address": func(s *site) *browser {
		b := s.browser().startSession(s.seed(ada, "", false), 0, "fed")
		return b.get("/auth/account/prove").post("/auth/account/prove", "again", "1")
	},
	"about to save recovery codes": func(s *site) *browser {
		b := s.browser().startSession(s.seed(ada, goodPassword, true), 0, "pwd").get("/auth/account/totp")
		key, a := b.key()
		return b.post("/auth/account/totp", "key", key, "code", a.code(s.t, 0))
	},
	"half signed in": func(s *site) *browser {
		s.app(s.seed(ada, goodPassword, true))
		return s.browser().signIn(ada, goodPassword)
	},
	"half signed in, to add an app": func(s *site) *browser {
		u := s.seed(ada, goodPassword, true)
		s.changeState(u.ID, func(state *accountstore.State) { state.Must = "enrol" })
		b := s.browser().signIn(ada, goodPassword)
		return b.post(enrol, "code", s.code())
	},
	"half signed in, to prove the address": func(s *site) *browser {
		s.seed(ada, goodPassword, false)
		return s.browser().signIn(ada, goodPassword)
	},
	"half signed in, to change the password": func(s *site) *browser {
		u := s.seed(ada, goodPassword, true)
		s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
		return s.browser().signIn(ada, goodPassword)
	},
	"signing up":                     func(s *site) *browser { return s.browser().signUp(ada) },
	"signing up, with the link open": func(s *site) *browser { s.browser().signUp(ada); return s.browser().get(s.lastMail().URL) },
	"moving the address": func(s *site) *browser {
		return s.browser().startSession(s.seed(ada, goodPassword, true), 0, "pwd").beginsAddress(newAddress)
	},
	"undoing a change of the address": func(s *site) *browser {
		s.browser().startSession(s.seed(ada, goodPassword, true), 0, "pwd").movesAddress(newAddress)
		return s.browser().get(s.mailOf("address-changed-undo").URL)
	},
	"half signed in, to keep the account": func(s *site) *browser {
		u := s.seed(ada, goodPassword, true)
		s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(time.Hour) })
		return s.browser().signIn(ada, goodPassword)
	},
	"resetting the password": func(s *site) *browser {
		s.seed(ada, goodPassword, true)
		return s.browser().get(s.resetLink(ada))
	},
}

// everyName is each field of a form of accounts.
var everyName = []string{
	"email", "password", "current", "code", "name", "company", "news", "action", "kind", "id", "remove", "saved", "again", "new",
	"choice", "callbackUrl", "method", "key", "acr_values", "max_age", "user", "userId", "__proto__", "",
	"handle", "provider", "image", "picture", "confirmed", "others", "all", "remember", "data",
}

// shapes are values of the members of a JSON object.
var shapes = map[string]string{
	"null": `null`, "true": `true`, "a number": `-1.5`, "a large number": `1e308`, "an empty text": `""`, "an empty list": `[]`,
	"a list": `[1,"x",null]`, "an object": `{"a":{"b":[]}}`, "a deep list": strings.Repeat("[", 500) + strings.Repeat("]", 500),
	"a zero byte": `"\u0000"`, "half a surrogate": `"\ud800"`, "controls": `"a\r\nb\u001b\u007f\u0085"`,
	"letters of all kinds":  `"Ünïcödé 漢字 עברית العربية 👩‍👩‍👧 a\u0301 \u202eevil\u2066 \ufeff"`,
	"an address of letters": `"ådå@exämple.com"`, "markup": `"<script>alert(1)</script>\"'{{.}}"`, "a long text": `"` + strings.Repeat("x", 2000) + `"`,
	"digits of another kind": `"١٢٣٤٥٦"`, "a code": `"123456"`, "a mailed code": `"1234 5678"`, "a recovery code": `"0000-0000-0000-0000"`,
	"an action": `"remove"`, "a URL": `"//evil.example/\\\t"`,
}

// texts are values of the fields of a form, as they are sent.
var texts = map[string]string{
	"bytes that are no text": "%ff%fe%80", "a zero byte": "%00", "half a character": "%e2%82", "letters": "%F0%9F%92%A5%E2%80%AE",
	"lines": "a%0d%0aSet-Cookie:%20x=y", "nothing": "", "an escape that is none": "%zz", "a long text": strings.Repeat("x", 2000),
}

// isFault reports whether an answer is one of a server at fault.
func isFault(status int) bool { return status >= 500 || status < 200 }

// flowCookies are the cookies whose values a request chooses.
var flowCookies = []string{
	"pintle.signup", "pintle.reset", "pintle.confirm", "pintle.totp", "pintle.address", "pintle.undo", "pintle.device", "pintle.known",
	"authjs.session-token", "authjs.csrf-token",
}

// AT-125
func TestNoShapeOfARequestIsAFaultOfTheServer(t *testing.T) {
	t.Parallel()
	whole := map[string]string{
		"nothing": "", "null": "null", "a list": "[]", "a text": `"x"`, "a number": "5", "half an object": `{"csrfToken":`,
		"deep": strings.Repeat("[", 30_000), "deep objects": strings.Repeat(`{"a":`, 10_000), "a byte order mark": "\ufeff{}", "bytes": "\xff\xfe{}",
		"two objects": "{}{}", "too much": `{"x":"` + strings.Repeat("x", 64<<10) + `"}`,
	}
	for name, stand := range standings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, false, withFields)
			b := stand(s)
			token := b.token()
			routes := slices.Sorted(maps.Keys(s.accounts.RoutesOf()))
			try := func(route, shape, kind, body, query string, cookies ...string) {
				t.Helper()
				method := http.MethodPost
				if kind == "" {
					method = http.MethodGet
				}
				r := httptest.NewRequest(method, s.server.URL+strings.TrimSuffix("/auth/account/"+route, "/"), strings.NewReader(body))
				r.URL.RawQuery = query
				r.Header.Set("Content-Type", kind)
				r.Header.Set("Sec-Fetch-Site", "same-origin")
				for _, c := range b.client.Jar.Cookies(r.URL) {
					r.AddCookie(c)
				}
				for _, line := range cookies {
					r.Header.Add("Cookie", line)
				}
				w := httptest.NewRecorder()
				s.auth.ServeHTTP(w, r)
				b.client.Jar.SetCookies(r.URL, w.Result().Cookies())
				if isFault(w.Code) {
					t.Errorf("%s %s with %s: status %d: %.300s", method, r.URL.Path, shape, w.Code, w.Body)
				}
			}
			for _, route := range routes {
				for shape, value := range shapes {
					members := []string{`"csrfToken":"` + token + `"`}
					for _, field := range everyName {
						members = append(members, `"`+field+`":`+value)
					}
					try(route, shape, "application/json", "{"+strings.Join(members, ",")+"}", "")
				}
				for shape, value := range texts {
					var form strings.Builder
					form.WriteString("csrfToken=" + token)
					for _, field := range everyName {
						form.WriteString("&" + field + "=" + value)
					}
					try(route, shape, "application/x-www-form-urlencoded", form.String(), "")
					try(route, "a query of "+shape, "", "", "token="+value+"&method="+value+"&callbackUrl="+value+"&format="+value+"&notice="+value+"&cursor="+value+"&from="+value)
				}
				// How a body and cookies are read does not depend on what waits in the browser.
				if name != "signed out" && name != "signed in" {
					continue
				}
				for shape, body := range whole {
					try(route, shape, "application/json", body, "")
				}
				for _, cookie := range flowCookies {
					for shape, value := range map[string]string{
						"64 KiB": strings.Repeat("x", 64<<10), "many parts": strings.Repeat(cookie+".0=x; "+cookie+".1=y; ", 1000), "bytes": "\xff\xfe\x80", "=": "=",
					} {
						try(route, "a cookie of "+shape, "", "", "", cookie+"="+value)
					}
				}
			}
		})
	}
}

// AT-125
func FuzzAccountRequest(f *testing.F) {
	f.Add("sign-up", "signed out", true, `{"csrfToken":"TOKEN","email":"grace@example.com","name":{"a":[]},"company":"\u0000"}`, "", "")
	f.Add("sign-up-finish", "signing up, with the link open", true, `{"csrfToken":"TOKEN","password":"a long password of mine","name":"👩‍👧"}`, "", "")
	f.Add("sign-up-finish", "signing up, with the link open", false, "csrfToken=TOKEN&password=a long password of mine&name=%ff%00", "", "")
	f.Add("sign-up-finish", "signing up, with the link open", false, "csrfToken=TOKEN&password=a long password of mine&name=%ff%fe&company=%e2%82", "", "")
	f.Add("reset", "resetting the password", false, "csrfToken=TOKEN&password=a+long+password&code=١٢٣", "token=x", "pintle.reset=x")
	f.Add("second-factor", "half signed in", true, `{"csrfToken":"TOKEN","code":123456,"method":["totp"]}`, "method=recovery", "")
	f.Add("enrol", "half signed in, to add an app", true, `{"csrfToken":"TOKEN","key":{},"code":"123456","saved":true}`, "format=text", "")
	f.Add("must-change", "half signed in, to change the password", true, `{"csrfToken":"TOKEN","password":"\ud800 another password"}`, "", "")
	f.Add("prove", "half signed in, to prove the address", true, `{"csrfToken":"TOKEN","again":[]}`, "", "")
	f.Add("confirm", "signed in for long", false, "csrfToken=TOKEN&method=password&password=x&max_age=-1&acr_values=phr", "callbackUrl=//x", "")
	f.Add("factor", "signed in, with an app", true, `{"csrfToken":"TOKEN","id":null,"action":"rename","name":"\u202e"}`, "", "")
	f.Add("recovery-codes", "about to save recovery codes", true, `{"csrfToken":"TOKEN","saved":"1"}`, "", "pintle.totp=x")
	f.Add("password", "signed in", true, `[`+strings.Repeat("[", 1000), "", "authjs.session-token.0="+strings.Repeat("x", 4000))
	names := slices.Sorted(maps.Keys(standings))
	f.Fuzz(func(t *testing.T, route, standing string, isJSON bool, body, query, cookies string) {
		if !slices.Contains(names, standing) {
			standing = names[len(standing)%len(names)]
		}
		s := newSite(t, false, withFields)
		s.seed("bob@example.com", goodPassword, true)
		before := s.fingerprint(s.user("bob@example.com"))
		b := standings[standing](s)
		here, err := url.Parse(s.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		body = strings.ReplaceAll(body, "TOKEN", b.token())
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := httptest.NewRequest(method, s.server.URL+"/auth/account", strings.NewReader(body))
			r.URL.Path += "/" + route
			r.URL.RawQuery = query
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if isJSON {
				r.Header.Set("Content-Type", "application/json")
			}
			for _, c := range b.client.Jar.Cookies(here) {
				r.AddCookie(c)
			}
			r.Header.Add("Cookie", cookies)
			w := httptest.NewRecorder()
			s.auth.ServeHTTP(w, r)
			if isFault(w.Code) {
				t.Errorf("%s %q: status %d: %.300s", method, route, w.Code, w.Body)
			}
			if to, err := r.URL.Parse(w.Header().Get("Location")); err != nil || to.Host != r.Host {
				t.Errorf("%s %q leads to %q", method, route, w.Header().Get("Location"))
			}
			if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s %q answers what is no JSON: %q", method, route, w.Body)
			}
		}
		if after := s.fingerprint(s.user("bob@example.com")); after != before {
			t.Errorf("another user was changed to %s", after)
		}
	})
}
