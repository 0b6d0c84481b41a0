package main

import (
	"context"
	"errors"
	"flag"
	"net"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pintle": func() {
		lookupHost = hosts
		main()
	}})
}

// hosts are those that the scripts name, so that they need no DNS server.
func hosts(_ context.Context, host string) ([]string, error) {
	switch {
	case strings.HasSuffix(host, ".example.com"):
		return []string{"192.0.2.1"}, nil
	case host == "silent.example":
		return nil, errors.New("i/o timeout")
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

var update = flag.Bool("update", false, "rewrite the outputs in testdata")

// TestScripts describes the command by its output.
func TestScripts(t *testing.T) {
	idp, mail, busy := provider(t), mailServer(t, "220 mail.example ESMTP"), mailServer(t, "421 busy")
	// Scripts run in parallel, and after this function: the servers last as long.
	t.Run("all", func(t *testing.T) {
		testscript.Run(t, testscript.Params{Dir: "testdata", UpdateScripts: *update, Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// keep NAME sets a variable to the last output.
			"keep": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
			},
		}, Setup: func(e *testscript.Env) error {
			e.Setenv("PROVIDER", idp)
			e.Setenv("MAIL", mail)
			e.Setenv("BUSYMAIL", busy)
			return nil
		}})
	})
}

func TestTheCatalogueIsComplete(t *testing.T) {
	entries, err := readCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.ID == "" || e.Name == "" || e.Func == "" || e.Options == "" || e.Link == "" || e.Doc == "" || len(e.Variables) == 0 {
			t.Errorf("the entry of %q is incomplete: %+v", e.ID, e)
		}
		var out strings.Builder
		if err := show(&out, e, "https://app.example", ""); err != nil {
			t.Errorf("show %s: %v", e.ID, err)
		}
		if !e.mail() && !strings.Contains(out.String(), "https://app.example/auth/callback/"+e.ID+"\n") {
			t.Errorf("show %s names no callback URL", e.ID)
		}
	}
}

func TestNearestIsWhatWasMeant(t *testing.T) {
	entries, err := readCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"githab": "github", "GitHub": "github", "gogle": "google", "okat": "okta", "azure": "", "": "", "twich": "twitch", "vkid": "vk-id",
	} {
		if got := nearest(entries, typed); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
