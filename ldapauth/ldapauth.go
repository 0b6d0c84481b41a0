// Package ldapauth signs users in with their password in an LDAP directory, such
// as Active Directory or OpenLDAP.
//
//	people, err := ldapauth.New(ldapauth.Options{
//		URL:            "ldaps://ldap.example.com",
//		BaseDN:         "ou=people,dc=example,dc=com",
//		SearchDN:       "cn=sign-in,dc=example,dc=com",
//		SearchPassword: os.Getenv("LDAP_PASSWORD"),
//	})
//	…
//	auth, err := pintle.New(pintle.Config{Providers: []pintle.Provider{people}})
//
// A sign-in searches for the one entry of the user and binds as it with the
// submitted password. The directory verifies the password; this package stores
// nothing.
//
// https://www.rfc-editor.org/rfc/rfc4513#section-5.1.3
package ldapauth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-ldap/ldap/v3"

	"github.com/pintleauth/pintle"
)

const (
	defaultTimeout = 10 * time.Second

	// maxName bounds the length of a user name.
	maxName = 256
)

// Options describe the directory and how users are found in it. URL and BaseDN
// must be set.
type Options struct {
	// ID and Name are those of the provider. Empty means "ldap" and "LDAP".
	ID, Name string

	// URL is the server: ldaps://host[:636], or ldap://host[:389], which is
	// upgraded by StartTLS before anything is sent.
	URL string

	// TLS configures the connection. Nil checks the certificate against the
	// system's roots and the host of URL.
	TLS *tls.Config

	// DangerouslyAllowPlaintext sends passwords unencrypted to a server that is neither
	// reached over TLS nor on this machine.
	DangerouslyAllowPlaintext bool

	// BaseDN is the entry below which the users are.
	BaseDN string

	// Filter finds the entry of a user name. Each %s is replaced by the user
	// name, with special characters escaped. Empty means
	// (&(objectClass=person)(|(uid=%s)(mail=%s)(sAMAccountName=%s))).
	Filter string

	// SearchDN and SearchPassword are the account that searches. Empty searches
	// anonymously, which many directories reject.
	SearchDN, SearchPassword string

	// Attributes are the names of the attributes of a user.
	Attributes Attributes

	// User makes the user from the entry, instead of Attributes: for example to
	// give roles to members of groups, or to reject some users. The keys of the
	// attributes are their names in lower case.
	User func(ctx context.Context, dn string, attributes map[string][]string) (*pintle.User, error)

	// Timeout bounds each sign-in. Zero means 10 seconds.
	Timeout time.Duration
}

// Attributes are the names of attributes. The defaults are entryUUID (or
// objectGUID, or else the entry's name), cn, mail, and no picture.
type Attributes struct {
	ID, Name, Email, Image string
}

// New returns a provider with a form for user name and password. It opens no
// connection.
func New(o Options) (*pintle.Credentials, error) {
	d, err := newDirectory(o)
	if err != nil {
		return nil, fmt.Errorf("ldapauth: %w", err)
	}
	return &pintle.Credentials{ID: d.ID, Name: d.Name, Authorize: d.authorize, Account: d.account}, nil
}

// A directory is Options, completed and checked.
type directory struct {
	Options
	startTLS bool
}

