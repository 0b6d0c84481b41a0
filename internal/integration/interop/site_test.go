package interop_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/services"
)

// origin is the origin of both servers.
const origin = "https://app.example.test"

// A site has the two servers and their database.
type site struct {
	pintle, authjs string // addresses
	idp            *authtest.IdentityProvider
	box            *authtest.Mailbox
	db             *services.Database
}

// newSite starts both servers with one configuration, with one person for each
// journey.
func newSite(t *testing.T, strategy string, journeys int) *site {
	t.Helper()
	s := &site{
		box: authtest.StartMailbox(t, authtest.MailboxOptions{}),
		db:  services.PostgreSQLDatabase(t),
	}
	people := make([]authtest.Person, journeys)
	for i := range people {
		people[i] = person(i)
	}
	s.idp = authtest.Start(t, authtest.Options{
		AutoConsent: true, RequirePKCE: true, People: people,
		Clients: []authtest.Client{{ID: "site", Secret: "the site's own", RedirectURIs: []string{origin + "/auth/callback/idp"}}},
	})
	schema, err := os.ReadFile("../sqlstore/testdata/pg-postgresql.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.ExecContext(t.Context(), string(schema)); err != nil {
		t.Fatal(err)
	}
	s.start(t, strategy)
	return s
}

func person(journey int) authtest.Person {
	email := fmt.Sprintf("person%d@example.test", journey)
	return authtest.Person{Subject: "subject-" + strconv.Itoa(journey), Name: fmt.Sprintf("Zoë %d", journey), Email: email, EmailVerified: true}
}

func (s *site) start(t *testing.T, strategy string) {
	t.Helper()
	port := freePort(t)
	_, mailPort, err := net.SplitHostPort(s.box.Addr)
	if err != nil {
		t.Fatal(err)
	}
	smtp, err := strconv.Atoi(mailPort)
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	idp := object{
		"kind": "oidc", "id": "idp", "name": "Provider", "issuer": s.idp.Issuer,
		"clientId": "site", "clientSecret": "the site's own",
	}
	providers := []object{idp, {"kind": "email", "id": "mail", "name": "Mail"}}
	if strategy == "jwt" {
		// With database sessions it has the default checks, which are PKCE alone at
		// Auth.js, and PKCE and a state here (W-50).
		idp["checks"] = []string{"pkce", "state", "nonce"}
		providers = append(providers, object{
			"kind": "credentials", "id": "password", "name": "Password",
			"users": []object{{"username": "mary", "password": "ammonite", "user": object{"id": "mary", "name": "Mary Anning", "email": "mary@example.test"}}},
		})
	}
	config, err := json.Marshal(object{
		"port": port, "trustHost": true,
		"secret":    "the secret that both of the servers have",
		"session":   object{"strategy": strategy, "updateAge": 0},
		"adapter":   object{"kind": "postgres", "url": s.db.DSN},
		"email":     object{"host": "127.0.0.1", "port": smtp, "from": "site@example.test"},
		"providers": providers,
		"callbacks": object{"jwt": "mergeUpdate", "session": "exposeId"},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "config.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}

	binary := filepath.Join(dir, "conformance")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../conformance").CombinedOutput(); err != nil {
		t.Fatalf("build the Pintle server: %v\n%s", err, out)
	}
	s.pintle = fmt.Sprintf("127.0.0.1:%d", port)
	run(t, file, binary)
	awaitAnswer(t, "http://"+s.pintle+"/auth/csrf")

	address := run(t, file, "node", "server.mjs")
	line, err := bufio.NewReader(address).ReadString('\n')
	if err != nil {
		t.Fatalf("the Auth.js server did not print its address: %v: scripts/setup installs what it needs", err)
	}
	s.authjs = strings.TrimPrefix(strings.TrimSpace(line), "http://")
}

// run starts a server, which ends with the test, and returns its output.
func run(t *testing.T, config, name string, args ...string) *bufio.Reader {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CONFORMANCE_CONFIG="+config, "NODE_ENV=production")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() && complaints.Len() > 0 {
			text := complaints.String()
			t.Logf("%s printed, at last:\n%s", name, text[max(0, len(text)-4096):])
		}
	})
	return bufio.NewReader(out)
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func awaitAnswer(t *testing.T, url string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get(url)
		if err == nil {
			resp.Body.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
