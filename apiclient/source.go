package apiclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/pintleauth/pintle"
)

// ErrConsentRequired matches the error of a call for which the user has to agree to
// something at the provider: because the account lacks one of [Options].Scopes, or because
// the provider asks for it. [pintle.Auth.SignIn] with these Scopes sends the user there.
const ErrConsentRequired = pintle.Code("ConsentRequired")

// Options say which tokens are used, and where.
type Options struct {
	// Provider is the ID of the provider.
	Provider string

	// ProviderAccountID is the account at the provider. It may come from a form: the
	// account of another user is not found. Empty means the only one that the user has
	// there.
	ProviderAccountID string

	// Scopes are what the calls need. If the provider has reported which scopes it
	// granted and one of them is missing, calls fail with [ErrConsentRequired], and no
	// request is sent.
	Scopes []string

	// Origins are where the access token may go, such as "https://api.example.com": a
	// scheme, a host, and a port unless it is that of the scheme. The scheme is https, or
	// http on this machine. [New] requires one at least. [TokenSource] does not use them.
	Origins []string

	// Transport sends the requests. Nil means [http.DefaultTransport].
	Transport http.RoundTripper
}

// TokenSource returns the access token of a user, for a library that asks for one. Each
// call of Token asks [pintle.Auth.Refresh], which mostly reads the store, so the token is
// good for about a minute at least. It has no refresh token.
//
// The context is that of [pintle.Auth.Refresh]: with [pintle.NewFunc] it names the tenant,
// and when it ends the source fails. Errors are those of Refresh, and [ErrConsentRequired].
// A token that is bound to a key ([pintle.OAuth].DPoP) is an error, too: it needs [New].
//
// A client that [oauth2.NewClient] makes of it sends the token wherever a request or a
// redirect goes; prefer [New].
func TokenSource(ctx context.Context, auth *pintle.Auth, userID string, o Options) oauth2.TokenSource {
	return &bound{ctx, newSource(auth, userID, o)}
}

// A bound is a source with the context of its calls, which [oauth2.TokenSource] has no
// parameter for.
type bound struct {
	ctx    context.Context //nolint:containedctx // see above
	source *source
}

// Token implements [oauth2.TokenSource].
func (b *bound) Token() (*oauth2.Token, error) {
	account, err := b.source.account(b.ctx, "")
	if err != nil {
		return nil, err
	}
	if isBound(account) { // without a proof of its key no API accepts it
		return nil, fmt.Errorf("apiclient: the token of %s is bound to a key: use a client of New", account.Provider)
	}
	token := &oauth2.Token{AccessToken: account.AccessToken, TokenType: "Bearer"}
	if account.ExpiresAt != 0 {
		token.Expiry = time.Unix(account.ExpiresAt, 0)
	}
	return token, nil
}

// A source knows whose tokens are used. It keeps none.
type source struct {
	auth   *pintle.Auth
	asked  pintle.Account
	scopes []string
}

func newSource(auth *pintle.Auth, userID string, o Options) *source {
	return &source{
		auth, pintle.Account{UserID: userID, Provider: o.Provider, ProviderAccountID: o.ProviderAccountID}, slices.Clone(o.Scopes),
	}
}

// account returns the account with an access token other than a rejected one, unless the
// provider has just issued that.
func (s *source) account(ctx context.Context, rejected string) (*pintle.Account, error) {
	if s.asked.UserID == "" {
		return nil, errors.New("apiclient: the id of the user is empty: give the ID of the session's user")
	}
	ask := s.asked
	if rejected != "" {
		ask.AccessToken, ask.ExpiresAt = rejected, 1 // long ago
	}
	account, err := s.auth.Refresh(ctx, &ask)
	if err != nil {
		return nil, err
	}
	if missing := s.missing(account.Scope); len(missing) > 0 {
		return nil, &pintle.Error{
			Code: ErrConsentRequired, Provider: account.Provider,
			Err: fmt.Errorf("the user has not granted the scopes %q", missing),
		}
	}
	return account, nil
}

// missing returns the scopes that are needed and not granted. A provider that reports none
// has granted what was asked for, or what it liked.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.1
func (s *source) missing(granted string) (missing []string) {
	// GitHub and others separate them by commas.
	have := strings.FieldsFunc(granted, func(r rune) bool { return r == ' ' || r == ',' })
	if len(have) == 0 {
		return nil
	}
	for _, scope := range s.scopes {
		if !slices.Contains(have, scope) {
			missing = append(missing, scope)
		}
	}
	return missing
}
