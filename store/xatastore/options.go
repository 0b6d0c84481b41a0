package xatastore

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/loopback"
)

// Options describe the database and the requests to it. The API key and the
// address are required; every other zero value is a working default.
type Options struct {
	// APIKey is the secret of the workspace. Empty means XATA_API_KEY of
	// Getenv.
	APIKey string

	// DatabaseURL is the address of the database without a branch:
	// https://{workspace}.{region}.xata.sh/db/{database}. Empty means
	// XATA_DATABASE_URL of Getenv. It must be https, or on this machine.
	DatabaseURL string

	// Branch is the branch of the database. Empty means, of Getenv,
	// XATA_PREVIEW_BRANCH, or the preview branch of a Vercel deployment if
	// XATA_PREVIEW is "vercel", or XATA_BRANCH, or else "main".
	Branch string

	// Getenv looks up the variables named above, like pintle.Config.Getenv.
	// Nil means no variables: pass os.Getenv for those of the process.
	Getenv func(name string) string

	// Prefix is what the names of the tables begin with, without the
	// underscore. Empty means "nextauth", as the code of Auth.js's adapter has
	// it.
	Prefix string

	// Extended is true if the tables are those of [Schema]: with a table for
	// passkeys, and columns for what the application keeps with a session, for
	// the time of sign-in, for the tokens of OAuth 1.0a, and for fields of users
	// and accounts that have no column. Auth.js ignores them. False means the
	// six tables of Auth.js's adapter and no more.
	Extended bool

	// UserColumns names further columns of the table of users, which are
	// carried in pintle.User.Extra. Extra fields without a column are kept only
	// where Extended is set.
	UserColumns []string

	// HTTPClient makes the requests. Nil means a new one, which keeps
	// connections for many requests at once. Its transport,
	// and so its proxy and certificates, are used; it follows no redirects and
	// keeps no cookies, whatever it is set to.
	HTTPClient *http.Client

	// Timeout is how long one request may take, until its answer is read.
	// Zero means 10 seconds.
	Timeout time.Duration

	// Retries is how often a request is repeated that the service was too busy
	// for or that got no answer, within 30 seconds. Zero means 3, a negative
	// number none.
	Retries int
}

// LogValue names the database without the key.
func (o Options) LogValue() slog.Value {
	return slog.GroupValue(slog.String("databaseURL", o.DatabaseURL), slog.String("branch", o.Branch), slog.String("prefix", o.Prefix))
}

// A Config is where a store keeps its data.
type Config struct {
	DatabaseURL string // without the branch
	Branch      string
}

// resolved is complete options.
type resolved struct {
	Options
	base string // the address of the branch
}

var (
	nameOfDatabase = regexp.MustCompile(`^/db/[a-zA-Z0-9_~-]{1,255}$`)
	nameOfBranch   = regexp.MustCompile(`^[a-zA-Z0-9_~-]{1,255}$`)
	nameOfColumn   = regexp.MustCompile(`^[a-zA-Z0-9_~-]{1,255}$`)
	printable      = regexp.MustCompile(`^[!-~]+$`)
)

func (o Options) resolve() (*resolved, error) {
	env := o.Getenv
	if env == nil {
		env = func(string) string { return "" }
	}
	r := &resolved{Options: o}
	if r.APIKey == "" {
		r.APIKey = env("XATA_API_KEY")
	}
	if r.DatabaseURL == "" {
		r.DatabaseURL = env("XATA_DATABASE_URL")
	}
	if r.Branch == "" {
		r.Branch = branchOf(env)
	}
	if r.Prefix == "" {
		r.Prefix = "nextauth"
	}
	if r.Timeout <= 0 {
		r.Timeout = 10 * time.Second
	}
	if r.Retries == 0 {
		r.Retries = 3
	}
	r.DatabaseURL = strings.TrimSuffix(r.DatabaseURL, "/")
	if err := r.check(); err != nil {
		return nil, err
	}
	r.base = r.DatabaseURL + ":" + r.Branch
	return r, nil
}

// branchOf finds the branch in the environment, in the order of Xata's client.
func branchOf(env func(string) string) string {
	if branch := env("XATA_PREVIEW_BRANCH"); branch != "" {
		return branch
	}
	if env("XATA_PREVIEW") == "vercel" {
		return "preview-" + env("VERCEL_GIT_REPO_OWNER") + "-" + env("VERCEL_GIT_COMMIT_REF")
	}
	if branch := env("XATA_BRANCH"); branch != "" {
		return branch
	}
	return "main"
}

func (r *resolved) check() error {
	switch {
	case r.APIKey == "":
		return errors.New("xatastore: the API key is missing: set Options.APIKey, or XATA_API_KEY with Options.Getenv")
	case !printable.MatchString(r.APIKey):
		return errors.New("xatastore: the API key has characters in it that no key has, such as a line break")
	case r.DatabaseURL == "":
		return errors.New("xatastore: the address of the database is missing: set Options.DatabaseURL, or XATA_DATABASE_URL with Options.Getenv")
	case !nameOfBranch.MatchString(r.Branch):
		return fmt.Errorf("xatastore: %q is no name of a branch: it has letters, digits, _, - and ~", r.Branch)
	case !nameOfColumn.MatchString(r.Prefix):
		return fmt.Errorf("xatastore: %q cannot be what a table's name begins with: it has letters, digits, _, - and ~", r.Prefix)
	}
	for _, name := range r.UserColumns {
		if !nameOfColumn.MatchString(name) || userColumns[name] {
			return fmt.Errorf("xatastore: Options.UserColumns: %q is no further column", name)
		}
	}
	return checkAddress(r.DatabaseURL)
}

// checkAddress refuses addresses that the API key must not be sent to. Its error
// quotes nothing that could be a password in the address.
func checkAddress(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return errors.New("xatastore: the address of the database is not a URL like https://{workspace}.{region}.xata.sh/db/{database}")
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return errors.New("xatastore: the address of the database has a user name, a query or a fragment")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback.Host(u.Hostname())):
		return fmt.Errorf("xatastore: %s://%s is not encrypted: the address of the database begins with https", u.Scheme, u.Host)
	case !nameOfDatabase.MatchString(u.EscapedPath()):
		return fmt.Errorf("xatastore: %q is not the path of a database: it is /db/ and its name, without the branch", u.Path)
	}
	return nil
}
