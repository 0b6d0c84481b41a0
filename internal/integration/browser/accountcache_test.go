package browser_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	browserpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/pages"
)

// answers collects the answers of a site below a path, redirects and errors among them.
type answers struct {
	mu   sync.Mutex
	seen []*network.Response
}

func (a *answers) listen(v *browserUser, below string) {
	v.t.Helper()
	note := func(r *network.Response) {
		u, err := url.Parse(r.URL)
		if err == nil && strings.HasPrefix(u.Path, below) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.seen = append(a.seen, r)
		}
	}
	err := chromedp.Listen(v.ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if e.RedirectResponse != nil {
				note(e.RedirectResponse)
			}
		case *network.EventResponseReceived:
			note(e.Response)
		}
	})
	if err != nil {
		v.t.Fatal(err)
	}
}

// header returns a header of an answer, whose names the browser has in any case.
func header(r *network.Response, name string) string {
	for got, value := range r.Headers {
		if strings.EqualFold(got, name) {
			return fmt.Sprint(value)
		}
	}
	return ""
}

// areNeitherKeptNorFramed checks that no cache keeps an answer, and that no page can be
// framed.
func (a *answers) areNeitherKeptNorFramed(t *testing.T) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	statuses := map[int64]int{}
	for _, r := range a.seen {
		statuses[r.Status]++
		want := "no-store"
		if header(r, "Pintle-Acting") != "" || strings.HasSuffix(r.URL, "/stop-acting") {
			want = "private, no-store"
		}
		if got := header(r, "Cache-Control"); got != want {
			t.Errorf("%s: %d with Cache-Control %q", r.URL, r.Status, got)
		}
		if r.Status == http.StatusSeeOther {
			continue
		}
		if header(r, "X-Frame-Options") != "DENY" || !strings.Contains(header(r, "Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s: %d can be framed: %v", r.URL, r.Status, r.Headers)
		}
	}
	for _, status := range []int64{http.StatusOK, http.StatusSeeOther, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity} {
		if statuses[status] == 0 {
			t.Errorf("no answer had status %d: %v", status, statuses)
		}
	}
}

// AT-83: an attacker who frames a page could lead the clicks of the user to its buttons.
func TestNoPageOfAnAccountIsShownInAFrame(t *testing.T) {
	s := newPagesSite(t, pages.Texts{}, "database")
	ada := s.seed("ada@example.com", firstPassword, true)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Another site</title><iframe src="%s"></iframe>`, html.EscapeString(r.FormValue("frames")))
	}))
	t.Cleanup(other.Close)
	v := newTab(t) // its browser reports each page that it does not show
	v.open(s.url + "/become?ago=0s&by=pwd&email=" + url.QueryEscape(ada.Email))
	for path, shown := range map[string]bool{
		"/":             true, // which anyone may frame
		"/auth/account": false, "/auth/account/password": false, "/auth/account/sign-up": false, "/auth/signin": false,
	} {
		v.open(other.URL + "/?frames=" + url.QueryEscape(s.url+path))
		tree, err := chromedp.Call(v.ctx, browserpage.GetFrameTree, cdp.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		if len(tree.FrameTree.ChildFrames) != 1 {
			t.Fatalf("the page has %d frames", len(tree.FrameTree.ChildFrames))
		}
		if frame := tree.FrameTree.ChildFrames[0].Frame; (frame.UnreachableURL == "") != shown {
			t.Errorf("%s in a frame is shown: %t, want %t", path, !shown, shown)
		}
	}
}

// AT-83: after the sign-out, the next user of the machine sees nothing by going back.
func TestTheBackButtonShowsNoAccountAfterTheSignOut(t *testing.T) {
	eachKind(t, func(t *testing.T, sessions string) {
		s := newPagesSite(t, pages.Texts{}, sessions)
		ada := s.seed("ada@example.com", firstPassword, true)
		v := newTour(t, s, map[string]bool{}, func(*tour, string) {})
		v.becomes(ada.Email, "0s", "pwd")
		pagesSeen := []string{"/auth/account/factors", "/auth/account/password", "/auth/account"}
		for _, path := range pagesSeen {
			v.goes(path)
			v.isAt(path)
		}
		v.goes("/auth/account")
		v.sees("You are signed in as " + ada.Email)
		v.sends("/auth/signout")
		v.isAt("/")
		for range slices.Backward(pagesSeen) {
			v.leave("go back", chromedp.NavigateBack())
			v.isAt("/auth/signin")
			if text := v.text(); strings.Contains(text, ada.Email) || strings.Contains(text, "Your account") {
				t.Errorf("after the sign-out the page at %s shows:\n%s", v.address(), text)
			}
		}
	})
}
