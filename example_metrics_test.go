package pintle_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A measuredStore reports how long the look-ups of sessions take. All other
// methods, and the features, are those of the store that it embeds.
type measuredStore struct {
	pintle.Store
	observe func(time.Duration)
}

// SessionAndUser replaces that of the embedded store.
func (s measuredStore) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	began := time.Now()
	defer func() { s.observe(time.Since(began)) }()
	return s.Store.SessionAndUser(ctx, token)
}

// InTx wraps the store of the transaction as well.
func (s measuredStore) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return f(measuredStore{tx, s.observe}) })
}

// A store is measured by a type that embeds it and replaces a method.
func ExampleStore() {
	lookups := 0
	store := measuredStore{memstore.New(), func(time.Duration) { lookups++ }} // or a histogram of the metrics library
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Email{Send: func(context.Context, *pintle.Message) error { return nil }}},
		Store:     store,
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Getenv:    func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	app := auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println("signed in:", pintle.SessionFrom(r.Context()) != nil)
	}))

	// Kim is signed in.
	ctx := context.Background()
	kim, err := store.CreateUser(ctx, &pintle.User{ID: "7", Name: "Kim"})
	if err != nil {
		log.Fatal(err)
	}
	err = store.CreateSession(ctx, &pintle.StoredSession{Token: "random", UserID: kim.ID, Expires: time.Now().Add(time.Hour)})
	if err != nil {
		log.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost:3000/", nil)
	app.ServeHTTP(httptest.NewRecorder(), r)
	r.AddCookie(&http.Cookie{Name: "authjs.session-token", Value: "random"})
	app.ServeHTTP(httptest.NewRecorder(), r)
	err = store.InTx(ctx, func(tx pintle.Store) error {
		_, _, err := tx.SessionAndUser(ctx, "random")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("look-ups:", lookups)
	// Output:
	// signed in: false
	// signed in: true
	// look-ups: 2
}
