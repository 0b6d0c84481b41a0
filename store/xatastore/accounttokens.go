package xatastore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pintleauth/pintle"
)

// A tokenColumn is a column of accounts and the field that is in it.
type tokenColumn struct {
	name  string
	field func(*pintle.Account) *string
}

// stateColumn is a column of text, which Auth.js reads. A value of another kind is
// in it as JSON, and in an extended database among the extra members too, from
// where it reads back as what it was.
const stateColumn = "session_state"

var (
	tokenColumns = []tokenColumn{
		{"access_token", func(a *pintle.Account) *string { return &a.AccessToken }},
		{"refresh_token", func(a *pintle.Account) *string { return &a.RefreshToken }},
		{"id_token", func(a *pintle.Account) *string { return &a.IDToken }},
		{"token_type", func(a *pintle.Account) *string { return &a.TokenType }},
		{"scope", func(a *pintle.Account) *string { return &a.Scope }},
	}

	// Columns that the tables of Auth.js do not have.
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
	state, isText := a.SessionState.(string)
	extra := a.Extra
	if a.SessionState != nil && !isText {
		text, err := json.Marshal(a.SessionState)
		if err != nil {
			return nil, fmt.Errorf("encode SessionState: %w", err)
		}
		state = string(text)
		extra = maps.Clone(extra)
		if extra == nil {
			extra = map[string]any{}
		}
		extra[stateColumn] = a.SessionState
	} else if _, said := extra[stateColumn]; said {
		extra = maps.Clone(extra)
		delete(extra, stateColumn)
	}
	if err := storableText(state); err != nil {
		return nil, err
	}
	fields[stateColumn] = textOrNull(state)
	if !s.client.Extended {
		return fields, nil
	}
	var err error
	fields["extra"], err = objectText(extra)
	return fields, err
}

// account takes a record of an account apart.
func (s *Store) account(r record, userID string) (*pintle.Account, error) {
	c := &reader{record: r}
	a := &pintle.Account{
		ID: r.id(), UserID: userID, Type: pintle.ProviderType(c.text("type")),
		Provider: c.text("provider"), ProviderAccountID: c.text("providerAccountId"), ExpiresAt: c.integer("expires_at"),
	}
	for _, column := range s.tokenColumns() {
		*column.field(a) = c.text(column.name)
	}
	if state := c.text(stateColumn); state != "" {
		a.SessionState = state
	}
	if s.client.Extended {
		a.VerifiedEmail, a.Extra = c.text("verified_email"), c.object("extra")
		if state, other := a.Extra[stateColumn]; other {
			a.SessionState = state
			delete(a.Extra, stateColumn)
		}
		if len(a.Extra) == 0 {
			a.Extra = nil
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	return a, nil
}

// UpdateAccount implements [pintle.Store].
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
