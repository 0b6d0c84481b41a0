package reverseproxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/formbrowser"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/throttle"
)

const (
	site = "https://app.example.com" // of the guide
	home = site + "/"
)

// The settings of the public URL that the guide names.
var (
	byURL  = map[string]string{"AUTH_URL": site}
	byHost = map[string]string{"AUTH_TRUST_HOST": "true"}
)

// configuration returns the first block of the guide in a language: one process.
func configuration(t *testing.T, language string) string {
	t.Helper()
	return block(t, language, 0)
}

// block returns a block of the guide in a language, after others.
func block(t *testing.T, language string, after int) string {
	t.Helper()
	guide, err := os.ReadFile("../../../docs/production.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(guide), "```"+language+"\n")
	if len(blocks) < after+2 {
		t.Fatalf("the guide has %d configurations for %s", len(blocks)-1, language)
	}
	block, _, _ := strings.Cut(blocks[after+1], "```")
	return block
}

// An application stands behind a web server.
type application struct {
	front *services.WebServer
	log   *logbook
	idp   *authtest.IdentityProvider
}

// A webServer starts a web server in front of an application at an address.
type webServer func(t *testing.T, upstream string) *services.WebServer

// webServers are those of the guide.
var webServers = map[string]webServer{
	"nginx": func(t *testing.T, upstream string) *services.WebServer {
		return startNginx(t, configuration(t, "nginx"), upstream)
	},
	"Caddy": func(t *testing.T, upstream string) *services.WebServer {
		config := replace(t, configuration(t, "caddy"), "127.0.0.1:3000", upstream)
		return services.Caddy(t, "app.example.com", func(services.Site) string { return config })
	},
}

// startNginx starts nginx with a configuration, in which only ports and files change. An upstream
// that is empty is in the configuration.
func startNginx(t *testing.T, config, upstream string) *services.WebServer {
	t.Helper()
	certificate := services.NewCertificate(t, "app.example.com")
	return services.Nginx(t, certificate, func(s services.Site) string {
		if upstream != "" {
			config = replace(t, config, "http://127.0.0.1:3000", "http://"+upstream)
		}
		for from, to := range map[string]string{
			"/etc/ssl/app.example.com.pem": s.Certificate,
			"/etc/ssl/app.example.com.key": s.Key,
			"listen      443 ssl;":         "listen 127.0.0.1:" + s.Port + " ssl;",
			"443 ssl default_server;":      "127.0.0.1:" + s.Port + " ssl default_server;",
			"listen      80;":              "listen 127.0.0.1:" + s.PlainPort + ";",
		} {
			config = replace(t, config, from, to)
		}
		return config
	})
}

func replace(t *testing.T, text, from, to string) string {
	t.Helper()
	if strings.Count(text, from) != 1 {
		t.Fatalf("the configuration has %q %d times:\n%s", from, strings.Count(text, from), text)
	}
	return strings.Replace(text, from, to, 1)
}

// serve starts an application with variables of the environment, and a web server in front.
func serve(t *testing.T, start webServer, env map[string]string) *application {
	t.Helper()
	a := &application{log: &logbook{}, idp: authtest.Start(t, authtest.Options{
		AutoConsent: true, Clients: []authtest.Client{{ID: "acme", Secret: "acme's own", RedirectURIs: []string{site + "/auth/callback/acme"}}},
	})}
	guard := &throttle.Guard{}
	groups := pintle.NewClaim[string]("groups")
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{
			a.idp.OIDC("acme"),
			guard.Credentials(&pintle.Credentials{Name: "a password", Authorize: checkPassword}, "username"),
		},
		Callbacks: pintle.Callbacks{JWT: func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			if c.User != nil && c.User.Name == "Lea" {
				groups.Put(c.Claims, strings.Repeat("a group of Lea, ", 1000))
			}
			return c.Claims, nil
		}},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Logger:         slog.New(slog.NewJSONHandler(a.log, nil)),
		Getenv: func(name string) string {
			if name == "AUTH_SECRET" {
				return "a secret of this test that is long enough"
			}
			return env[name]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("POST /upload", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d bytes, %v", n, err)
	})
	mux.Handle("/{$}", auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "Hello, %s. Cookies:", html.EscapeString(pintle.SessionFrom(r.Context()).User.Name))
		for _, c := range r.Cookies() {
			fmt.Fprint(w, " ", html.EscapeString(c.Name))
		}
	})))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	a.front = start(t, server.Listener.Addr().String())
	return a
}

