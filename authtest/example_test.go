package authtest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"net/url"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/pintleauth/pintle/authtest"
	"golang.org/x/oauth2"
)

// A sign-in from beginning to end, as an application does it.
func Example() {
	ctx := context.Background()
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := idp.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	defer idp.Close()
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim", Email: "kim@example.com", EmailVerified: true})

	provider, err := oidc.NewProvider(ctx, idp.Issuer)
	if err != nil {
		fmt.Println(err)
		return
	}
	config := oauth2.Config{
		ClientID:    "my-app",
		RedirectURL: "http://localhost:3000/callback",
		Endpoint:    provider.Endpoint(),
		Scopes:      []string{oidc.ScopeOpenID, "email"},
	}

	// The browser visits the provider and comes back with a code.
	verifier := oauth2.GenerateVerifier()
	code := visitAndComeBack(config.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier))).Get("code")

	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		fmt.Println(err)
		return
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.Subject, info.Email, info.EmailVerified)
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

// An application must not take a provider's word for everything.
func ExampleIdentityProvider_Break() {
	idp := authtest.NewIdentityProvider(authtest.Options{})
	if err := idp.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	defer idp.Close()

	idp.Break(authtest.DiscoveryForeignIssuer)
	if _, err := oidc.NewProvider(context.Background(), idp.Issuer); err != nil {
		fmt.Println("refused a provider that", authtest.DiscoveryForeignIssuer)
	}

	idp.Repair()
	if _, err := oidc.NewProvider(context.Background(), idp.Issuer); err == nil {
		fmt.Println("accepted the repaired one")
	}
	// Output:
	// refused a provider that names another issuer in discovery
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

// What no fault describes can still be done.
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

// A mailbox takes what the application sends, and finds the link in it.
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
