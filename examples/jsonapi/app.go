package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/oauth2"
)

// This file is the application on the user's computer. It shares no code with the
// rest.

// A session is that of the application. It keeps the token in memory; an
// application that needs it again after a restart stores it in the keychain of the
// system.
type session struct {
	api    string
	client *http.Client
}

// signIn signs the user in with the system's browser, which browse opens, and waits
// for the redirect.
func signIn(ctx context.Context, api string, browse func(address string) error) (*session, error) {
	var network net.ListenConfig
	listener, err := network.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	cfg := oauth2.Config{
		ClientID:    "desktop",
		RedirectURL: fmt.Sprintf("http://%s/signed-in", listener.Addr()),
		Endpoint:    oauth2.Endpoint{AuthURL: api + "/auth/native/authorize", TokenURL: api + "/auth/native/token", AuthStyle: oauth2.AuthStyleInParams},
	}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	answers := make(chan url.Values, 1)
	server := &http.Server{Handler: waiting(state, answers), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until Shutdown
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(last) // lets the browser show its last page
	}()

	if err := browse(cfg.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case answer := <-answers:
		if answer.Get("code") == "" {
			return nil, errors.New("you did not let the application in")
		}
		token, err := cfg.Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			return nil, err
		}
		return &session{api, cfg.Client(ctx, token)}, nil
	}
}

// waiting handles the redirect of the sign-in that has the state. Any page in the
// browser can send requests here, too.
func waiting(state string, answers chan<- url.Values) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /signed-in", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("state") != state {
			http.Error(w, "that is no answer to this application", http.StatusBadRequest)
			return
		}
		select {
		case answers <- r.Form:
		default: // a second one
		}
		_, _ = io.WriteString(w, "You can close this window and go back to the application.\n") // the browser may have closed the connection
	})
	return mux
}

// openBrowser opens the system's browser. A window within the application would
// not have the user's cookies and passkeys, and could read the password.
//
// https://www.rfc-editor.org/rfc/rfc8252#section-8.12
func openBrowser(address string) error {
	log.Printf("Sign in with the browser. If it does not open, go to\n%s", address)
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	_ = exec.CommandContext(context.Background(), command[0], append(command[1:], address)...).Start() //nolint:gosec // the address is ours; without a browser it can be copied
	return nil
}

// me requests the signed-in user from the API.
func (s *session) me(ctx context.Context) (name string, err error) {
	var user struct{ Name string }
	err = s.call(ctx, http.MethodGet, "/me", &user)
	return user.Name, err
}

// end signs out.
func (s *session) end(ctx context.Context) error {
	return s.call(ctx, http.MethodDelete, "/session", nil)
}

func (s *session) call(ctx context.Context, method, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, s.api+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
