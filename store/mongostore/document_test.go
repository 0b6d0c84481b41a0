package mongostore

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/pintleauth/pintle"
)

// These are documents as Auth.js and its adapter, in this version and earlier
// ones, have written them.

func read[T any](t *testing.T, extJSON string) *T {
	t.Helper()
	var m bson.D
	if err := bson.UnmarshalExtJSON([]byte(extJSON), false, &m); err != nil {
		t.Fatal(err)
	}
	data, err := bson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var document T
	if err := bson.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	return &document
}

const someID = "65a0f0c2e4b0a1b2c3d4e5f6" // of 2024-01-12T08:06:58Z

func TestUsersAreReadAsOthersWriteThem(t *testing.T) {
	at := time.UnixMilli(1767323045678).UTC()
	tests := []struct {
		name, document string
		want           pintle.User
	}{
		{
			"everything", `{"_id":{"$oid":"` + someID + `"},"name":"Ada","email":"a@b.c","emailVerified":{"$date":"2026-01-02T03:04:05.678Z"},"image":"i","role":"x"}`,
			pintle.User{ID: someID, Name: "Ada", Email: "a@b.c", EmailVerified: at, Image: "i", Extra: map[string]any{"role": "x"}},
		},
		{"nothing", `{"_id":{"$oid":"` + someID + `"}}`, pintle.User{ID: someID}},
		{"nulls", `{"_id":{"$oid":"` + someID + `"},"name":null,"email":null,"emailVerified":null,"image":null}`, pintle.User{ID: someID}},
		{"the id twice", `{"_id":{"$oid":"` + someID + `"},"id":"` + someID + `","name":"Ada"}`, pintle.User{ID: someID, Name: "Ada"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := read[userDocument](t, tt.document).user()
			if diff := cmp.Diff(&tt.want, got, cmpopts.IgnoreUnexported(pintle.User{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAccountsAreReadAsOthersWriteThem(t *testing.T) {
	const who = `"_id":{"$oid":"` + someID + `"},"userId":{"$oid":"` + someID + `"},"type":"oauth","provider":"p","providerAccountId":"1"`
	base := pintle.Account{ID: someID, UserID: someID, Type: pintle.TypeOAuth, Provider: "p", ProviderAccountID: "1"}
	tests := []struct {
		name, rest string
		want       func(*pintle.Account)
	}{
		{"no tokens", ``, func(*pintle.Account) {}},
		{"nulls", `,"access_token":null,"expires_at":null,"refresh_token_expires_in":null`, func(*pintle.Account) {}},
		{"32 bits", `,"expires_at":2592000`, func(a *pintle.Account) { a.ExpiresAt = 2592000 }},
		{"a double, after 2038", `,"expires_at":{"$numberDouble":"4102542245"}`, func(a *pintle.Account) { a.ExpiresAt = 4102542245 }},
		{"no number", `,"expires_at":"soon"`, func(a *pintle.Account) { a.Extra = map[string]any{"expires_at": "soon"} }},
		{"a scope that is a list", `,"scope":["a","b"],"access_token":"t"`, func(a *pintle.Account) {
			a.AccessToken, a.Extra = "t", map[string]any{"scope": []any{"a", "b"}}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := base
			tt.want(&want)
			if diff := cmp.Diff(&want, read[accountDocument](t, "{"+who+tt.rest+"}").account()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSessionsAreReadAsOthersWriteThem(t *testing.T) {
	const who = `"_id":{"$oid":"` + someID + `"},"sessionToken":"t","userId":{"$oid":"` + someID + `"},"expires":{"$date":"2026-01-02T03:04:05.678Z"}`
	tests := []struct {
		name, rest string
		created    time.Time
	}{
		{"Auth.js, which leaves the beginning to the id", ``, time.Unix(0x65a0f0c2, 0)},
		{"a session whose beginning is not known", `,"created":null`, time.Time{}},
		{"a session of this package", `,"created":{"$date":"2026-01-02T03:04:05.678Z"}`, time.UnixMilli(1767323045678)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := read[sessionDocument](t, "{"+who+tt.rest+"}").session()
			if err != nil {
				t.Fatal(err)
			}
			if !s.Created.Equal(tt.created) || s.Expires.UnixMilli() != 1767323045678 || s.UserID != someID || s.Token != "t" || s.Data != nil {
				t.Errorf("got %+v, want it to have begun at %v", s, tt.created)
			}
		})
	}
	if _, err := read[sessionDocument](t, "{"+who+`,"data":"{"}`).session(); err == nil || !strings.Contains(err.Error(), "data") {
		t.Errorf("data that is no JSON: %v, want an error that names it", err)
	}
}

func TestACounterOfMoreThan32BitsIsAnError(t *testing.T) {
	for _, counter := range []int64{-1, 1 << 32} {
		if a, err := (&authenticatorDocument{Counter: counter}).authenticator(); err == nil {
			t.Errorf("the counter %d became %d", counter, a.Counter)
		}
	}
}