// checkPassword knows users by their names, whose password is the name in lower case.
func checkPassword(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if name := s.Text("username"); s.Text("password") == strings.ToLower(name) {
		return &pintle.User{ID: name, Name: name}, nil
	}
	return nil, nil
}

// transport leads requests for the site to the web server, from an address of this machine.
func (a *application) transport(from string) *http.Transport {
	return &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: a.front.Pool, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
			switch _, port, _ := net.SplitHostPort(address); port {
			case "443":
				address = a.front.Addr
			case "80":
				address = a.front.PlainAddr
			}
			return dialer.DialContext(ctx, network, address)
		},
	}
}

const (
	clientAddress = "127.0.0.2"
	otherAddress  = "127.0.0.3"
)

func (a *application) browser(t *testing.T, from string) *formbrowser.Browser {
	t.Helper()
	transport := a.transport(from)
	t.Cleanup(transport.CloseIdleConnections)
	return formbrowser.Over(t, transport)
}

// do sends one request and returns the answer, whatever its status.
func (a *application) do(t *testing.T, method, target string, body io.Reader, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	transport := a.transport(clientAddress)
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// each runs a test with every web server of the guide.
func each(t *testing.T, env map[string]string, test func(*testing.T, *application)) {
	t.Helper()
	for name, start := range webServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, serve(t, start, env))
		})
	}
}

func TestAUserSignsInThroughTheProxiesOfTheGuide(t *testing.T) {
	for name, env := range map[string]map[string]string{"AUTH_URL": byURL, "AUTH_TRUST_HOST": byHost} {
		t.Run(name, func(t *testing.T) {
			each(t, env, func(t *testing.T, a *application) {
				a.idp.SignInAs(authtest.Person{Subject: "1", Name: "Kim", Email: "kim@example.com"})
				b := a.browser(t, clientAddress)
				page := b.Submit(b.Get(home), "/signin/acme", nil)
				if page.URL.String() != home || !strings.HasPrefix(page.Text, "Hello, Kim.") {
					t.Fatalf("at the end %s shows:\n%s", page.URL, page.Text)
				}
				if !strings.Contains(page.Text, "__Secure-authjs.session-token") {
					t.Errorf("the cookies are not those of an https address: %s", page.Text)
				}
				b.Submit(b.Get(site+"/auth/signout"), "/signout", nil)
				if page = b.Get(home); !strings.HasPrefix(page.URL.String(), site+"/auth/signin") {
					t.Errorf("after the sign-out %s shows:\n%s", page.URL, page.Text)
				}
				resp, _ := a.do(t, http.MethodGet, site+"/auth/csrf", http.NoBody)
				for _, c := range resp.Cookies() {
					if !c.Secure {
						t.Errorf("the cookie %s is not Secure", c.Name)
					}
				}
				if len(resp.Cookies()) == 0 {
					t.Error("no cookie was set")
				}
				if strings.Contains(a.log.text(), "AddressMismatch") {
					t.Errorf("the site is believed to be elsewhere:\n%s", a.log.text())
				}
			})
		})
	}
}

func TestTheProxiesOfTheGuideRedirectToTLS(t *testing.T) {
	each(t, byURL, func(t *testing.T, a *application) {
		resp, _ := a.do(t, http.MethodGet, "http://app.example.com/auth/signin?callbackUrl=%2F", http.NoBody)
		if to := resp.Header.Get("Location"); resp.StatusCode/100 != 3 || to != site+"/auth/signin?callbackUrl=%2F" {
			t.Errorf("status %d, Location %s", resp.StatusCode, to)
		}
	})
}

