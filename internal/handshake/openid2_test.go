package handshake_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/query"
)

const openIDNamespace = "http://specs.openid.net/auth/2.0"

// A steam is an OpenID 2.0 provider.
type steam struct {
	url       string
	confirmed []url.Values
	answer    http.HandlerFunc
}

func newSteam(t testing.TB) *steam {
	s := &steam{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL + "/openid/login"
	return s
}

func (s *steam) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.confirmed = append(s.confirmed, r.PostForm)
	if s.answer != nil {
		s.answer(w, r)
		return
	}
	saying(200, "text/plain", "ns:"+openIDNamespace+"\nis_valid:true\n")(w, r)
}

func (s *steam) client() *handshake.OpenID2 {
	return &handshake.OpenID2{
		ID: "steam", URL: s.url,
		ClaimedID: regexp.MustCompile(`^https?://steamcommunity\.com/openid/id/(\d{15,25})$`),
	}
}

// assertion returns the parameters of a callback.
func (s *steam) assertion() query.Values {
	const id = "https://steamcommunity.com/openid/id/76561197960287930"
	return query.Values{
		{Key: "state", Value: "s1"},
		{Key: "openid.ns", Value: openIDNamespace},
		{Key: "openid.mode", Value: "id_res"},
		{Key: "openid.op_endpoint", Value: s.url},
		{Key: "openid.claimed_id", Value: id},
		{Key: "openid.identity", Value: id},
		{Key: "openid.return_to", Value: redirectURI + "?state=s1"},
		{Key: "openid.response_nonce", Value: time.Now().UTC().Format("2006-01-02T15:04:05Z") + "abc/+="},
		{Key: "openid.assoc_handle", Value: "1234567890"},
		{Key: "openid.signed", Value: "signed,op_endpoint,claimed_id,identity,return_to,response_nonce,assoc_handle"},
		{Key: "openid.sig", Value: "c2lnbmF0dXJl"},
	}
}

func (s *steam) back() handshake.OpenID2Return {
	return handshake.OpenID2Return{Params: s.assertion(), RedirectURI: redirectURI, State: "s1"}
}

// changed returns params with one of them changed.
func changed(params query.Values, name, value string) query.Values {
	for i := range params {
		if params[i].Key == name {
			params[i].Value = value
			return params
		}
	}
	return append(params, query.Pair{Key: name, Value: value})
}

