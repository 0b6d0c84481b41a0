package pintle_test

import (
	"context"
	"fmt"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// A userStore has the six methods that each store has to have, and no others.
type userStore struct {
	pintle.UnimplementedStore
	rows *memstore.Store
}

func (s userStore) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	return s.rows.CreateUser(ctx, u)
}

func (s userStore) User(ctx context.Context, id string) (*pintle.User, error) {
	return s.rows.User(ctx, id)
}

func (s userStore) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	return s.rows.UserByEmail(ctx, email)
}

func (s userStore) UserByAccount(ctx context.Context, provider, providerAccountID string) (*pintle.User, error) {
	return s.rows.UserByAccount(ctx, provider, providerAccountID)
}

func (s userStore) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	return s.rows.UpdateUser(ctx, id, change)
}

func (s userStore) LinkAccount(ctx context.Context, a *pintle.Account) error {
	return s.rows.LinkAccount(ctx, a)
}

// The error of New names the feature that a configuration needs and the store
// lacks.
func ExampleUnimplementedStore() {
	_, err := pintle.New(pintle.Config{
		URL:     "https://app.example.com",
		Secrets: []string{"at least thirty-two characters of randomness"},
		Store:   userStore{rows: memstore.New()},
		Session: pintle.SessionConfig{Strategy: pintle.StrategyDatabase},
		Providers: []pintle.Provider{
			&pintle.OAuth{ID: "example", Protocol: oauth.OIDC, Issuer: "https://id.example.com", ClientID: "app", ClientSecret: "secret"},
		},
	})
	fmt.Println(err)
	// Output: pintle: MissingAdapterMethods: StrategyDatabase in Config.Session.Strategy needs pintle.Features.Sessions, which Config.Store, a pintle_test.userStore, does not have: use a store that has it
}
