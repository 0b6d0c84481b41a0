package pintle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/uuid"
)

// A formFlow is a sign-in with what was typed into a form of this site, which the
// host checks.
type formFlow struct {
	providerBase
	form *Credentials
}

// newFormFlow completes a provider. ownPage says that the sign-in page is the host's.
func newFormFlow(own Credentials, ownPage bool) (*provider, *Error) {
	f := &formFlow{own.base(), &own}
	p := &provider{f.providerBase, f, facts{hostUsers: true}}
	if own.CanSignIn != nil {
		p.knows = f.knows
	}
	if own.Limited {
		p.decides = append(p.decides, limitsOfAttempts)
	}
	if own.Authorize == nil {
		return p, &Error{
			Code: codeMissingAuthorize, Provider: p.id,
			Err: errors.New("Credentials.Authorize is nil: set it to a function that checks what was submitted"),
		}
	}
	return p, own.checkAccountField(ownPage)
}

// begin shows the form: what is typed into it goes to the callback route.
func (f *formFlow) begin(x *exchange) error { return x.toForm() }

// finish has the host check what was typed.
func (f *formFlow) finish(x *exchange) (*arrival, error) {
	if err := x.requirePost(); err != nil {
		return nil, err
	}
	if err := x.requireCSRF(); err != nil {
		return nil, err
	}
	submission := &Submission{Fields: x.body.All(), Request: x.r, Client: x.clientAddress(x.r), x: x}
	user, err := f.form.Authorize(x.counting(), submission)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, &Error{Code: CodeCredentials, Provider: f.id}
	}
	x.debug("Authorize returned a user")
	user = user.clone()
	if user.ID == "" {
		user.ID = uuid.New()
	}
	return &arrival{
		by: byHost, user: user, submission: submission,
		account:        &Account{Type: TypeCredentials, Provider: f.id, ProviderAccountID: user.ID},
		authentication: Authentication{Methods: []string{methodPassword}, Proofs: x.proofs},
		// The form token is that of this browser. Without the check any site could
		// have posted the form.
		fromHere: x.csrfVerified && !x.DangerouslySkipCSRFCheck,
	}, nil
}

func (f *formFlow) describe(x *exchange, entry page.Provider) page.Provider {
	entry.Action = x.formAction("/callback/" + f.id)
	entry.Fields = pageFields(f.form.fields())
	return entry
}

// knows reports whether a stored user can sign in with the form.
func (f *formFlow) knows(ctx context.Context, user *User) (bool, error) {
	known, err := f.form.CanSignIn(ctx, user.clone())
	if err != nil {
		return false, &Error{Code: CodeConfiguration, Provider: f.id, Err: fmt.Errorf("Credentials.CanSignIn: %w", err)}
	}
	return known, nil
}

// SetCookie keeps a value in the browser for maxAge, for [Submission.Cookie] of
// later submissions to read: that a person has signed in from this browser
// before, for example. The cookie is sent when the sign-in has succeeded, and not
// at all when it fails.
//
// The value is encrypted and authenticated with [Config.Secrets], under name: the
// browser can neither read nor change it, nor move it to another name, and it
// stays readable while its secret is in the list. The cookie has the attributes
// HttpOnly, SameSite=Lax and Path=/. Where cookies are secure, it has the
// attribute Secure and "__Host-" before its name. A copy of the cookie is as good
// as the cookie.
//
// It fails when name cannot be the name of a cookie, when value has more than 2048
// bytes and when maxAge is less than a second.
func (s *Submission) SetCookie(name, value string, maxAge time.Duration) error {
	if s.x == nil {
		return nil // a submission of a test, without a browser
	}
	kept, box, err := s.cookie(name, maxAge)
	switch {
	case err != nil:
		return fmt.Errorf("pintle: Submission.SetCookie: %w", err)
	case len(value) > maxKeptValue:
		return fmt.Errorf("pintle: Submission.SetCookie: the value has %d bytes, at most %d fit", len(value), maxKeptValue)
	case maxAge < time.Second:
		return errors.New("pintle: Submission.SetCookie: maxAge is less than a second")
	}
	text, err := box.Seal(&keptValue{Value: value})
	if err != nil {
		return fmt.Errorf("pintle: Submission.SetCookie: %w", err)
	}
	s.lines = append(s.lines, cookie.Line(kept.name, text, kept.lasting(maxAge)))
	return nil
}

// Cookie returns the value that [Submission.SetCookie] kept in this browser
// under a name. It returns "" if the browser sent no such cookie, if the value
// has expired, or if it was not sealed by this application with one of its
// secrets.
func (s *Submission) Cookie(name string) string {
	if s.x == nil {
		return ""
	}
	kept, box, err := s.cookie(name, 0)
	if err != nil {
		return ""
	}
	text, ok := s.x.initialCookie(kept)
	if !ok || text == "" {
		return ""
	}
	var content keptValue
	if box.Open(text, &content) != nil {
		return ""
	}
	return content.Value
}

// cookie returns the cookie of a name, and the box for what it holds. Its whole
// name is the salt, so that nothing sealed for another cookie opens here.
func (s *Submission) cookie(name string, maxAge time.Duration) (namedCookie, *sealed.Box, error) {
	secure := s.x.set.secure
	prefix := ""
	if secure {
		prefix = "__Host-"
	}
	kept := Cookie{}.over(prefix+name, secure, 0)
	if err := cookie.Check(kept.name, kept.attrs); err != nil {
		return kept, nil, fmt.Errorf("cookie %q: %w", name, err)
	}
	box, err := sealed.NewBox(s.x.Secrets, seal.Salt("pintle submission "+kept.name, s.x.Tenant), maxAge)
	return kept, box, err
}

// A keptValue is what a cookie of [Submission.SetCookie] holds, sealed.
type keptValue struct {
	Value         string `json:"value"`
	sealed.Expiry        // browsers may keep a cookie for longer than it asks
}

// maxKeptValue bounds the value of a cookie of [Submission.SetCookie]: sealed, it
// has to fit into the 4096 bytes that browsers keep of a cookie.
const maxKeptValue = 2048
