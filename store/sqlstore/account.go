package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/pintleauth/pintle"
)

// An accountRow is an account as a row is read into it.
type accountRow struct {
	id, owner         idText
	kind              string
	provider, account string
	verifiedEmail     sql.NullString
	texts             map[string]*sql.NullString // the tokens, by column
	expires           sql.NullInt64
	state             jsonValue
	extra             object
	more              []anyColumn
}

// dest is where the columns go, in the order of [builder.accounts].
func (a *accountRow) dest(r records) []any {
	t := r.tables.accounts
	a.texts = make(map[string]*sql.NullString)
	dest := append(make([]any, 0, 16), &a.owner, &a.kind, &a.provider, &a.account)
	dest = t.optional(dest, []optionalColumn{{"verifiedEmail", &a.verifiedEmail}, {"id", &a.id}})
	a.state.isText = !r.tables.jsonState
	for _, column := range tokenColumns {
		switch {
		case !t.has(column):
		case column == "expires_at":
			dest = append(dest, &a.expires)
		case column == "session_state":
			dest = append(dest, &a.state)
		case column == "extra":
			dest = append(dest, &a.extra)
		default:
			a.texts[column] = new(sql.NullString)
			dest = append(dest, a.texts[column])
		}
	}
	a.more = make([]anyColumn, len(t.extra))
	for i := range a.more {
		dest = append(dest, &a.more[i])
	}
	return dest
}

// tokenText is the field of an account that a column holds.
func tokenText(a *pintle.Account, column string) *string {
	switch column {
	case "access_token":
		return &a.AccessToken
	case "refresh_token":
		return &a.RefreshToken
	case "id_token":
		return &a.IDToken
	case "token_type":
		return &a.TokenType
	case "scope":
		return &a.Scope
	case "oauth_token":
		return &a.OAuthToken
	case "oauth_token_secret":
		return &a.OAuthTokenSecret
	}
	return nil
}

func (a *accountRow) read(r records) *pintle.Account {
	account := &pintle.Account{
		ID: string(a.id), UserID: string(a.owner), SessionState: a.state.value, Type: pintle.ProviderType(a.kind), Provider: a.provider, ProviderAccountID: a.account,
		VerifiedEmail: a.verifiedEmail.String, ExpiresAt: a.expires.Int64, Extra: withColumns(a.extra, r.tables.accounts.Extra, a.more),
	}
	for column, text := range a.texts {
		*tokenText(account, column) = text.String
	}
	return account
}

// tokens returns the values of the columns that a token response replaces, and
// which further columns are among them.
func (r records) tokens(a *pintle.Account) (values []any, given []int, err error) {
	t := r.tables.accounts
	rest, given, further := withoutColumns(a.Extra, t.Extra)
	for _, column := range tokenColumns {
		switch {
		case !t.has(column):
		case column == "expires_at":
			values = append(values, sql.NullInt64{Int64: a.ExpiresAt, Valid: a.ExpiresAt != 0})
		case column == "session_state":
			state, err := stateColumn(a.SessionState, r.tables.jsonState)
			if err != nil {
				return nil, nil, fmt.Errorf("encode SessionState: %w", err)
			}
			values = append(values, state)
		case column == "extra":
			extra, err := rest.column()
			if err != nil {
				return nil, nil, fmt.Errorf("encode Extra: %w", err)
			}
			values = append(values, extra)
		default:
			text := *tokenText(a, column)
			if !storable(text) {
				return nil, nil, fmt.Errorf("%s: %w", column, errNotText)
			}
			values = append(values, nullable(text))
		}
	}
	return append(values, further...), given, nil
}

// stateColumn returns what the column session_state holds: JSON, or in tables
// shared with Auth.js a text, which is the JSON of what is no text.
func stateColumn(state any, asJSON bool) (any, error) {
	text, isText := state.(string)
	switch {
	case state == nil:
		return nil, nil // nil is the column's NULL
	case !storable(text):
		return nil, errNotText
	case isText && !asJSON:
		return nullable(text), nil
	}
	encoded, err := json.Marshal(state)
	return string(encoded), err
}

// LinkAccount implements [pintle.Store].
func (r records) LinkAccount(ctx context.Context, a *pintle.Account) error {
	owner, ok := r.tables.Users.ID.column(a.UserID)
	if !ok {
		return r.absent(ctx)
	}
	if !storable(string(a.Type), a.Provider, a.ProviderAccountID, a.VerifiedEmail) {
		return r.fail(ctx, "link account", errNotText)
	}
	tokens, given, err := r.tokens(a)
	if err != nil {
		return r.fail(ctx, "link account", err)
	}
	t := r.tables.accounts
	args := t.optional([]any{owner, string(a.Type), a.Provider, a.ProviderAccountID}, []optionalColumn{{"verifiedEmail", nullable(a.VerifiedEmail)}})
	args = append(args, tokens...)
	if t.makesID() {
		args = append(args, t.ID.propose(""))
	}
	return r.createOwned(ctx, "link account", r.including(given, r.sql.linkAccount, builder.linkAccount), r.touched(t, args)...)
}

// createOwned writes a row that belongs to a user. It fails with ErrNotFound
// when there is no such user.
func (r records) createOwned(ctx context.Context, operation string, s *statement, args ...any) error {
	n, err := r.exec(ctx, s, args...)
	if err == nil && n == 0 {
		return r.absent(ctx)
	}
	return r.fail(ctx, operation, err)
}

// Account implements [pintle.Store].
func (r records) Account(ctx context.Context, provider, providerAccountID string) (*pintle.Account, error) {
	if !storable(provider, providerAccountID) {
		return nil, r.absent(ctx)
	}
	var row accountRow
	if err := r.one(ctx, row.dest(r), r.sql.account, provider, providerAccountID); err != nil {
		return nil, r.fail(ctx, "find account", err)
	}
	return row.read(r), nil
}

