package mongostore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/pintleauth/pintle"
)

func TestAnIdHasOneForm(t *testing.T) {
	for id, want := range map[string]bool{
		someID: true, strings.ToUpper(someID): false, someID[1:]: false, someID + "0": false, "": false, "5a1bb0d2-4a6f-4e0a-9a4e-7a4d4d4c7d52": false,
		strings.Repeat("g", 24): false, strings.Repeat("\x00", 24): false,
	} {
		if o, ok := objectID(id); ok != want || ok && o.Hex() != id {
			t.Errorf("objectID(%q) = %v, %t, want %t", id, o, ok, want)
		}
		if kept := proposed(id).Hex() == id; kept != want {
			t.Errorf("proposed(%q) keeps it: %t, want %t", id, kept, want)
		}
	}
	if first, second := proposed(""), proposed(""); first == second {
		t.Error("two users have one id")
	}
}

func TestErrorsSayWhatTheyAreAndQuoteNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	duplicate := mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 11000, Message: `E11000 dup key: { sessionToken: "secret" }`}}}
	command := mongo.CommandError{Code: 11000, Message: `E11000 dup key: { email: "secret" }`}
	down := errors.New("connection refused")
	tests := []struct {
		name string
		ctx  context.Context // one of two in a table
		err  error
		want error
	}{
		{"no document", t.Context(), mongo.ErrNoDocuments, pintle.ErrNotFound},
		{"a duplicate", t.Context(), duplicate, pintle.ErrConflict},
		{"a duplicate of an update", t.Context(), command, pintle.ErrConflict},
		{"no server", t.Context(), down, down},
		{"no document, and the context has ended", ended, mongo.ErrNoDocuments, context.Canceled},
		{"no server, and the context has ended", ended, down, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := fail(tt.ctx, "find user", tt.err)
			if !errors.Is(err, tt.want) {
				t.Errorf("fail: got %v, want %v", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("fail: %v quotes the value", err)
			}
			answers := errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict)
			if wanted := errors.Is(tt.want, pintle.ErrNotFound) || errors.Is(tt.want, pintle.ErrConflict); answers != wanted {
				t.Errorf("fail: %v is an answer: %t, want %t", err, answers, wanted)
			}
		})
	}
}