func TestOpenID2SignIn(t *testing.T) {
	s := newSteam(t)
	o := s.client()
	begun, err := o.Begin(t.Context(), handshake.BeginOptions{
		RedirectURI: redirectURI, State: "s1",
		Extra: query.Values{{Key: "l", Value: "finnish"}, {Key: "openid.return_to", Value: "https://evil.example"}, {Key: "OpenID.realm", Value: "evil"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	u := must(url.Parse(begun.URL))
	want := url.Values{
		"l": {"finnish"}, "openid.ns": {openIDNamespace}, "openid.mode": {"checkid_setup"},
		"openid.claimed_id": {openIDNamespace + "/identifier_select"}, "openid.identity": {openIDNamespace + "/identifier_select"},
		"openid.return_to": {redirectURI + "?state=s1"}, "openid.realm": {"https://app.example.test"},
	}
	if d := cmp.Diff(want, u.Query()); d != "" {
		t.Errorf("URL (-want +got):\n%s", d)
	}

	back := s.back()
	r, err := o.Finish(t.Context(), back)
	if err != nil {
		t.Fatal(err)
	}
	const claimed = "https://steamcommunity.com/openid/id/76561197960287930"
	if r.Profile["id"] != "76561197960287930" || r.Tokens["claimed_id"] != claimed {
		t.Errorf("Finish = %v, %v", r.Profile, r.Tokens)
	}
	confirmed := s.confirmed[0]
	if confirmed.Get("openid.mode") != "check_authentication" || confirmed.Get("openid.sig") != "c2lnbmF0dXJl" || confirmed.Has("state") {
		t.Errorf("the provider received %v", confirmed)
	}

	_, err = o.Finish(t.Context(), back)
	wantError(t, err, "used before") // SH-77, even though the provider confirms it again
	if _, ok := errors.AsType[*handshake.AnswerError](err); !ok {
		t.Errorf("a repeated assertion, which a client sends, is the error %T", err)
	}
}

func TestOpenID2ProfileOfASeparateRequest(t *testing.T) {
	s := newSteam(t)
	o := s.client()
	o.FetchProfile = func(_ context.Context, _ *http.Client, id string) (map[string]any, error) {
		return map[string]any{"steamid": id}, nil
	}
	r, err := o.Finish(t.Context(), s.back())
	if err != nil || r.Profile["steamid"] != "76561197960287930" {
		t.Errorf("Finish = %v, %v", r, err)
	}
	for _, fetch := range []func(context.Context, *http.Client, string) (map[string]any, error){
		func(context.Context, *http.Client, string) (map[string]any, error) { return nil, nil },
		func(context.Context, *http.Client, string) (map[string]any, error) { return nil, errors.New("no key") },
	} {
		o := s.client()
		o.FetchProfile = fetch
		_, err := o.Finish(t.Context(), s.back())
		wantError(t, err, "profile")
	}
}

func TestOpenID2AssertionsThatAreRefused(t *testing.T) {
	set := func(name, value string) func(*handshake.OpenID2Return) {
		return func(r *handshake.OpenID2Return) { r.Params = changed(r.Params, name, value) }
	}
	old := func(d time.Duration) string { return time.Now().UTC().Add(d).Format("2006-01-02T15:04:05Z") + "x" }
	both := func(id string) func(*handshake.OpenID2Return) {
		return func(r *handshake.OpenID2Return) {
			r.Params = changed(changed(r.Params, "openid.claimed_id", id), "openid.identity", id)
		}
	}
	tests := []struct {
		name   string
		change func(*handshake.OpenID2Return)
		want   string
	}{
		{"BCP-3 the state of another browser", set("state", "s2"), "state does not match"},
		{"BCP-3 no state was sealed", func(r *handshake.OpenID2Return) { r.State = ""; r.Params = changed(r.Params, "state", "") }, "state does not match"},
		{"another address to return to", set("openid.return_to", "https://evil.example/?state=s1"), "return_to"},
		{"a return address of another sign-in", set("openid.return_to", redirectURI+"?state=s2"), "return_to"},
		{"BCP-8 another provider", set("openid.op_endpoint", "https://evil.example/openid"), "another provider"},
		{"an identifier of another provider", both("https://evil.example/openid/id/76561197960287930"), "claimed_id"},
		{"an identifier with something behind it", both("https://steamcommunity.com/openid/id/76561197960287930/x"), "claimed_id"},
		{"an identifier with a line behind it", both("https://steamcommunity.com/openid/id/76561197960287930\n"), "line breaks"},
		{"an identity that is another", set("openid.identity", "https://steamcommunity.com/openid/id/76561197960287931"), "claimed_id"},
		{"an identifier that is not signed", set("openid.signed", "op_endpoint,identity,return_to,response_nonce,assoc_handle"), "claimed_id is missing or not signed"},
		{"an address that is not signed", set("openid.signed", "op_endpoint,claimed_id,identity,response_nonce,assoc_handle"), "return_to is missing or not signed"},
		{"nothing is signed", set("openid.signed", ""), "not signed"},
		{"an old assertion", set("openid.response_nonce", old(-6*time.Minute)), "too old"},
		{"an assertion of the future", set("openid.response_nonce", old(6*time.Minute)), "clocks differ"},
		{"a nonce without a time", set("openid.response_nonce", "x"), "no time"},
		{"a nonce with a strange time", set("openid.response_nonce", "yesterday, about noon"), "too old"},
		{"a nonce without end", set("openid.response_nonce", old(0)+strings.Repeat("x", 300)), "no time"},
		{"another protocol", set("openid.ns", "http://openid.net/signon/1.1"), "not a positive OpenID 2.0"},
		{"another mode", set("openid.mode", "check_authentication"), "not a positive"},
		{"a repeated parameter", func(r *handshake.OpenID2Return) {
			r.Params = append(r.Params, query.Pair{Key: "openid.claimed_id", Value: "https://steamcommunity.com/openid/id/76561197960287931"})
		}, "repeated"},
		{"too many parameters", func(r *handshake.OpenID2Return) {
			for i := range 60 {
				r.Params = append(r.Params, query.Pair{Key: "openid.x" + strings.Repeat("x", i), Value: "x"})
			}
		}, "too many"},
		{"a parameter without end", set("openid.sig", strings.Repeat("x", 9<<10)), "too long"},
		{"nothing", func(r *handshake.OpenID2Return) { r.Params = query.Values{{Key: "state", Value: "s1"}} }, "not a positive"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSteam(t)
			back := s.back()
			tt.change(&back)
			r, err := s.client().Finish(t.Context(), back)
			wantError(t, err, tt.want)
			if r != nil || len(s.confirmed) != 0 {
				t.Errorf("Finish = %v, and the provider received %d requests", r, len(s.confirmed))
			}
		})
	}
}

func TestOpenID2PatternMatchesTheWholeIdentifier(t *testing.T) {
	s := newSteam(t)
	o := s.client()
	o.ClaimedID = regexp.MustCompile(`steamcommunity\.com/openid/id/(\d{15,25})`)
	back := s.back()
	const evil = "https://evil.example/steamcommunity.com/openid/id/76561197960287930"
	back.Params = changed(changed(back.Params, "openid.claimed_id", evil), "openid.identity", evil)
	_, err := o.Finish(t.Context(), back)
	wantError(t, err, "claimed_id")
}

func TestOpenID2RefusalsOfTheProvider(t *testing.T) {
	for mode, code := range map[string]string{"cancel": "access_denied", "setup_needed": "login_required", "error": "server_error"} {
		s := newSteam(t)
		back := s.back()
		back.Params = changed(changed(back.Params, "openid.mode", mode), "openid.error", "words")
		_, err := s.client().Finish(t.Context(), back)
		if e, ok := errors.AsType[*handshake.ResponseError](err); !ok || e.Code != code {
			t.Errorf("mode %s: %v, want a ResponseError with code %s", mode, err, code)
		}
		back.State = "s2"
		_, err = s.client().Finish(t.Context(), back)
		if _, ok := errors.AsType[*handshake.ResponseError](err); ok || err == nil {
			t.Errorf("mode %s with a wrong state: %v", mode, err)
		}
	}
}

func TestOpenID2AssertionsTheProviderDoesNotConfirm(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"not valid", saying(200, "text/plain", "ns:"+openIDNamespace+"\nis_valid:false\n"), "does not confirm"},
		{"nothing said", saying(200, "text/plain", ""), "does not confirm"},
		{"another protocol", saying(200, "text/plain", "is_valid:true\n"), "does not confirm"},
		{"valid, further to the right", saying(200, "text/plain", "ns:"+openIDNamespace+"\nerror:is_valid:true\n"), "does not confirm"},
		{"valid, in an error", saying(500, "text/plain", "ns:"+openIDNamespace+"\nis_valid:true\n"), "status 500"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "status 307"},
		{"BCP-21 an answer without end", saying(200, "text/plain", strings.Repeat("x", 2<<20)), "larger than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSteam(t)
			s.answer = tt.answer
			r, err := s.client().Finish(t.Context(), s.back())
			wantError(t, err, tt.want)
			if r != nil || len(s.confirmed) != 1 {
				t.Errorf("Finish = %v after %d requests", r, len(s.confirmed))
			}
		})
	}
}