// Guesses are counted for the client that makes them, and not for the proxy, whatever
// X-Forwarded-For the client sends.
func TestTheProxiesOfTheGuidePassTheAddressOfTheClientOn(t *testing.T) {
	each(t, byURL, func(t *testing.T, a *application) {
		guesser, owner := a.browser(t, clientAddress), a.browser(t, otherAddress)
		page := guesser.Get(home)
		for range 11 {
			page = guesser.Submit(page, "/callback/credentials", url.Values{"username": {"Ada"}, "password": {"wrong"}})
		}
		if got := page.URL.Query().Get("code"); got != "too_many_attempts" {
			t.Errorf("the eleventh guess leads to %s", page.URL)
		}
		if got := a.log.client(t, "CredentialsSignin"); got != clientAddress {
			t.Errorf("the log says that the client is %s", got)
		}
		if page = owner.Submit(owner.Get(home), "/callback/credentials", url.Values{"username": {"Ada"}, "password": {"ada"}}); !strings.HasPrefix(page.Text, "Hello, Ada.") {
			t.Errorf("the owner at another address sees %s:\n%s", page.URL, page.Text)
		}
		a.do(t, http.MethodGet, site+"/auth/nothing", http.NoBody, "X-Forwarded-For", "192.0.2.7")
		if got := a.log.client(t, "UnknownAction"); got != clientAddress {
			t.Errorf("a client that sends X-Forwarded-For is %s in the log", got)
		}
	})
}

