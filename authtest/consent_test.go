package authtest_test

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/authtest"
)

// A form is one of the page, as a browser without JavaScript sees it.
type form struct {
	action string
	fields url.Values // with the values it shows
	inner  string
}

var (
	formTag   = regexp.MustCompile(`(?s)<form([^>]*)>(.*?)</form>`)
	inputTag  = regexp.MustCompile(`<(?:input|button)([^>]*)>`)
	attribute = regexp.MustCompile(`([a-z]+)(?:="([^"]*)")?`)
)

func attributes(tag string) map[string]string {
	found := map[string]string{}
	for _, m := range attribute.FindAllStringSubmatch(tag, -1) {
		found[m[1]] = html.UnescapeString(m[2])
	}
	return found
}

func formsOf(page string) []form {
	var forms []form
	for _, m := range formTag.FindAllStringSubmatch(page, -1) {
		f := form{action: attributes(m[1])["action"], fields: url.Values{}, inner: m[2]}
		for _, input := range inputTag.FindAllStringSubmatch(m[2], -1) {
			if a := attributes(input[1]); a["name"] != "" {
				f.fields.Add(a["name"], a["value"])
			}
		}
		forms = append(forms, f)
	}
	return forms
}

// press submits f as a click on the button with that name and value does.
func press(t *testing.T, f form, name, value string, filled url.Values) *http.Response {
	t.Helper()
	v := url.Values{name: {value}}
	maps.Copy(v, filled)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.action, strings.NewReader(v.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(t, req)
}

func TestConsentPageSelectsAPerson(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	resp := get(t, a.url())
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("consent page: %s", resp.Status)
	}
	page := body(t, resp)
	forms := formsOf(page)
	if len(forms) != 3 {
		t.Fatalf("%d forms, want people, another person and a denial", len(forms))
	}
	if got := forms[0].fields["person"]; len(got) != 4 || got[1] != "1002" {
		t.Errorf("people on the page = %v, want the four default ones", got)
	}
	for _, want := range []string{"Sign in to The application", "Ada Lovelace", "ada@example.com", ">AL<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if strings.Contains(page, "<script") {
		t.Error("the page needs JavaScript")
	}

	answered := press(t, forms[0], "person", "1002", nil)
	if answered.StatusCode != http.StatusSeeOther {
		t.Fatalf("answer: %s, want 303 so that the form is not posted on", answered.Status)
	}
	answer := answerOf(t, answered)
	token, err := a.exchange(answer.Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	idToken, err := a.verify(token)
	if err != nil {
		t.Fatal(err)
	}
	if idToken.Subject != "1002" || idToken.Nonce != a.nonce || answer.Get("state") != a.state {
		t.Errorf("subject %q, nonce %q, state %q; want 1002 and what was sent", idToken.Subject, idToken.Nonce, answer.Get("state"))
	}
}

func TestConsentPageLetsOneBeSomeoneElse(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, Clients: []authtest.Client{app}})
	rp := newRelyingParty(t, idp)
	someoneElse := func(filled url.Values) (subject string, claims map[string]any) {
		a := rp.begin()
		resp := press(t, formsOf(body(t, get(t, a.url())))[1], "else", "yes", filled)
		token, err := a.exchange(answerOf(t, resp).Get("code"))
		if err != nil {
			t.Fatal(err)
		}
		idToken, err := rp.verify(token)
		if err != nil {
			t.Fatal(err)
		}
		return idToken.Subject, idToken.claims
	}
	kim, claims := someoneElse(url.Values{"name": {"Kim Doe"}, "email": {"kim@example.com"}, "verified": {"yes"}})
	if claims["name"] != "Kim Doe" || claims["email"] != "kim@example.com" || claims["email_verified"] != true {
		t.Errorf("claims = %v, want what was typed", claims)
	}
	again, claims := someoneElse(url.Values{"name": {"Kim D."}, "email": {"Kim@example.com"}})
	if again != kim || claims["email_verified"] != false {
		t.Errorf("the same address came back as %q, verified %v; want %q, false", again, claims["email_verified"], kim)
	}
	if lee, _ := someoneElse(url.Values{"name": {"Lee"}, "email": {"lee@example.com"}}); lee == kim {
		t.Error("two addresses are one person")
	}
}