func TestOpenID2BeginRefuses(t *testing.T) {
	good := handshake.BeginOptions{RedirectURI: redirectURI, State: "s1"}
	for name, begin := range map[string]func() error{
		"no state": func() error {
			_, err := (&steam{url: "https://steam.example.test"}).client().Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI})
			return err
		},
		"no address to return to": func() error {
			_, err := (&steam{url: "https://steam.example.test"}).client().Begin(t.Context(), handshake.BeginOptions{State: "s1"})
			return err
		},
		"W-19 http off this machine": func() error {
			_, err := (&steam{url: "http://steam.example.test"}).client().Begin(t.Context(), good)
			return err
		},
		"no pattern": func() error {
			return (&handshake.OpenID2{ID: "steam", URL: "https://steam.example.test"}).Check()
		},
	} {
		if begin() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzOpenID2Finish(f *testing.F) {
	s := &steam{url: "https://steam.example.test/openid/login"}
	f.Add(s.assertion().Encode())
	f.Add("openid.mode=cancel&state=s1")
	f.Add("openid.=&openid.ns&state=s1")
	o := s.client()
	o.Client = &http.Client{Transport: direct{saying(200, "text/plain", "ns:"+openIDNamespace+"\nis_valid:true\n")}}
	f.Fuzz(func(t *testing.T, raw string) {
		params, err := query.Parse(raw)
		if err != nil {
			return
		}
		r, err := o.Finish(t.Context(), handshake.OpenID2Return{Params: params, RedirectURI: redirectURI, State: "s1"})
		if (r == nil) != (err != nil) {
			t.Fatalf("Finish = %v, %v, want exactly one of them", r, err)
		}
		if r != nil && !o.ClaimedID.MatchString(r.Tokens["claimed_id"].(string)) {
			t.Fatalf("accepted %v", r.Tokens)
		}
	})
}
