package authtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/authtest"
)

func TestEveryOutageCanBeSeen(t *testing.T) { // BCP-21
	idp := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	type answer struct {
		status int
		body   string
		header http.Header
		err    error
	}
	ask := func(ctx context.Context, e authtest.Endpoint) answer {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, idp.URL(e), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := browser.Do(req)
		if err != nil {
			return answer{err: err}
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return answer{resp.StatusCode, string(b), resp.Header, err}
	}
	tests := map[authtest.Outage]func(answer) bool{
		authtest.ServerError:  func(a answer) bool { return a.status == 500 },
		authtest.Unavailable:  func(a answer) bool { return a.status == 503 && a.header.Get("Retry-After") == "120" },
		authtest.Unauthorized: func(a answer) bool { return a.status == 401 && a.header.Get("WWW-Authenticate") != "" },
		authtest.NotFound:     func(a answer) bool { return a.status == 404 },
		authtest.RateLimited:  func(a answer) bool { return a.status == 429 && a.header.Get("Retry-After") == "120" },
		authtest.HTMLBody:     func(a answer) bool { return a.status == 200 && strings.HasPrefix(a.body, "<!doctype") },
		authtest.EmptyBody:    func(a answer) bool { return a.status == 200 && a.body == "" },
		authtest.CutOffJSON:   func(a answer) bool { return a.status == 200 && strings.HasSuffix(a.body, "https://") },
		authtest.JSONArray:    func(a answer) bool { return a.body == "[]" },
		authtest.JSONNull:     func(a answer) bool { return a.body == "null" },
		authtest.NoContent:    func(a answer) bool { return a.status == 204 },
		authtest.Drops:        func(a answer) bool { return errors.Is(a.err, io.EOF) },
		authtest.HugeBody:     func(a answer) bool { return a.status == 200 && len(a.body) > 50_000_000 },
		authtest.Hangs:        func(a answer) bool { return errors.Is(a.err, context.DeadlineExceeded) },
		authtest.Redirects: func(a answer) bool {
			return a.status == 307 && a.header.Get("Location") == idp.URL(authtest.ElsewhereEndpoint)
		},
	}
	for outage, see := range tests {
		for _, e := range []authtest.Endpoint{authtest.DiscoveryEndpoint, authtest.TokenEndpoint, authtest.UserEmailsEndpoint} {
			t.Run(string(authtest.At(e, outage)), func(t *testing.T) {
				idp.Break(authtest.At(e, outage))
				t.Cleanup(idp.Repair)
				wait := 10 * time.Second
				if outage == authtest.Hangs {
					wait = 50 * time.Millisecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				defer cancel()
				if a := ask(ctx, e); !see(a) {
					t.Errorf("got %d, %.80q, %v", a.status, a.body, a.err)
				}
				if a := ask(t.Context(), authtest.JWKSEndpoint); a.status != http.StatusOK {
					t.Errorf("another endpoint: %d, want 200", a.status)
				}
			})
		}
	}
}

func TestRedirectOfTheTokenEndpointShowsClientsThatFollow(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{})
	idp.Break(authtest.At(authtest.TokenEndpoint, authtest.Redirects))
	secret := url.Values{"code": {"c"}, "client_secret": {"s"}}
	redeem(t, idp, secret)
	if got := idp.Requests(authtest.ElsewhereEndpoint); len(got) != 0 {
		t.Fatalf("%d requests elsewhere by a client that does not follow, want none", len(got))
	}
	resp, err := (&http.Client{}).PostForm(idp.URL(authtest.TokenEndpoint), secret)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	last, ok := idp.LastRequest(authtest.ElsewhereEndpoint)
	if !ok || last.Form.Get("client_secret") != "s" {
		t.Errorf("elsewhere got %v, want the secret that was posted again", last.Form)
	}
}

func TestCloseEndsRequestsThatHang(t *testing.T) {
	idp := authtest.NewIdentityProvider(authtest.Options{})
	if err := idp.Listen(); err != nil {
		t.Fatal(err)
	}
	idp.Break(authtest.At(authtest.DiscoveryEndpoint, authtest.Hangs))
	done := make(chan error)
	go func() {
		resp, err := browser.Get(idp.URL(authtest.DiscoveryEndpoint))
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	for len(idp.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := idp.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the hanging request was answered")
	}
}
