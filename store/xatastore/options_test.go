package xatastore_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/store/xatastore"
)

const address = "https://workspace.eu-west-1.xata.sh/db/app"

func TestOptionsAndEnvironment(t *testing.T) {
	full := map[string]string{"XATA_API_KEY": "key", "XATA_DATABASE_URL": address}
	with := func(more ...string) map[string]string {
		env := maps.Clone(full)
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
	for _, tt := range []struct {
		name string
		o    xatastore.Options
		env  map[string]string
		want xatastore.Config
	}{
		{"options alone", xatastore.Options{APIKey: "key", DatabaseURL: address}, nil, xatastore.Config{DatabaseURL: address, Branch: "main"}},
		{"the environment alone", xatastore.Options{}, full, xatastore.Config{DatabaseURL: address, Branch: "main"}},
		{
			"options before the environment",
			xatastore.Options{DatabaseURL: "https://other.region.xata.sh/db/b", Branch: "x"},
			with("XATA_BRANCH", "y"),
			xatastore.Config{DatabaseURL: "https://other.region.xata.sh/db/b", Branch: "x"},
		},
		{"a slash at the end", xatastore.Options{APIKey: "key", DatabaseURL: address + "/"}, nil, xatastore.Config{DatabaseURL: address, Branch: "main"}},
		{"the branch of the environment", xatastore.Options{}, with("XATA_BRANCH", "y"), xatastore.Config{DatabaseURL: address, Branch: "y"}},
		{"a preview branch before it", xatastore.Options{}, with("XATA_BRANCH", "y", "XATA_PREVIEW_BRANCH", "p"), xatastore.Config{DatabaseURL: address, Branch: "p"}},
		{
			"a preview of Vercel",
			xatastore.Options{},
			with("XATA_BRANCH", "y", "XATA_PREVIEW", "vercel", "VERCEL_GIT_REPO_OWNER", "ada", "VERCEL_GIT_COMMIT_REF", "engine"),
			xatastore.Config{DatabaseURL: address, Branch: "preview-ada-engine"},
		},
		{"a preview of another service", xatastore.Options{}, with("XATA_BRANCH", "y", "XATA_PREVIEW", "other"), xatastore.Config{DatabaseURL: address, Branch: "y"}},
		{"a name of this machine without encryption", xatastore.Options{APIKey: "key", DatabaseURL: "http://Xata.LocalHost/db/app"}, nil, xatastore.Config{DatabaseURL: "http://Xata.LocalHost/db/app", Branch: "main"}},
		{"this machine without encryption", xatastore.Options{APIKey: "key", DatabaseURL: "http://127.0.0.1:80/db/app"}, nil, xatastore.Config{DatabaseURL: "http://127.0.0.1:80/db/app", Branch: "main"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.env != nil {
				tt.o.Getenv = func(name string) string { return tt.env[name] }
			}
			s, err := xatastore.New(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.GetConfig(); got != tt.want {
				t.Errorf("GetConfig() = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// The environment of the process is not used unless the host passes it.
func TestTheEnvironmentIsNotReadUnasked(t *testing.T) {
	t.Setenv("XATA_API_KEY", "key")
	t.Setenv("XATA_DATABASE_URL", address)
	if _, err := xatastore.New(xatastore.Options{}); err == nil {
		t.Error("New() took the key from the environment")
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	const secret = "xau_verySecret"
	good := func(change func(*xatastore.Options)) xatastore.Options {
		o := xatastore.Options{APIKey: secret, DatabaseURL: address}
		change(&o)
		return o
	}
	at := func(url string) xatastore.Options {
		return good(func(o *xatastore.Options) { o.DatabaseURL = url })
	}
	for name, tt := range map[string]struct {
		o    xatastore.Options
		says string
	}{
		"no key":                   {good(func(o *xatastore.Options) { o.APIKey = "" }), "API key is missing"},
		"a key with a line break":  {good(func(o *xatastore.Options) { o.APIKey = secret + "\r\nX: y" }), "line break"},
		"no address":               {at(""), "address of the database is missing"},
		"no URL":                   {at("::" + secret), "not a URL"},
		"a path":                   {at("/db/app"), "not a URL"},
		"no encryption":            {at("http://workspace.xata.sh/db/app"), "begins with https"},
		"another scheme":           {at("ftp://workspace.xata.sh/db/app"), "begins with https"},
		"a name that begins alike": {at("http://localhost.evil.example/db/app"), "begins with https"},
		"a user name":              {at("https://user:" + secret + "@workspace.xata.sh/db/app"), "user name"},
		"a query":                  {at(address + "?key=" + secret), "query"},
		"a fragment":               {at(address + "#x"), "fragment"},
		"no database":              {at("https://workspace.xata.sh/"), "not the path of a database"},
		"a branch":                 {at(address + ":main"), "without the branch"},
		"a path in the name":       {at("https://workspace.xata.sh/db/../app"), "not the path of a database"},
		"an escaped path":          {at("https://workspace.xata.sh/db/a%2Fb"), "not the path of a database"},
		"a branch with a slash":    {good(func(o *xatastore.Options) { o.Branch = "feature/x" }), "no name of a branch"},
		"a branch with a path":     {good(func(o *xatastore.Options) { o.Branch = "../x" }), "no name of a branch"},
		"a prefix with a path":     {good(func(o *xatastore.Options) { o.Prefix = "a/b" }), "name begins with"},
		"a column with a path":     {good(func(o *xatastore.Options) { o.UserColumns = []string{"a.b"} }), "UserColumns"},
		"a column that is a field": {good(func(o *xatastore.Options) { o.UserColumns = []string{"email"} }), "UserColumns"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := xatastore.New(tt.o)
			if err == nil || s != nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("New() = %v, want an error about %q", err, tt.says)
			}
			if strings.Contains(fmt.Sprint(err), secret) {
				t.Errorf("the error holds the secret: %v", err)
			}
		})
	}
}
