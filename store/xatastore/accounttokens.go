package xatastore

import (
	"context"
	"slices"

	"github.com/pintleauth/pintle"
)

// A tokenColumn is a column of accounts and the field that is in it.
type tokenColumn struct {
	name  string
	field func(*pintle.Account) *string
}

var (
	tokenColumns = []tokenColumn{
		{"access_token", func(a *pintle.Account) *string { return &a.AccessToken }},
		{"refresh_token", func(a *pintle.Account) *string { return &a.RefreshToken }},
		{"id_token", func(a *pintle.Account) *string { return &a.IDToken }},
		{"token_type", func(a *pintle.Account) *string { return &a.TokenType }},
		{"scope", func(a *pintle.Account) *string { return &a.Scope }},
		{"session_state", func(a *pintle.Account) *string { return &a.SessionState }},
	}

	// Those that Auth.js's tables have not.
	extendedTokenColumns = []tokenColumn{
		{"oauth_token", func(a *pintle.Account) *string { return &a.OAuthToken }},
		{"oauth_token_secret", func(a *pintle.Account) *string { return &a.OAuthTokenSecret }},
	}
)

func (s *Store) tokenColumns() []tokenColumn {
	if s.client.Extended {
		return append(slices.Clip(tokenColumns), extendedTokenColumns...)
	}
	return tokenColumns
}

// tokens are the columns that a token response replaces.
func (s *Store) tokens(a *pintle.Account) (record, error) {
	fields := record{"expires_at": nil}
	if a.ExpiresAt != 0 {
		fields["expires_at"] = a.ExpiresAt
	}
	for _, c := range s.tokenColumns() {
		text := *c.field(a)
		if err := storableText(text); err != nil {
			return nil, err
		}
		fields[c.name] = textOrNull(text)
	}
	if !s.client.Extended {
		return fields, nil
	}
	var err error
	fields["extra"], err = objectText(a.Extra)
	return fields, err
}

// account takes a record of an account apart.
func (s *Store) account(r record, userID string) (*pintle.Account, error) {
	c := &reader{record: r}
	a := &pintle.Account{
		UserID: userID, Type: pintle.ProviderType(c.text("type")),
		Provider: c.text("provider"), ProviderAccountID: c.text("providerAccountId"), ExpiresAt: c.integer("expires_at"),
	}
	for _, column := range s.tokenColumns() {
		*column.field(a) = c.text(column.name)
	}
	if s.client.Extended {
		a.VerifiedEmail, a.Extra = c.text("verified_email"), c.object("extra")
	}
	if c.err != nil {
		return nil, c.err
	}
	return a, nil
}

// UpdateAccount implements [pintle.AccountStore].
func (s *Store) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	found, err := s.find(ctx, a.Provider, a.ProviderAccountID)
	if err != nil {
		return fail(ctx, "update account", err)
	}
	fields, err := s.tokens(a)
	if err != nil {
		return fail(ctx, "update account", err)
	}
	_, err = s.client.update(ctx, s.names.accounts, found.record, fields)
	if none, _ := missing(err); none {
		return pintle.ErrNotFound
	}
	return fail(ctx, "update account", err)
}
