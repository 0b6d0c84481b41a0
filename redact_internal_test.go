package pintle

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/token"
)

const confidential = "confidential"

// The arguments of callbacks and events can be printed: neither package fmt nor
// log/slog shows a token, a claim, a password or a link in them.
func TestWhatHostsPrintHasNoSecret(t *testing.T) {
	view := any(confidential)
	session := &Session{
		User: User{ID: "1"}, data: map[string]any{"token": confidential}, changes: map[string]any{"token": confidential},
		stored: &StoredSession{Token: confidential}, view: &view, claims: &token.Token{},
	}
	account := &Account{Provider: "acme", ProviderAccountID: "2", Type: TypeOIDC, UserID: "1", SessionState: confidential, Extra: map[string]any{"token": confidential}}
	for _, field := range account.tokenFields() {
		*field = confidential
	}
	user := &User{ID: "1"}
	claims := Claims{"sub": "1", "token": confidential}

	attempt := &SignInAttempt{User: user, Account: account, Profile: Profile{"token": confidential}, Submission: &Submission{Fields: map[string]any{"password": confidential}}, LinkTo: user}
	for _, v := range []any{
		session, account, attempt,
		&PendingSignIn{User: user, Account: account, Profile: Profile{"token": confidential}, RedirectTo: confidential, Request: &http.Request{RequestURI: confidential, Header: http.Header{"Cookie": {confidential}}}},
		&StoredSession{Token: confidential, UserID: "1", Data: map[string]any{"token": confidential}},
		&TokenChange{Claims: claims, Trigger: TriggerSignIn, User: user, Account: account, Profile: Profile{"token": confidential}, Update: confidential},
		&SessionView{Session: session, Claims: claims, User: user, Stored: session.stored, Update: confidential},
		&SignInEvent{User: user, Account: account, Profile: Profile{"token": confidential}},
		&SignOutEvent{Claims: claims, Session: session.stored},
		&LinkAccountEvent{User: user, Account: account, ProviderUser: user},
		&SessionEvent{Session: confidential, Claims: claims},
		&Message{To: "ada@example.com", URL: confidential, Token: confidential, Code: confidential, Text: confidential, HTML: confidential},
		attempt.Submission,
		&Verification{Identifier: "ada@example.com", Token: confidential, Expires: time.Now()},
		&oauth.TokenRequest{Form: map[string][]string{"client_secret": {confidential}}, Callback: map[string]string{"code": confidential}},
		&oauth.TokenResponse{Body: map[string]any{"access_token": confidential}},
		&oauth.Answer{Tokens: map[string]any{"access_token": confidential}, Claims: claims},
		&OAuth{ID: "acme", ClientSecret: confidential},
		&Email{Secret: confidential, APIKey: confidential},
		&Config{Secrets: []string{confidential}, JWT: JWTConfig{Secrets: []string{confidential}}, Providers: []Provider{&OAuth{ClientSecret: confidential}}},
	} {
		value := reflect.ValueOf(v).Elem().Interface()
		kind := reflect.TypeOf(value).Name()
		for way, printed := range map[string]any{"a pointer": v, "a value": value, "a list": []any{v, value}, "a field": struct{ V any }{v}} {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				if text := fmt.Sprintf(verb, printed); discloses(text) {
					t.Errorf("%s of %s to a %s is %s", verb, way, kind, text)
				}
			}
		}
		for name, printed := range map[string]any{"a pointer": v, "a value": value} {
			var log bytes.Buffer
			for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
				slog.New(handler).LogAttrs(context.Background(), slog.LevelInfo, "", slog.Any("it", printed))
			}
			if discloses(log.String()) || strings.Contains(log.String(), "PANIC") || strings.Contains(log.String(), "panicked") {
				t.Errorf("the log of %s to a %s is %s", name, kind, log.String())
			}
		}
		if text := fmt.Sprint(reflect.Zero(reflect.TypeOf(v)).Interface()); text != "<nil>" {
			t.Errorf("a nil %s is %s", kind, text)
		}
	}
	if text := fmt.Sprint(account); !strings.Contains(text, "provider=acme") || !strings.Contains(text, "providerAccountId=2") {
		t.Errorf("an account is %s, which does not tell it from others", text)
	}
	if text := fmt.Sprint(attempt); !strings.Contains(text, "account=[provider=acme") || !strings.Contains(text, "user=1") {
		t.Errorf("an attempt is %s", text)
	}
}

// discloses reports whether a text has what is confidential, in letters or in
// hexadecimal.
func discloses(text string) bool {
	return strings.Contains(text, confidential) || strings.Contains(text, fmt.Sprintf("%x", confidential))
}
