package adapters_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// endsAndExtends has one side end a session while the other extends it. Ended it
// stays, or a browser that signed out would be signed in again (SH-86).
func (s *shared) endsAndExtends(t *testing.T) {
	created, err := s.pintle.CreateUser(t.Context(), &pintle.User{ID: proposedID(), Email: "ended@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().Truncate(time.Second)
	create := func(token string) map[string]any {
		session := pintle.StoredSession{Token: token, UserID: created.ID, Expires: began.Add(time.Hour)}
		if err := s.pintle.CreateSession(t.Context(), &session); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"sessionToken": token, "expires": date(began.Add(2 * time.Hour))}
	}
	for n := range 20 {
		token := fmt.Sprintf("extended by Pintle %d", n)
		create(token)
		ended := s.authjs.start("deleteSession", token)
		err := s.pintle.UpdateSession(t.Context(), token, pintle.SessionUpdate{Expires: began.Add(2 * time.Hour)})
		if err != nil && !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("UpdateSession while the session ends: %v", err)
		}
		if answer := <-ended; answer.Error != "" {
			t.Errorf("deleteSession while the session is extended: %s", answer.Error)
		}
		s.isOver(t, token)

		if s.layout.Dialect == 0 {
			continue // these adapters write back the row that they have read
		}
		token = fmt.Sprintf("extended by Auth.js %d", n)
		extended := s.authjs.start("updateSession", create(token))
		if _, err := s.pintle.DeleteSession(t.Context(), token); err != nil {
			t.Errorf("DeleteSession while the session is extended: %v", err)
		}
		<-extended // some adapters return an error for a missing session
		s.isOver(t, token)
	}
}

func (s *shared) isOver(t *testing.T, token string) {
	t.Helper()
	if _, _, err := s.pintle.SessionAndUser(t.Context(), token); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("SessionAndUser of a session that ended: %v, want ErrNotFound", err)
	}
	if found := s.authjs.call(t, "getSessionAndUser", token); !nothing(found) {
		t.Errorf("getSessionAndUser of a session that ended: %v, want null", found)
	}
}
