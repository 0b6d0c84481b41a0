package authtest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

func TestSignInWithReportsWhatIsMissing(t *testing.T) {
	box := authtest.NewMailbox(authtest.MailboxOptions{})
	auth := mustAuth(t, config(memstore.New(), &pintle.Email{From: "no-reply@example.com", Send: box.Send}))
	srv := httptest.NewServer(newApp(auth))
	defer srv.Close()
	tests := []struct {
		name           string
		client         *http.Client
		base, provider string
		fields         []string
		want           string
	}{
		{"a place for cookies", &http.Client{}, "/auth", "email", nil, "set its Jar"},
		{"the routes", nil, "/elsewhere", "email", nil, "no sign-in routes"},
		{"the provider", nil, "/auth", "acme", nil, "no such provider"},
		{"the value of a field", nil, "/auth", "email", []string{"email"}, `"email" has no value`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.client == nil {
				tt.client = authtest.HTTPClient(t, auth, srv.URL, nil)
			}
			var j judge
			if resp := authtest.SignInWith(&j, tt.client, srv.URL+tt.base, tt.provider, tt.fields...); resp != nil {
				resp.Body.Close()
			}
			if !strings.Contains(j.verdict, tt.want) {
				t.Errorf("the test fails with %q, want it to mention %q", j.verdict, tt.want)
			}
		})
	}
	if mails := box.Messages(); len(mails) != 0 {
		t.Errorf("there are %d mails", len(mails))
	}
}

func TestSendPutsMailIntoTheMailbox(t *testing.T) {
	box := authtest.NewMailbox(authtest.MailboxOptions{})
	sent := &pintle.Message{From: "App <no-reply@example.com>", To: "kim@example.com", Subject: "Sign in", Text: "Open https://app.example/a?b", HTML: "<p>Open", Code: "1234 5678"}
	if err := box.Send(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	m, err := box.Wait(t.Context(), "KIM@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if m.From != sent.From || m.To[0] != sent.To || m.Subject != sent.Subject || m.Header.Get("Subject") != sent.Subject ||
		m.Text != sent.Text || m.HTML != sent.HTML || m.Code != sent.Code || m.Time.IsZero() || len(m.Links()) != 1 || m.Links()[0] != "https://app.example/a?b" {
		t.Errorf("the mail is %+v with the links %q", m, m.Links())
	}
}
