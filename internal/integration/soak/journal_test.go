package soak

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A soak that notices nothing would pass.
func TestTheJournalNoticesWhatIsWrong(t *testing.T) {
	status, id, email := http.StatusOK, "1", "user-0@example.com"
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"id":%q,"email":%q}`, id, email)
	}))
	defer app.Close()
	for _, c := range []struct {
		name   string
		answer func()
		state  state
		want   string // "" is right, "failed" a failure
	}{
		{"a session that goes on", func() {}, live, ""},
		{"a session that is lost", func() { status = http.StatusUnauthorized }, live, "is lost"},
		{"a session that has ended", func() { status = http.StatusUnauthorized }, ended, ""},
		{"a session that goes on after its end", func() {}, ended, "after its end"},
		{"a session whose end is not known", func() {}, unknown, ""},
		{"a session that cannot be read", func() { status = http.StatusServiceUnavailable }, live, "failed"},
		{"a session of another user", func() { email = "user-1@example.com" }, live, "is one of user-1"},
		{"an address with another user", func() { id = "2" }, live, "was 1"},
		{"a user who was deleted", func() { id = "0" }, live, "there again"},
	} {
		status, id, email = http.StatusOK, "1", "user-0@example.com"
		c.answer()
		v := &visit{t.Context(), app.URL, nil, false, &user{email: "user-0@example.com", id: "1", before: []string{"0"}}}
		err := v.replay(&browser{token: "token", state: c.state})
		switch {
		case c.want == "" && err == nil, c.want == "failed" && err != nil && !isWrong(err):
		case c.want == "" || c.want == "failed" || !isWrong(err) || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// The application reads the token that a client keeps.
func TestABrowserOfTheLoadFindsItsToken(t *testing.T) {
	v := &visit{url: "http://127.0.0.1:1"}
	c := newClient()
	if got := v.sessionOf(c); got != "" {
		t.Errorf("a new browser has the token %q", got)
	}
	site, _ := url.Parse(v.url)
	c.Jar.SetCookies(site, []*http.Cookie{{Name: cookieName, Value: "abc", Path: "/"}})
	if got := v.sessionOf(c); got != "abc" {
		t.Errorf("the token is %q", got)
	}
}
