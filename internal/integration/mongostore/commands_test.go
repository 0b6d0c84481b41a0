package mongostore_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
)

// A recorder keeps the commands a client sends.
type recorder struct {
	mu       sync.Mutex
	commands []bson.Raw
}

func (r *recorder) monitor() *options.ClientOptions {
	return options.Client().SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.commands = append(r.commands, e.Command)
	}})
}

// sent returns the commands since the last time.
func (r *recorder) sent() []bson.Raw {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.commands
	r.commands = nil
	return sent
}

// SH-73: input of a client never becomes a part of a filter other than a text.
func TestClientInputIsAlwaysAText(t *testing.T) {
	var r recorder
	db := services.MongoDatabase(t, r.monitor())
	s := open(t, db)
	u, _ := whole(t, s)
	rows, ctx := s.AccountStore(), t.Context()
	for _, text := range []string{`{"$ne":null}`, `{"$gt":""}`, `$where`, `this.a || true`, `[$regex]`, `$$ROOT`} {
		flow := &accountstore.Flow{ID: sha256.Sum256([]byte(text)), Kind: text, Subject: text, Payload: text, Expires: time.Now()}
		r.sent()
		_, _, err := s.SessionAndUser(ctx, text)
		for i, err := range []error{
			err,
			errorOf(s.User(ctx, text)),
			errorOf(s.UserByEmail(ctx, text)),
			errorOf(s.UserByAccount(ctx, text, text)),
			errorOf(s.UpdateUser(ctx, u.ID, pintle.UserUpdate{Name: &text, Image: &text})),
			errorOf(s.Account(ctx, text, text)),
			s.UnlinkAccount(ctx, u.ID, text, text, nil),
			s.UpdateAccount(ctx, &pintle.Account{Provider: text, ProviderAccountID: text, AccessToken: text}),
			s.SwapAccount(ctx, &pintle.Account{Provider: text, ProviderAccountID: text, AccessToken: text}, text),
			s.LinkAccount(ctx, &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: text, ProviderAccountID: text, Scope: text}),
			s.UpdateSession(ctx, text, pintle.SessionUpdate{Data: map[string]any{text: text}}),
			errorOf(s.DeleteSession(ctx, text)),
			s.EndSession(ctx, u.ID, text),
			errorOf(s.EndUserSessions(ctx, u.ID, text)),
			s.CreateVerification(ctx, &pintle.Verification{Identifier: text, Token: text, Expires: time.Now()}),
			errorOf(s.UseVerification(ctx, text, text)),
			errorOf(s.Passkey(ctx, text)),
			s.UsePasskey(ctx, &pintle.Passkey{CredentialID: text}, 1),
			s.RenamePasskey(ctx, u.ID, text, text),
			s.DeletePasskey(ctx, u.ID, text),
			errorOf(rows.State(ctx, text)),
			rows.ChangeState(ctx, &accountstore.State{UserID: text, Roles: []string{text}, BanReason: text, Must: text, Claim: text}),
			errorOf(rows.CountFailure(ctx, text, time.Now(), time.Hour, 3)),
			rows.CountSuccess(ctx, text, time.Now()),
			errorOf(rows.Factors(ctx, text)),
			rows.AddFactor(ctx, &accountstore.Factor{UserID: text, Kind: text, ID: text, Secret: text, Name: text}),
			rows.ReplaceFactor(ctx, &accountstore.Factor{UserID: text, Kind: text, ID: text, Version: 1, Secret: text, Name: text}),
			rows.AdvanceFactor(ctx, text, text, text, 1, time.Now()),
			rows.DeleteFactor(ctx, text, text, text),
			errorOf(rows.DeleteFactors(ctx, text, []string{text}, []string{text})),
			rows.CreateFlow(ctx, flow),
			rows.ChangeFlow(ctx, flow),
			errorOf(rows.UseFlow(ctx, flow.ID, text)),
			errorOf(rows.EndFlows(ctx, text, text)),
			errorOf(rows.CountFlows(ctx, text, text, time.Now())),
		} {
			if err != nil && !errors.Is(err, pintle.ErrNotFound) && !errors.Is(err, pintle.ErrConflict) {
				t.Errorf("call %d with %q: %v", i, text, err)
			}
		}
		commands := r.sent()
		if len(commands) < 31 {
			t.Errorf("%d commands were sent, want one for each call that looks for the text", len(commands))
		}
		seen := 0
		for _, command := range commands {
			seen += texts(t, command, text)
		}
		if seen < 45 {
			t.Errorf("%q was in %d places, want more", text, seen)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// texts returns how often a document has a text as a value, and fails when it is
// the name of a member.
func texts(t *testing.T, document bson.Raw, text string) int {
	t.Helper()
	elements, err := document.Elements()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range elements {
		if strings.Contains(e.Key(), text) {
			t.Errorf("%q is the name of a member in %s", text, document)
		}
		value := e.Value()
		switch value.Type {
		case bson.TypeString:
			if value.StringValue() == text {
				n++
			}
		case bson.TypeEmbeddedDocument:
			n += texts(t, value.Document(), text)
		case bson.TypeArray:
			n += texts(t, bson.Raw(value.Array()), text)
		}
	}
	return n
}

// A session check is two look-ups, each by a field with a unique index.
func TestASessionCheckIsTwoLookUps(t *testing.T) {
	var r recorder
	db := services.MongoDatabase(t, r.monitor())
	s := open(t, db)
	whole(t, s)
	r.sent()
	if _, _, err := s.SessionAndUser(t.Context(), "t0"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, command := range r.sent() {
		got = append(got, command.Lookup("find").StringValue()+" "+command.Lookup("filter").String())
	}
	want := []string{`sessions {"sessionToken": "t0"}`, `users {"_id": {"$oid":"` + ada.ID + `"}}`}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("a session check sent %q, want %q", got, want)
	}
}
