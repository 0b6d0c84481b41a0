package handshake

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// SH-13.
func TestConcealLeavesNoSecretInAnyEncoding(t *testing.T) {
	const secret = "tok/en+1=="
	for _, text := range []string{
		"said " + secret,
		"GET /me?access_token=tok%2Fen%2B1%3D%3D",
		"GET /tok%2Fen+1==/me",
	} {
		if got := conceal(errors.New(text), secret).Error(); strings.Contains(got, "en+1") || strings.Contains(got, "en%2B1") {
			t.Errorf("conceal(%q) = %q", text, got)
		}
	}
	plain := errors.New("nothing to hide")
	if got := conceal(plain, secret, "", "a"); !errors.Is(got, plain) {
		t.Errorf("conceal changed %q to %q", plain, got)
	}
	if conceal(nil, secret) != nil {
		t.Error("conceal(nil) is an error")
	}
	told := conceal(fmt.Errorf("token response: %w", &TokenError{Status: 400, Code: "invalid_grant", Description: secret}), secret)
	e, ok := errors.AsType[*TokenError](told)
	if !ok || e.Code != "invalid_grant" || strings.Contains(e.Description+told.Error(), secret) {
		t.Errorf("conceal = %v with %+v", told, e)
	}
}

func TestWordsOfAProviderAreQuotedAndBounded(t *testing.T) {
	e := &ResponseError{Code: "x\ny", Description: strings.Repeat("é", 5000)}
	if got := e.Error(); len(got) > 2*maxErrorText || strings.Contains(got, "\n") {
		t.Errorf("error of %d bytes: %s", len(got), got)
	}
	if got := clip(strings.Repeat("é", 151)); !strings.HasSuffix(got, "é…") {
		t.Errorf("clip cut a character: %q", got[len(got)-6:])
	}
}

func TestLogsShowNoCredentials(t *testing.T) {
	var b strings.Builder
	log := slog.New(slog.NewTextHandler(&b, nil))
	log.Info("all",
		"provider", &Provider{ID: "op", ClientSecret: "secret-1"},
		"begun", Begun{URL: "https://op.example.test/?state=secret-2", Verifier: "secret-3", Nonce: "secret-4"},
		"begun1", OAuth1Begun{Token: "secret-5", Secret: "secret-6"},
		"client1", &OAuth1{ID: "bird", ConsumerSecret: "secret-7"},
		"result", &Result{Tokens: map[string]any{"access_token": "secret-8"}},
	)
	if strings.Contains(b.String(), "secret-") || !strings.Contains(b.String(), "provider=op") {
		t.Errorf("SH-13 log line: %s", b.String())
	}
}
