package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// clicks opens an address and presses a button of the form there, as a user does in
// the browser.
func clicks(person *http.Client, button string) func(address string) error {
	return func(address string) error {
		resp, err := person.Get(address)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		form := url.Values{"answer": {button}}
		for _, input := range regexp.MustCompile(`name="(\w+)" value="([^"]*)"`).FindAllStringSubmatch(string(page), -1) {
			if input[1] != "answer" {
				form.Set(input[1], input[2])
			}
		}
		at, _, _ := strings.Cut(address, "?")
		last, err := person.PostForm(at, form)
		if err != nil {
			return err
		}
		defer last.Body.Close()
		if last.StatusCode != http.StatusOK {
			return fmt.Errorf("the browser ends at %s: %s", last.Request.URL, last.Status)
		}
		return nil
	}
}

func TestAnApplicationSignsInThroughTheBrowser(t *testing.T) {
	api, auth := startAPI(t)
	person := authtest.HTTPClient(t, auth, api, &pintle.User{Name: "Ada", Email: "ada@example.com"})
	s, err := signIn(t.Context(), api, clicks(person, "yes"))
	if err != nil {
		t.Fatal(err)
	}
	if name, err := s.me(t.Context()); name != "Ada" || err != nil {
		t.Errorf("the API returns %q, %v", name, err)
	}
	if err := s.end(t.Context()); err != nil {
		t.Error(err)
	}
	if name, err := s.me(t.Context()); err == nil {
		t.Errorf("after signing out the API returns %q", name)
	}
	// The user is still signed in with the browser.
	if got := send(t, person, "GET", api+"/me", ""); got.json["name"] != "Ada" {
		t.Errorf("the browser gets %+v", got)
	}
}

func TestAnApplicationReceivesADenial(t *testing.T) {
	api, auth := startAPI(t)
	person := authtest.HTTPClient(t, auth, api, &pintle.User{Name: "Ada"})
	if _, err := signIn(t.Context(), api, clicks(person, "no")); err == nil || !strings.Contains(err.Error(), "did not let") {
		t.Errorf("the application returns %v", err)
	}
}

// Any page in the browser can send something to the application that waits.
func TestAnAnswerToAnotherQuestionIsRejected(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := signIn(ctx, "http://127.0.0.1:1", func(address string) error {
		asked, err := url.Parse(address)
		if err != nil {
			return err
		}
		for _, forged := range []string{"?code=x", "?code=x&state=y", "?state="} {
			resp, err := http.Get(asked.Query().Get("redirect_uri") + forged)
			if err != nil {
				return err
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s", forged, resp.Status)
			}
		}
		return nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the application returns %v, want that it still waited", err)
	}
}
