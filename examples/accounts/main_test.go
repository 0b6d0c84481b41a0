package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

var (
	token = regexp.MustCompile(`name="csrfToken" value="([^"]+)"`)
	code  = regexp.MustCompile(`\b\d{4} \d{4}\b`)
)

func TestAUserSignsUpAndOpensTheVault(t *testing.T) {
	var mail *pintle.Message
	var site http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { site.ServeHTTP(w, r) }))
	defer server.Close()
	var err error
	site, err = newSite(server.URL, func(_ context.Context, m *pintle.Message) error {
		mail = m
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	page := ""
	open := func(path string, fields ...string) string {
		t.Helper()
		method, form := http.MethodGet, url.Values{}
		for i := 0; i < len(fields); i += 2 {
			method = http.MethodPost
			form.Set(fields[i], fields[i+1])
			form.Set("csrfToken", token.FindStringSubmatch(page)[1])
		}
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		page = string(text)
		return page
	}
	open("/auth/account/sign-up")
	open("/auth/account/sign-up", "email", "ada@example.com")
	open("/auth/account/sign-up-sent", "code", code.FindString(mail.Text))
	open("/auth/account/sign-up-finish", "password", "correct horse battery")
	if !strings.Contains(open("/"), "Hello, ada@example.com.") {
		t.Fatalf("the page is %s", page)
	}
	if !strings.Contains(open("/vault"), "The vault is open.") {
		t.Errorf("right after the sign-up the vault says %s", page)
	}
	if !strings.Contains(open("/auth/account"), "You have a password") {
		t.Errorf("the account says %s", page)
	}
}