func newDirectory(o Options) (*directory, error) {
	d := &directory{Options: o}
	orDefault(&d.ID, "ldap")
	orDefault(&d.Name, "LDAP")
	orDefault(&d.Filter, "(&(objectClass=person)(|(uid=%s)(mail=%s)(sAMAccountName=%s)))")
	orDefault(&d.Attributes.Name, "cn")
	orDefault(&d.Attributes.Email, "mail")
	if d.Timeout == 0 {
		d.Timeout = defaultTimeout
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || (u.Scheme != "ldap" && u.Scheme != "ldaps") {
		return nil, fmt.Errorf("Options.URL is %q: set it to ldaps://host or ldap://host", o.URL)
	}
	if o.BaseDN == "" {
		return nil, errors.New("Options.BaseDN is empty: set it to the entry below which the users are, such as ou=people,dc=example,dc=com")
	}
	if _, err := ldap.CompileFilter(d.filter("x")); err != nil || !strings.Contains(d.Filter, "%s") {
		return nil, fmt.Errorf("Options.Filter is %q: it must be a filter in which %%s stands for the user name", d.Filter)
	}
	d.startTLS = u.Scheme == "ldap" && !o.DangerouslyAllowPlaintext && !isLoopback(u.Hostname())
	if d.TLS == nil {
		d.TLS = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	}
	return d, nil
}

// account implements [pintle.Credentials.Account]: an entry has several names in
// the default filter, and guesses for all of them are guesses of one password.
func (d *directory) account(ctx context.Context, s *pintle.Submission) (string, error) {
	name, _, ok := typed(s)
	if !ok {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	conn, err := d.connect(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	entry, err := d.find(conn, name)
	if entry == nil || err != nil {
		return "", err
	}
	return entry.DN, nil
}

// typed returns user name and password of a submission, or false if they cannot be
// right. An empty password must be rejected here, because a bind without a password
// succeeds as an anonymous one.
//
// https://www.rfc-editor.org/rfc/rfc4513#section-5.1.2
func typed(s *pintle.Submission) (name, password string, ok bool) {
	name, password = s.Text("username"), s.Text("password")
	return name, password, name != "" && password != "" && len(name) <= maxName && len(password) <= 4*maxName
}

// authorize implements [pintle.Credentials.Authorize].
func (d *directory) authorize(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
	name, password, ok := typed(s)
	if !ok {
		return nil, nil // rejects the submission
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	entry, err := d.find(conn, name)
	if entry == nil || err != nil {
		return nil, err
	}
	if err := conn.Bind(entry.DN, password); err != nil {
		if ldap.IsErrorAnyOf(err, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultUnwillingToPerform) {
			return nil, nil // rejects the submission
		}
		err = fmt.Errorf("ldapauth: bind: %w", err)
		if !answered(err) {
			// The password was sent, and the directory may have verified it. Package throttle
			// counts only what is a rejection: a directory that closes the connection after a
			// wrong password would allow any number of guesses.
			return nil, &pintle.Error{Code: pintle.CodeCredentials, Err: err}
		}
		return nil, err
	}
	return d.user(ctx, entry)
}

// answered reports whether an error is the directory's own. Codes from 200 on are those of the
// client.
func answered(err error) bool {
	of, ok := errors.AsType[*ldap.Error](err)
	return ok && of.ResultCode < ldap.ErrorNetwork
}

func (d *directory) connect(ctx context.Context) (*ldap.Conn, error) {
	deadline, _ := ctx.Deadline()
	conn, err := ldap.DialURL(d.URL, ldap.DialWithTLSConfig(d.TLS), ldap.DialWithDialer(&net.Dialer{Deadline: deadline}))
	if err != nil {
		return nil, fmt.Errorf("ldapauth: connect to %s: %w", d.URL, err)
	}
	conn.SetTimeout(time.Until(deadline))
	// A cancelled request closes its connection, which ends all its calls.
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	if d.startTLS {
		if err := conn.StartTLS(d.TLS); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("ldapauth: StartTLS at %s: %w: use an ldaps URL, or Options.DangerouslyAllowPlaintext on a network without eavesdroppers", d.URL, err)
		}
	}
	return conn, nil
}

// find returns the entry of a user name, or nil if it does not exist.
func (d *directory) find(conn *ldap.Conn, name string) (*ldap.Entry, error) {
	if d.SearchDN != "" {
		if err := conn.Bind(d.SearchDN, d.SearchPassword); err != nil {
			return nil, fmt.Errorf("ldapauth: bind as Options.SearchDN: %w", err)
		}
	}
	attributes := []string{"*", "entryUUID"}
	// Two are enough to see that a name is ambiguous.
	request := ldap.NewSearchRequest(d.BaseDN, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 2, 0, false, d.filter(name), attributes, nil)
	result, err := conn.Search(request)
	if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded) {
		return nil, fmt.Errorf("ldapauth: search below %s: %w", d.BaseDN, err)
	}
	switch len(result.Entries) {
	case 0:
		return nil, nil // wrong credentials
	case 1:
		return result.Entries[0], nil
	}
	return nil, errors.New("ldapauth: Options.Filter finds more than one entry for a user name: a name must belong to one user")
}

// filter puts a user name into the filter, with special characters escaped.
//
// https://www.rfc-editor.org/rfc/rfc4515#section-3
func (d *directory) filter(name string) string {
	return strings.ReplaceAll(d.Filter, "%s", ldap.EscapeFilter(name))
}

func (d *directory) user(ctx context.Context, entry *ldap.Entry) (*pintle.User, error) {
	if d.User != nil {
		attributes := map[string][]string{}
		for _, a := range entry.Attributes {
			attributes[strings.ToLower(a.Name)] = a.Values
		}
		return d.User(ctx, entry.DN, attributes)
	}
	u := &pintle.User{
		ID:    d.id(entry),
		Name:  entry.GetEqualFoldAttributeValue(d.Attributes.Name),
		Email: lowerASCII(entry.GetEqualFoldAttributeValue(d.Attributes.Email)),
	}
	if d.Attributes.Image != "" {
		u.Image = entry.GetEqualFoldAttributeValue(d.Attributes.Image)
	}
	return u, nil
}

// lowerASCII converts only the letters A to Z of an address to lower case.
// Unicode's lower case of some letters beyond ASCII is an ASCII letter, which
// would turn an address at another domain into one at ours.
func lowerASCII(address string) string {
	lower := []byte(address)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c - 'A' + 'a'
		}
	}
	return string(lower)
}

// id returns the permanent id of an entry. A name can be given to another user
// later, so it is the last resort.
func (d *directory) id(entry *ldap.Entry) string {
	if d.Attributes.ID != "" {
		return entry.GetEqualFoldAttributeValue(d.Attributes.ID)
	}
	if id := entry.GetEqualFoldAttributeValue("entryUUID"); id != "" {
		return id
	}
	if guid := entry.GetEqualFoldRawAttributeValue("objectGUID"); len(guid) > 0 {
		return fmt.Sprintf("%x", guid)
	}
	return entry.DN
}

func orDefault(value *string, fallback string) {
	if *value == "" {
		*value = fallback
	}
}
