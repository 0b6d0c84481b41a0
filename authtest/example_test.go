package authtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/smtp"
	"net/url"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// A sign-in from beginning to end with any client: the application does not need
// this package.
func Example() {
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := idp.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	defer idp.Close()
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim", Email: "kim@example.com", EmailVerified: true})

	// The browser visits the provider and comes back with a code.
	const callback = "http://localhost:3000/callback"
	code := visitAndComeBack(idp.URL(authtest.AuthorizationEndpoint) + "?" + url.Values{
		"response_type": {"code"}, "client_id": {"my-app"}, "redirect_uri": {callback}, "scope": {"openid email"}, "state": {"state"},
	}.Encode()).Get("code")

	var token struct {
		AccessToken string `json:"access_token"`
	}
	resp, err := http.PostForm(idp.URL(authtest.TokenEndpoint), url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "client_id": {"my-app"},
	})
	if err := decodeJSON(resp, err, &token); err != nil {
		fmt.Println(err)
		return
	}
	req, err := http.NewRequest(http.MethodGet, idp.URL(authtest.UserInfoEndpoint), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+token.AccessToken)
	var profile struct {
		Subject  string `json:"sub"`
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
	}
	resp, err = new(http.Client).Do(req)
	if err := decodeJSON(resp, err, &profile); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(profile.Subject, profile.Email, profile.Verified)
	// Output: 42 kim@example.com true
}

// visitAndComeBack is the browser: it follows no redirect.
func visitAndComeBack(address string) url.Values {
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Get(address)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		return nil
	}
	return back.Query()
}

// decodeJSON reads the answer to a request into v.
func decodeJSON(resp *http.Response, err error, v any) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(v)
}

// An application must verify the responses of a provider.
func ExampleIdentityProvider_Break() {
	idp := authtest.NewIdentityProvider(authtest.Options{})
	if err := idp.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	defer idp.Close()

	// trusted is the application's check of a provider's metadata.
	trusted := func() bool {
		var metadata struct{ Issuer string }
		resp, err := http.Get(idp.URL(authtest.DiscoveryEndpoint))
		return decodeJSON(resp, err, &metadata) == nil && metadata.Issuer == idp.Issuer
	}
	idp.Break(authtest.DiscoveryForeignIssuer)
	if !trusted() {
		fmt.Println("rejected a provider that", authtest.DiscoveryForeignIssuer)
	}

	idp.Repair()
	if trusted() {
		fmt.Println("accepted the repaired one")
	}
	// Output:
	// rejected a provider that names another issuer in discovery
	// accepted the repaired one
}

// An endpoint as a whole can fail, too.
func ExampleAt() {
	idp := authtest.NewIdentityProvider(authtest.Options{})
	if err := idp.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	defer idp.Close()

	idp.Break(authtest.At(authtest.JWKSEndpoint, authtest.Hangs))
	client := &http.Client{Timeout: 50 * time.Millisecond}
	if _, err := client.Get(idp.URL(authtest.JWKSEndpoint)); err != nil {
		fmt.Println("no answer")
	}
	// Output: no answer
}

// A Tamper makes faults that have no constant.
func ExampleIdentityProvider_Tamper() {
	idp := authtest.NewIdentityProvider(authtest.Options{})
	if err := idp.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	defer idp.Close()

	idp.Tamper(authtest.Tamper{Discovery: func(document map[string]any) {
		clear(document)
		document["issuer"] = []int{1, 2, 3}
	}})
	resp, err := http.Get(idp.URL(authtest.DiscoveryEndpoint))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err)
	// Output: {"issuer":[1,2,3]} <nil>
}

// A mailbox accepts the mails of the application, and finds the link in them.
func ExampleMailbox() {
	box := authtest.NewMailbox(authtest.MailboxOptions{})
	if err := box.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	defer box.Close()

	mail := "Subject: Sign in to Example\r\n\r\nOpen http://localhost:3000/callback?token=abc to sign in.\r\n"
	err := smtp.SendMail(box.Addr, nil, "no-reply@example.com", []string{"kim@example.com"}, []byte(mail))
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	m, err := box.Wait(ctx, "kim@example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Subject)
	fmt.Println(m.Links()[0])
	// Output:
	// Sign in to Example
	// http://localhost:3000/callback?token=abc
}

// A provider with which a developer tries an application in a browser: its page asks who signs in.
func ExampleIdentityProvider_Listen() {
	var cfg pintle.Config
	idp := authtest.NewIdentityProvider(authtest.Options{Addr: "localhost:9000"})
	if err := idp.Listen(); err != nil {
		log.Fatal(err)
	}
	cfg.Providers = append(cfg.Providers, idp.OIDC("acme"))
}
