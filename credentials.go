package pintle

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/pintleauth/pintle/pages"
)

// Credentials is a provider that checks what a person typed into a form: a
// password in the host's own table, a directory, a one-time code.
type Credentials struct {
	// ID is the provider's name in URLs. Empty means "credentials".
	ID string

	// Name is shown to people. Empty means "Credentials".
	Name string

	// Fields are the inputs of the form on the sign-in page. Nil means a user
	// name and a password; an empty list shows no form.
	Fields []Field

	// Authorize checks what was submitted. It returns the user, or nil when the
	// submission is wrong. An [*Error] with [CodeCredentials] chooses the code
	// on the sign-in page; any other error is shown to the user as a fault of
	// the application.
	//
	// It is called for every attempt: package throttle limits them.
	Authorize func(ctx context.Context, c *Submission) (*User, error)

	// Account names the account that a submission is for, so that package
	// throttle counts guesses at an account once, however it is named: by its
	// address or by its user name. It runs before Authorize and must not depend
	// on the password. An empty name means that there is no such account:
	// guesses are then counted by what was typed. An error is a fault of the
	// application, and Authorize does not run. Nil counts by what was typed.
	//
	// If an account has several names, a client that has guessed at one name
	// and is rejected for another learns that both belong to one account.
	Account func(ctx context.Context, c *Submission) (string, error)

	// CanSignIn reports whether a stored user can sign in here: whether they have
	// set a password. [Auth.Unlink] calls it before it removes their last
	// account; nil counts as no. The first mail to an address that the user has
	// not proven calls it too, before the mail signs in as that user; nil
	// counts as yes, and the reader of the mail has to answer whose account it
	// is.
	CanSignIn func(ctx context.Context, u *User) (bool, error)

	// Limited says that Authorize limits attempts, and counts them in the shared state of the
	// site. Package throttle sets it. It changes nothing but what [New] logs without a shared
	// state.
	Limited bool

	// AccountField is the name of the field by which a provider that is Limited counts attempts
	// at an account for which Account has no name. Package throttle sets it. [New] rejects a
	// name that Fields do not have: all attempts would count as attempts at one account. An
	// empty list of Fields may have any, and so may nil with a page of the host in
	// [Pages].SignIn.
	AccountField string

	Style pages.Style
}

// A Submission is what a person sent to a [Credentials] provider.
type Submission struct {
	// Fields are all members of the body, by their names. From a form they are
	// text; from JSON they may be anything encoding/json makes, with
	// json.Number for numbers.
	Fields map[string]any

	// Request is the request. Its body has been read.
	Request *http.Request

	// Client is the address of the client, as [Config.ClientAddress] has it. It
	// may be invalid.
	Client netip.Addr

	x     *exchange // nil in tests of the host's
	lines []string  // of SetCookie
}

// Text returns the named field if it is text, and otherwise the empty string.
func (s *Submission) Text(name string) string {
	text, _ := s.Fields[name].(string)
	return text
}

func (p *Credentials) base() providerBase {
	return providerBase{id: cmp.Or(p.ID, "credentials"), name: cmp.Or(p.Name, "Credentials"), kind: TypeCredentials}
}

// fields are the inputs of the form.
func (p *Credentials) fields() []Field {
	if p.Fields != nil {
		return p.Fields
	}
	return []Field{
		{Name: "username", Label: "Username", Attributes: map[string]string{"autocomplete": "username"}},
		{Name: "password", Label: "Password", Type: "password", Attributes: map[string]string{"autocomplete": "current-password"}},
	}
}

// checkAccountField rejects limits that would count the attempts of all users together.
// ownPage says that the sign-in page is the host's.
func (p *Credentials) checkAccountField(ownPage bool) *Error {
	fields := p.fields()
	if ownPage && p.Fields == nil {
		fields = nil
	}
	switch {
	case !p.Limited, p.AccountField == "" && p.Account != nil:
		return nil
	case p.AccountField != "" && len(fields) == 0: // only the host knows the form
		return nil
	case p.AccountField != "" && slices.ContainsFunc(fields, func(f Field) bool { return f.Name == p.AccountField }):
		return nil
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = strconv.Quote(f.Name)
	}
	has := "Fields have " + strings.Join(names, " and ")
	if len(names) == 0 {
		has = "there are no Fields"
	}
	return &Error{Code: CodeConfiguration, Provider: p.base().id, Err: fmt.Errorf("attempts are counted by the field %q, and %s: "+
		"all users would share one limit; give Guard.Credentials the field that names the account, or list it in Fields", p.AccountField, has)}
}

// cookieLines returns the Set-Cookie lines of SetCookie. The submission may be nil.
func (s *Submission) cookieLines() []string {
	if s == nil {
		return nil
	}
	return s.lines
}
