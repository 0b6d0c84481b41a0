package pintle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pintleauth/pintle"
)

// A user is read as it is written: absent, null and empty members stay what they
// are, since browser clients see the difference.
func TestAUserIsReadAsItIsWritten(t *testing.T) {
	for name, text := range map[string]string{
		"everything":                 `{"id":"7","name":"Ada","email":"ada@example.com","emailVerified":"2026-11-20T10:20:30.456Z","image":"https://example.com/ada.png","role":"captain"}`,
		"an id alone":                `{"id":"7"}`,
		"nothing":                    `{}`,
		"null members":               `{"id":"7","name":null,"email":null,"emailVerified":null,"image":null}`,
		"empty members":              `{"id":"7","name":"","email":"","image":""}`,
		"letters of other alphabets": `{"name":"Ada 日本 <&> "}`,
		"what the host adds":         `{"id":"7","list":[1,"a",null],"nested":{"a":{"b":true}},"number":12345678901234567890}`,
	} {
		t.Run(name, func(t *testing.T) {
			var u pintle.User
			if err := json.Unmarshal([]byte(text), &u); err != nil {
				t.Fatal(err)
			}
			var written bytes.Buffer
			e := json.NewEncoder(&written)
			e.SetEscapeHTML(false)
			if err := e.Encode(u); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(written.String()); got != text {
				t.Errorf("it is written as\n%s, want\n%s", got, text)
			}
		})
	}
}

// A profile may have any member. None takes the place of a field in the JSON that
// a store reads the user back from.
func TestExtraMembersTakeNoFieldsPlace(t *testing.T) {
	hostile := map[string]any{
		"id": "8", "name": "Mallory", "email": "mallory@example.com", "emailVerified": "2026-11-20T10:20:30.456Z", "image": "x", "role": "captain",
	}
	for _, u := range []pintle.User{{ID: "7"}, {ID: "7", Name: "Ada", Email: "ada@example.com"}} {
		want := u
		want.Extra = map[string]any{"role": "captain"}
		u.Extra = hostile
		if got, want := mustJSON(t, u), mustJSON(t, want); got != want {
			t.Errorf("it is written as %s, want %s", got, want)
		}
	}
	if len(hostile) != 6 {
		t.Errorf("the caller's map is %v now", hostile)
	}
}

func TestAUserMayHaveANumberForAnID(t *testing.T) {
	var u pintle.User
	if err := json.Unmarshal([]byte(`{"id":9007199254740993}`), &u); err != nil || u.ID != "9007199254740993" {
		t.Errorf("the id is %q, %v", u.ID, err)
	}
}

func TestWhatIsNoUserIsRefused(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `"7"`, `{"id":true}`, `{"id":"undefined"}`, `{"id":""}`, `{"name":7}`, `{"email":["a"]}`, `{"image":{}}`, `{"emailVerified":"yesterday"}`, `{"emailVerified":7}`,
	} {
		u := pintle.User{Name: "Ada"}
		if err := json.Unmarshal([]byte(text), &u); err == nil {
			t.Errorf("%s is read as %+v", text, u)
		}
		if u.Name != "Ada" {
			t.Errorf("a failure to read %s changes the user to %+v", text, u)
		}
	}
}

func TestAStoreSaysWhichFieldsAreNull(t *testing.T) {
	u := pintle.User{ID: "7", Email: "ada@example.com"}
	if got, want := mustJSON(t, u), `{"id":"7","email":"ada@example.com"}`; got != want {
		t.Errorf("without MarkNull it is written as %s, want %s", got, want)
	}
	u.MarkNull()
	if got, want := mustJSON(t, u), `{"id":"7","name":null,"email":"ada@example.com","emailVerified":null,"image":null}`; got != want {
		t.Errorf("with MarkNull it is written as %s, want %s", got, want)
	}
	u.Name, u.EmailVerified = "Ada", time.Date(2026, 11, 20, 10, 20, 30, 456_789_000, time.FixedZone("", 3600))
	if got, want := mustJSON(t, u), `{"id":"7","name":"Ada","email":"ada@example.com","emailVerified":"2026-11-20T09:20:30.456Z","image":null}`; got != want {
		t.Errorf("with a name it is written as %s, want %s", got, want)
	}
}

