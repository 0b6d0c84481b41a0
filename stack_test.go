package pintle_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
	"unsafe"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/provider"
	"github.com/pintleauth/pintle/store/memstore"
)

// stackHere is an address near the end of its caller's stack frame.
//
//go:noinline
func stackHere() uintptr {
	var here byte
	return uintptr(unsafe.Pointer(&here))
}

// A stackStore notes where the stack is when it is asked for a session.
type stackStore struct {
	pintle.Store
	at uintptr
}

func (s *stackStore) SessionAndUser(context.Context, string) (*pintle.StoredSession, *pintle.User, error) {
	s.at = stackHere()
	return &pintle.StoredSession{Token: "t", UserID: "1", Expires: time.Now().Add(time.Hour)}, &pintle.User{ID: "1", Name: "Ada"}, nil
}

// The goroutine of a connection of package net/http has a stack of 8 KB, which the drivers of
// databases nearly fill by themselves. If a session check makes it grow, the next garbage
// collection halves it again, and the growing costs more than the check.
func TestASessionCheckLeavesTheStackToTheDriver(t *testing.T) {
	most := uintptr(2600) // bytes; it takes 2360
	if testsite.Race {
		most += most / 2 // for what the detector adds
	}
	store := &stackStore{Store: memstore.New()}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider.GitHub(provider.Options{ClientID: "app", ClientSecret: "secret"})},
		Store:     store, Secrets: []string{benchSecret}, Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	check := auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if pintle.SessionFrom(r.Context()) == nil {
			t.Error("signed out")
		}
	}))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:3000/", nil)
	r.Header.Set("Cookie", "authjs.session-token=t")
	var used uintptr
	for range 2 { // the stack may move in the first round, but not in the second
		began := stackHere()
		check.ServeHTTP(httptest.NewRecorder(), r)
		used = began - store.at
	}
	t.Logf("%d bytes", used)
	if used > most {
		t.Errorf("the store is called %d bytes further down the stack, want at most %d", used, most)
	}
}
