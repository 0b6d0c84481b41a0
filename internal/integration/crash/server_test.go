package crash

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/smtp"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the database/sql driver "sqlite"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// The variables with the settings of the server. Its listener is its first extra
// file.
const (
	envDatabase = "KILLED_DATABASE"
	envIssuer   = "KILLED_ISSUER"
	envMailbox  = "KILLED_MAILBOX"
)

// TestMain makes a second process of this binary the server.
func TestMain(m *testing.M) {
	if os.Getenv(envDatabase) == "" {
		os.Exit(m.Run())
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve is the application: sign-in with a provider and by mail, users and
// sessions in SQLite.
func serve() error {
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dataSource(os.Getenv(envDatabase)))
	if err != nil {
		return err
	}
	if err := sqlstore.Migrate(context.Background(), db, sqlstore.SQLite); err != nil {
		return err
	}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{
			&pintle.OAuth{
				ID: "acme", Protocol: oauth.OIDC, Issuer: os.Getenv(envIssuer), ClientID: "acme", ClientSecret: "any",
				Checks: []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce},
			},
			&pintle.Email{From: "app@example.com", Send: send},
		},
		Store:   sqlstore.New(db, sqlstore.SQLite),
		Secrets: []string{"a secret for tests, 32 characters or more"},
		Getenv:  func(string) string { return "" },
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/{$}", func(http.ResponseWriter, *http.Request) {}) // the home page
	return http.Serve(listener, mux)
}

// dataSource has the settings that a web application needs; see package sqlstore.
func dataSource(file string) string {
	return (&url.URL{Scheme: "file", Path: file, RawQuery: url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}.Encode()}).String()
}

func send(_ context.Context, m *pintle.Message) error {
	text := "From: " + m.From + "\r\nTo: " + m.To + "\r\nSubject: " + m.Subject + "\r\n\r\n" + strings.ReplaceAll(m.Text, "\n", "\r\n")
	return smtp.SendMail(os.Getenv(envMailbox), nil, m.From, []string{m.To}, []byte(text))
}

// A server is the process. It can be killed and started again; the listener belongs
// to the test and stays open.
type server struct {
	t        *testing.T
	url      string
	listener *os.File
	env      []string
	process  *exec.Cmd
}

func newServer(t *testing.T, database, issuer, mailbox string) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{
		t: t, url: "http://" + listener.Addr().String(), listener: file,
		env: append(os.Environ(), envDatabase+"="+database, envIssuer+"="+issuer, envMailbox+"="+mailbox),
	}
	t.Cleanup(func() {
		s.kill()
		file.Close()
		listener.Close()
	})
	return s
}

// start runs the process and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	s.process = exec.Command(program)
	s.process.Env, s.process.ExtraFiles, s.process.Stderr = s.env, []*os.File{s.listener}, os.Stderr
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	client := &http.Client{Timeout: 30 * time.Second}
	resp, err := client.Get(s.url + "/auth/providers")
	if err != nil {
		s.t.Fatalf("the server does not answer: %v", err)
	}
	resp.Body.Close()
}

// kill ends the process by SIGKILL, which no program can prepare for.
func (s *server) kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}