func TestAnAccountIsReadAsItIsWritten(t *testing.T) {
	text := `{"access_token":"at","refresh_token":"rt","id_token":"it","expires_at":1795197406,"token_type":"bearer","scope":"a b","session_state":"s",` +
		`"oauth_token":"ot","oauth_token_secret":"os","custom":"x","refresh_token_expires_in":7,"userId":"u","type":"oidc","provider":"acme","providerAccountId":"42"}`
	var a pintle.Account
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	want := pintle.Account{
		UserID: "u", Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "42",
		AccessToken: "at", RefreshToken: "rt", IDToken: "it", ExpiresAt: 1795197406, TokenType: "bearer", Scope: "a b", SessionState: "s",
		OAuthToken: "ot", OAuthTokenSecret: "os", Extra: map[string]any{"custom": "x", "refresh_token_expires_in": json.Number("7")},
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("it is read with these differences (-want +got):\n%s", diff)
	}
	if got := mustJSON(t, a); got != text {
		t.Errorf("it is written as\n%s, want\n%s", got, text)
	}
}

func TestAnAccountOfAnotherServerIsRead(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want pintle.Account
	}{
		"numbers for ids": {`{"provider":"acme","providerAccountId":42,"userId":7}`, pintle.Account{Provider: "acme", ProviderAccountID: "42", UserID: "7"}},
		"null members":    {`{"provider":"acme","access_token":null,"expires_at":null,"scope":null}`, pintle.Account{Provider: "acme"}},
		"a time as text":  {`{"expires_at":"1795197406"}`, pintle.Account{ExpiresAt: 1795197406}},
		"an invalid time": {`{"expires_at":"soon"}`, pintle.Account{Extra: map[string]any{"expires_at": "soon"}}},
		"a state that is no text": {
			`{"session_state":{"a":[1,null]}}`,
			pintle.Account{SessionState: map[string]any{"a": []any{json.Number("1"), nil}}},
		},
		"a token that is no text": {
			`{"access_token":{"a":1}}`,
			pintle.Account{Extra: map[string]any{"access_token": map[string]any{"a": json.Number("1")}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var a pintle.Account
			if err := json.Unmarshal([]byte(tt.text), &a); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, a, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("it is read with these differences (-want +got):\n%s", diff)
			}
		})
	}
	var a pintle.Account
	if err := json.Unmarshal([]byte(`[]`), &a); err == nil {
		t.Errorf("a list is read as %+v", a)
	}
}

// SH-13: an account that is logged keeps its credentials to itself.
func TestALoggedAccountTellsNoToken(t *testing.T) {
	a := pintle.Account{Provider: "acme", ProviderAccountID: "42", AccessToken: "canary-1", RefreshToken: "canary-2", IDToken: "canary-3", OAuthTokenSecret: "canary-4", Extra: map[string]any{"x": "canary-5"}}
	var book logBook
	book.logger().Info("test", "account", a, "pointer", &a, slog.Group("group", "account", a))
	if text := book.String(); strings.Contains(text, "canary") || !strings.Contains(text, "42") {
		t.Errorf("the log says %s", text)
	}
}

func TestStoredSessionTextHasNoToken(t *testing.T) {
	s := pintle.StoredSession{Token: "canary-1", UserID: "7", Expires: time.UnixMilli(1795197406123), Created: time.Now(), Data: map[string]any{"a": "canary-2"}, Handle: "h"}
	if got, want := mustJSON(t, s), `{"userId":"7","expires":"2026-11-20T17:56:46.123Z"}`; got != want {
		t.Errorf("SA-L10 it is written as %s, want %s", got, want)
	}
	if got := mustJSON(t, (*pintle.Session)(nil)); got != "null" {
		t.Errorf("no session is written as %s", got)
	}
	for name, text := range map[string]string{
		"a value": fmt.Sprintf("%v %+v %#v %s", s, s, s, s), "a pointer": fmt.Sprintf("%v %+v %#v %s", &s, &s, &s, &s),
	} {
		if strings.Contains(text, "canary") || !strings.Contains(text, `"7"`) {
			t.Errorf("SA-L10 %s is formatted as %s", name, text)
		}
	}
	var text bytes.Buffer
	var book logBook
	for _, logger := range []*slog.Logger{book.logger(), slog.New(slog.NewTextHandler(&text, nil))} {
		logger.Info("test", "session", s, "pointer", &s, "event", pintle.SignOutEvent{Session: &s})
	}
	if logs := text.String() + book.String(); strings.Contains(logs, "canary-1") || !strings.Contains(logs, "userId=7") {
		t.Errorf("SA-L10 the log says %s", logs)
	}
}