func TestAClientCannotChooseTheHostThroughTheProxiesOfTheGuide(t *testing.T) {
	each(t, byHost, func(t *testing.T, a *application) {
		resp, text := a.do(t, http.MethodGet, site+"/auth/providers", http.NoBody,
			"X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "http", "Forwarded", "host=evil.example;proto=http")
		if resp.StatusCode != http.StatusOK || !strings.Contains(text, `"`+site+`/auth/callback/acme"`) {
			t.Errorf("status %d: %s", resp.StatusCode, text)
		}
		if resp, text = a.do(t, http.MethodGet, site+"/auth/providers", http.NoBody, "Host", "evil.example"); strings.Contains(text, "callback") {
			t.Errorf("another Host header reaches the application: status %d: %s", resp.StatusCode, text)
		}
	})
}

// A session token of 16 KB travels in several cookies, both ways.
func TestALongSessionPassesTheProxiesOfTheGuide(t *testing.T) {
	each(t, byURL, func(t *testing.T, a *application) {
		b := a.browser(t, clientAddress)
		page := b.Submit(b.Get(home), "/callback/credentials", url.Values{"username": {"Lea"}, "password": {"lea"}})
		for range 2 {
			if !strings.HasPrefix(page.Text, "Hello, Lea.") || !strings.Contains(page.Text, "__Secure-authjs.session-token.4") {
				t.Fatalf("%s shows:\n%s", page.URL, page.Text)
			}
			page = b.Get(home)
		}
	})
}

func TestTheProxiesOfTheGuideLimitBodies(t *testing.T) {
	each(t, byURL, func(t *testing.T, a *application) {
		resp, text := a.do(t, http.MethodPost, site+"/upload", bytes.NewReader(make([]byte, 1_200_000)))
		if resp.StatusCode != http.StatusOK || text != "1200000 bytes, <nil>" {
			t.Errorf("a body of 1.2 MB: status %d, %s", resp.StatusCode, text)
		}
		resp, text = a.do(t, http.MethodPost, site+"/upload", bytes.NewReader(make([]byte, 3_000_000)))
		// Caddy 2.6 answers with 502, and later ones with 413.
		if resp.StatusCode != http.StatusRequestEntityTooLarge && resp.StatusCode != http.StatusBadGateway {
			t.Errorf("a body of 3 MB: status %d, %s", resp.StatusCode, text)
		}
	})
}

// The guide says what a reader sees who leaves a line of the configuration out.
func TestEachLineForNginxDoesWhatTheGuideSays(t *testing.T) {
	for name, c := range map[string]struct {
		without string // lines that match it are left out
		env     map[string]string
		see     func(*testing.T, *application)
	}{
		"large_client_header_buffers": {`large_client_header_buffers`, byURL, func(t *testing.T, a *application) {
			if status, text := a.signInLea(t); status != http.StatusBadRequest || !strings.Contains(text, "Request Header Or Cookie Too Large") {
				t.Errorf("status %d: %s", status, text)
			}
		}},
		"proxy_buffer_size": {`proxy_buffer`, byURL, func(t *testing.T, a *application) {
			if status, text := a.signInLea(t); status != http.StatusBadGateway {
				t.Errorf("status %d: %s", status, text)
			}
		}},
		"client_max_body_size": {`client_max_body_size`, byURL, func(t *testing.T, a *application) {
			if resp, text := a.do(t, http.MethodPost, site+"/upload", bytes.NewReader(make([]byte, 1_200_000))); resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("status %d: %s", resp.StatusCode, text)
			}
		}},
		"X-Forwarded-For": {`X-Forwarded-For`, byURL, func(t *testing.T, a *application) {
			a.do(t, http.MethodGet, site+"/auth/nothing", http.NoBody)
			if got := a.log.client(t, "UnknownAction"); got != "127.0.0.1" {
				t.Errorf("the client is %s", got)
			}
		}},
		"X-Forwarded-Proto": {`X-Forwarded-Proto`, byHost, func(t *testing.T, a *application) {
			resp, text := a.do(t, http.MethodGet, site+"/auth/providers", http.NoBody)
			if !strings.Contains(text, `"http://app.example.com/auth/callback/acme"`) {
				t.Errorf("status %d: %s", resp.StatusCode, text)
			}
		}},
		"Host": {`Host `, byHost, func(t *testing.T, a *application) {
			resp, text := a.do(t, http.MethodGet, site+"/auth/providers", http.NoBody)
			if !strings.Contains(text, `"https://127.0.0.1:`) {
				t.Errorf("status %d: %s", resp.StatusCode, text)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := configuration(t, "nginx")
			less := regexp.MustCompile(`(?m)^.*`+c.without+`.*\n`).ReplaceAllString(config, "")
			if less == config {
				t.Fatal("the configuration has no such line")
			}
			c.see(t, serve(t, func(t *testing.T, upstream string) *services.WebServer { return startNginx(t, less, upstream) }, c.env))
		})
	}
}

// signInLea signs the user with the long token in, and returns where that ends.
func (a *application) signInLea(t *testing.T) (status int, text string) {
	t.Helper()
	resp, text := a.do(t, http.MethodGet, site+"/auth/csrf", http.NoBody)
	var token struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(text), &token); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"csrfToken": {token.CSRFToken}, "username": {"Lea"}, "password": {"lea"}}
	resp, text = a.do(t, http.MethodPost, site+"/auth/callback/credentials", strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded", "Cookie", cookies(resp))
	if resp.StatusCode != http.StatusFound {
		return resp.StatusCode, text
	}
	resp, text = a.do(t, http.MethodGet, home, http.NoBody, "Cookie", cookies(resp))
	return resp.StatusCode, text
}

// cookies returns what a browser sends back of the cookies of an answer.
func cookies(resp *http.Response) string {
	var all []string
	for _, c := range resp.Cookies() {
		if c.MaxAge >= 0 && c.Value != "" {
			all = append(all, c.Name+"="+c.Value)
		}
	}
	return strings.Join(all, "; ")
}

// A logbook keeps records of the log, one JSON object a line.
type logbook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logbook) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// client returns the client of the last record with a code.
func (l *logbook) client(t *testing.T, code string) (address string) {
	t.Helper()
	for line := range strings.Lines(l.text()) {
		var record struct{ Code, Client string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if record.Code == code {
			address = record.Client
		}
	}
	return address
}