// UserAccounts implements [pintle.Store].
func (r records) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	owner, ok := r.tables.Users.ID.column(userID)
	if !ok {
		return nil, ctx.Err()
	}
	var accounts []*pintle.Account
	err := r.each(ctx, func(scan func(...any) error) error {
		var row accountRow
		if err := scan(row.dest(r)...); err != nil {
			return err
		}
		accounts = append(accounts, row.read(r))
		return nil
	}, r.sql.userAccounts, owner)
	return accounts, r.fail(ctx, "list accounts", err)
}

// each calls f for every row of a query.
func (r records) each(ctx context.Context, f func(scan func(...any) error) error, s *statement, args ...any) error {
	ctx, cancel := withStatementTimeout(ctx)
	defer cancel()
	rows, err := r.query(ctx, s, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// UpdateAccount implements [pintle.Store]. Further columns that Extra has
// no value for stay.
func (r records) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	if !storable(a.Provider, a.ProviderAccountID) {
		return r.absent(ctx)
	}
	tokens, given, err := r.tokens(a)
	if err != nil {
		return r.fail(ctx, "update account", err)
	}
	args := append([]any{a.Provider, a.ProviderAccountID}, tokens...)
	n, err := r.exec(ctx, r.including(given, r.sql.updateAccount, builder.updateAccount), r.touched(r.tables.accounts, args)...)
	if err == nil && n == 0 {
		// MySQL does not count a row that had the values already.
		_, err = r.Account(ctx, a.Provider, a.ProviderAccountID)
		return err
	}
	return r.fail(ctx, "update account", err)
}

// SwapAccount implements [pintle.Store]. Further columns that Extra has no value for
// stay.
func (r records) SwapAccount(ctx context.Context, a *pintle.Account, old string) error {
	switch {
	case !storable(a.Provider, a.ProviderAccountID):
		return r.absent(ctx)
	case !storable(old):
		old = errNotText.Error() // no token
	}
	tokens, given, err := r.tokens(a)
	if err != nil {
		return r.fail(ctx, "swap account", err)
	}
	args := append([]any{a.Provider, a.ProviderAccountID, old}, tokens...)
	n, err := r.exec(ctx, r.including(given, r.sql.swapAccount, builder.swapAccount), r.touched(r.tables.accounts, args)...)
	if err != nil || n > 0 {
		return r.fail(ctx, "swap account", err)
	}
	found, err := r.Account(ctx, a.Provider, a.ProviderAccountID)
	switch {
	case err != nil:
		return err
	case found.RefreshToken == old && old == a.RefreshToken:
		return nil // MySQL does not count a row that was so already
	}
	return fmt.Errorf("sqlstore: swap account: the refresh token is another: %w", pintle.ErrConflict)
}

// errNothingKept is the conflict of UnlinkAccount that a retry does not resolve.
var errNothingKept = fmt.Errorf("sqlstore: unlink account: no account to keep is linked: %w", pintle.ErrConflict)

// UnlinkAccount implements [pintle.Store], in a transaction.
func (r records) UnlinkAccount(ctx context.Context, userID, provider, providerAccountID string, keepOneOf []*pintle.Account) error {
	owner, ok := r.tables.Users.ID.column(userID)
	if !ok || !storable(provider, providerAccountID) {
		return r.absent(ctx)
	}
	removed := &pintle.Account{Provider: provider, ProviderAccountID: providerAccountID}
	return r.untilNoRace(ctx, "unlink account", func(r records) error { return r.unlinkAccount(ctx, owner, removed, keepOneOf) })
}

func (r records) unlinkAccount(ctx context.Context, owner any, removed *pintle.Account, keepOneOf []*pintle.Account) error {
	// Calls for one user wait for one another: what the first removed is not
	// there for the second to keep.
	if err := r.lockUser(ctx, owner); err != nil {
		return r.fail(ctx, "unlink account", err)
	}
	kind, err := r.ownAccount(ctx, owner, removed)
	if err != nil {
		return r.fail(ctx, "unlink account", err)
	}
	if keepOneOf != nil {
		if err := r.keepsOneOf(ctx, owner, removed, keepOneOf); err != nil {
			return r.fail(ctx, "unlink account", err)
		}
	}
	if kind == string(pintle.TypeWebAuthn) && r.tables.authenticators != nil {
		if _, err := r.exec(ctx, r.sql.deleteAuthenticator, owner, removed.ProviderAccountID); err != nil {
			return r.fail(ctx, "unlink account: passkey", err)
		}
	}
	n, err := r.exec(ctx, r.sql.unlinkAccount, owner, removed.Provider, removed.ProviderAccountID)
	if err == nil && n == 0 {
		return pintle.ErrNotFound
	}
	return r.fail(ctx, "unlink account", err)
}

// keepsOneOf fails with errNothingKept unless a user has one of accounts beside
// the one that is removed.
func (r records) keepsOneOf(ctx context.Context, owner any, removed *pintle.Account, accounts []*pintle.Account) error {
	for _, a := range accounts {
		if a.Provider == removed.Provider && a.ProviderAccountID == removed.ProviderAccountID || !storable(a.Provider, a.ProviderAccountID) {
			continue
		}
		if _, err := r.ownAccount(ctx, owner, a); !missing(err) {
			return err
		}
	}
	return errNothingKept
}

// ownAccount returns the type of an account of a user. It fails with
// [sql.ErrNoRows] when the user has no such account.
func (r records) ownAccount(ctx context.Context, owner any, a *pintle.Account) (kind string, err error) {
	err = r.one(ctx, []any{&kind}, r.sql.ownAccount, owner, a.Provider, a.ProviderAccountID)
	return kind, err
}