func TestLoggedSessionHasNoClaims(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			c.Claims["refresh_token"] = "canary"
			return c.Claims, nil
		}
	})
	b := s.browser()
	b.signIn("ada")
	var text bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("test", "session", b.held(), "none", (*pintle.Session)(nil))
	if strings.Contains(text.String(), "canary") || !strings.Contains(text.String(), "userId=user-ada") {
		t.Errorf("SA-L10 the log says %s", &text)
	}
}

func TestAProfileIsReadByType(t *testing.T) {
	var p pintle.Profile
	d := json.NewDecoder(strings.NewReader(`{"text":"a","number":12345678901234567890,"float":1.5,"yes":true,"word":"true","one":1,"no":"false","null":null,"object":{"id":7,"name":"x"},"list":[1]}`))
	d.UseNumber()
	if err := d.Decode(&p); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"text": "a", "number": "", "yes": "", "null": "", "missing": "", "object": ""} {
		if got := p.Text(name); got != want {
			t.Errorf("Text(%q) is %q, want %q", name, got, want)
		}
	}
	// SH-37: a value that cannot be an id is rejected.
	for name, want := range map[string]string{"text": "a", "number": "12345678901234567890", "yes": "", "null": "", "missing": "", "object": "", "list": ""} {
		if got := p.ID(name); got != want {
			t.Errorf("ID(%q) is %q, want %q", name, got, want)
		}
	}
	for _, none := range []any{"", " ", "undefined", "null", "<nil>", "NaN", nil, true, []any{}, map[string]any{}} {
		if got := (pintle.Profile{"id": none}).ID("id"); got != "" {
			t.Errorf("the id %v is read as %q", none, got)
		}
	}
	// SH-83: only true is true, and the word some services have for it.
	for name, want := range map[string]bool{"yes": true, "word": true, "one": false, "no": false, "null": false, "missing": false, "text": false, "list": false} {
		if got := p.Bool(name); got != want {
			t.Errorf("Bool(%q) is %t, want %t", name, got, want)
		}
	}
	if got := p.Object("object").ID("id"); got != "7" {
		t.Errorf("the id of the object is %q", got)
	}
	if got := p.Object("text").Object("missing").Text("name"); got != "" {
		t.Errorf("what is no object has the name %q", got)
	}
	var decoded struct {
		Text   string `json:"text"`
		Object struct {
			Name string `json:"name"`
		} `json:"object"`
	}
	if err := p.Decode(&decoded); err != nil || decoded.Text != "a" || decoded.Object.Name != "x" {
		t.Errorf("it is decoded as %+v, %v", decoded, err)
	}
	var wrong struct {
		Text int `json:"text"`
	}
	if err := p.Decode(&wrong); err == nil {
		t.Error("a text is decoded as a number")
	}
}

// FuzzUser reads what a database or another server may hold: what is read can be
// written, and is then read as the same.
func FuzzUser(f *testing.F) {
	f.Add(`{"id":"7","name":null,"email":"","emailVerified":"2026-11-20T10:20:30.456Z","x":[1]}`)
	f.Add(`{"id":7,"emailVerified":"0001-01-01T00:00:00Z"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var first, second pintle.User
		if json.Unmarshal([]byte(text), &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", first, err)
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("%s cannot be read again: %v", written, err)
		}
		again, err := json.Marshal(second)
		if err != nil || !bytes.Equal(written, again) {
			t.Errorf("%s is written again as %s, %v", written, again, err)
		}
	})
}