func TestConsentPageKeepsWhatCannotBeAccepted(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	forms := formsOf(body(t, get(t, newRelyingParty(t, idp).begin().url())))
	for _, email := range []string{"", "kim", "a@b,c@d", "Kim <kim@example.com>", "kim@example.com\r\nBcc: x@y"} {
		resp := press(t, forms[1], "else", "yes", url.Values{"name": {`"><i>Kim`}, "email": {email}})
		page := body(t, resp)
		if resp.StatusCode != http.StatusUnprocessableEntity || strings.Contains(page, "<i>Kim") ||
			!strings.Contains(page, "<details open>") || formsOf(page)[1].fields.Get("name") != `"><i>Kim` {
			t.Errorf("address %q: %s, want 422 and the form again, escaped", email, resp.Status)
		}
	}
	if resp := press(t, forms[0], "person", "unknown", nil); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("unknown person: %s, want 422", resp.Status)
	}
}

func TestConsentCanBeDenied(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	answer := answerOf(t, press(t, formsOf(body(t, get(t, a.url())))[2], "deny", "yes", nil))
	if answer.Get("error") != "access_denied" || answer.Get("state") != a.state || answer.Has("code") {
		t.Errorf("answer = %v, want access_denied with the state and no code", answer)
	}
}

func TestConsentPageFollowsTheLoginHint(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	known := body(t, get(t, a.url("login_hint", "Alan@Example.com")))
	if !strings.Contains(known, `value="1003" autofocus`) || strings.Contains(known, "<details open>") {
		t.Error("the hinted person does not have the focus")
	}
	unknown := body(t, get(t, a.url("login_hint", "new@example.com")))
	if formsOf(unknown)[1].fields.Get("email") != "new@example.com" || !strings.Contains(unknown, "<details open>") {
		t.Error("the hinted address is not in the form")
	}
}

func TestConsentPageIsGuarded(t *testing.T) {
	client := app
	client.Name = `<script>alert("app")</script>`
	idp := authtest.Start(t, authtest.Options{
		Name:    `<b>IdP</b>`,
		Clients: []authtest.Client{client},
		People:  []authtest.Person{{Subject: `"><script>`, Name: `<img src=x>`, Email: `<i>@example.com`}},
	})
	resp := get(t, newRelyingParty(t, idp).begin().url("scope", "<u>"))
	page := body(t, resp)
	for _, raw := range []string{"<script", "<img", "<b>", "<i>", "<u>"} {
		if strings.Contains(page, raw) {
			t.Errorf("the page has an unescaped %s", raw)
		}
	}
	policy := resp.Header.Get("Content-Security-Policy")
	for _, want := range []string{
		"default-src 'none'", "style-src 'sha256-", "form-action 'self' " + appURL, "base-uri 'none'", "frame-ancestors 'none'",
	} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %q", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
		t.Errorf("policy %q allows scripts or unsafe styles", policy)
	}
	for name, want := range map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"Referrer-Policy": "strict-origin", // the state is in the query
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestConsentFormCannotBePostedFromElsewhere(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	temporary, _, err := newConsumer(t, idp).requestToken()
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []string{
		newRelyingParty(t, idp).begin().url(),
		idp.URL(authtest.OAuth1AuthorizationEndpoint) + "?oauth_token=" + temporary,
	} {
		f := formsOf(body(t, get(t, ask)))[0]
		for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.test"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.action, strings.NewReader("person=1001"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set(header, value)
			if resp := do(t, req); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %s %s: %s, want 403", f.action, header, value, resp.Status)
			}
		}
	}
}

func TestFormPostSendsTheAnswerInAForm(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Algorithm: authtest.ES256, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	a.state = `"><script>alert(1)</script>`
	resp := get(t, a.url("response_mode", "form_post"))
	page := body(t, resp)
	f := formsOf(page)[0]
	if resp.StatusCode != http.StatusOK || f.action != app.RedirectURIs[0] {
		t.Fatalf("%s with a form to %q, want 200 and the redirect URI", resp.Status, f.action)
	}
	if f.fields.Get("state") != a.state || f.fields.Get("iss") != idp.Issuer || strings.Contains(page, "<script>alert") {
		t.Errorf("fields = %v, want the state, escaped, and iss", f.fields)
	}
	if !strings.Contains(f.inner, "<noscript><button") {
		t.Error("without JavaScript there is no way on")
	}
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'sha256-") ||
		!strings.Contains(policy, "form-action 'self' "+appURL) {
		t.Errorf("policy %q does not allow the form", policy)
	}
	if _, err := a.exchange(f.fields.Get("code")); err != nil {
		t.Error(err)
	}
}
