// Package authjs tests that the published packages of Auth.js read the tokens of
// Pintle, and the other way round.
package authjs

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/token"
)

const (
	secret    = "a secret both servers share, long enough"
	oldSecret = "the secret both servers had before this one"
	plain     = "authjs.session-token"
	secure    = "__Secure-authjs.session-token"
)

// A peer is a Node.js process with the package @auth/core.
type peer struct {
	in  io.Writer
	out *bufio.Reader
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "token.mjs")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := new(strings.Builder)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("start node: %v: install Node.js 20 or later, and run \"npm ci\" here", err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Logf("node: %v\n%s", err, stderr)
		}
	})
	return &peer{in, bufio.NewReader(out)}
}

type request struct {
	Op     string         `json:"op"`
	Salt   string         `json:"salt"`
	Secret any            `json:"secret"`
	Token  string         `json:"token,omitempty"`
	Claims map[string]any `json:"claims,omitempty"`
	MaxAge int            `json:"maxAge,omitempty"`
}

type answer struct {
	Token  string
	Claims map[string]any
	Error  string
}

func (p *peer) ask(t *testing.T, r request) answer {
	t.Helper()
	if err := json.NewEncoder(p.in).Encode(r); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("node does not answer: %v: run \"npm ci\" in internal/integration/authjs", err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func codec(t *testing.T, cookie string, secrets ...string) *token.Codec {
	t.Helper()
	c, err := token.New(cookie, secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var people = []struct {
	name   string
	claims map[string]any
}{
	{"a person", map[string]any{"name": "Ann", "email": "ann@example.test", "picture": nil, "sub": "42"}},
	{"a name beyond ASCII", map[string]any{"name": "Zoë 木村 🦊 \"quoted\" <b>&amp;</b>", "sub": "7"}},
	{"claims within claims", map[string]any{"sub": "1", "roles": []any{"a", "b"}, "org": map[string]any{"id": 7.0, "admin": true}}},
	{"a token for three cookies", map[string]any{"sub": "1", "pad": strings.Repeat("y", 6000)}},
}

func TestAuthJSReadsOurTokens(t *testing.T) {
	node := newPeer(t)
	for _, cookie := range []string{plain, secure} {
		for _, p := range people {
			t.Run(cookie+" with "+p.name, func(t *testing.T) {
				sealed, err := codec(t, cookie, secret, oldSecret).Encode(p.claims, time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				got := node.ask(t, request{Op: "decode", Salt: cookie, Secret: []string{secret}, Token: sealed})
				checkClaims(t, got.Claims, p.claims)
				if lifetime := got.Claims["exp"].(float64) - got.Claims["iat"].(float64); lifetime != 3600 {
					t.Errorf("lifetime = %v s, want 3600", lifetime)
				}
			})
		}
	}
}

func TestWeReadTokensOfAuthJS(t *testing.T) {
	node := newPeer(t)
	for _, cookie := range []string{plain, secure} {
		for _, p := range people {
			t.Run(cookie+" with "+p.name, func(t *testing.T) {
				made := node.ask(t, request{Op: "encode", Salt: cookie, Secret: oldSecret, Claims: p.claims, MaxAge: 3600})
				tok, err := codec(t, cookie, secret, oldSecret).Decode(made.Token)
				if err != nil {
					t.Fatalf("Decode: %v", err)
				}
				claims, err := tok.Claims()
				if err != nil {
					t.Fatal(err)
				}
				checkClaims(t, claims, p.claims)
			})
		}
	}
}

func TestATokenIsRenewedFromServerToServer(t *testing.T) {
	node := newPeer(t)
	ours := codec(t, plain, secret)
	claims := people[1].claims
	sealed := node.ask(t, request{Op: "encode", Salt: plain, Secret: secret, Claims: claims, MaxAge: 60}).Token
	for range 3 {
		tok, err := ours.Decode(sealed)
		if err != nil {
			t.Fatal(err)
		}
		renewed, err := ours.Renew(tok, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		got := node.ask(t, request{Op: "decode", Salt: plain, Secret: secret, Token: renewed})
		checkClaims(t, got.Claims, claims)
		sealed = node.ask(t, request{Op: "encode", Salt: plain, Secret: secret, Claims: got.Claims, MaxAge: 60}).Token
	}
}

func TestNeitherReadsTheTokensOfAnotherCookieOrSecret(t *testing.T) {
	node := newPeer(t)
	for _, tt := range []struct{ name, cookie, secret string }{
		{"another cookie", secure, secret},
		{"another secret", plain, oldSecret},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sealed, err := codec(t, tt.cookie, tt.secret).Encode(people[0].claims, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if got := node.ask(t, request{Op: "decode", Salt: plain, Secret: secret, Token: sealed}); got.Error == "" {
				t.Errorf("Auth.js reads a token for %s: %v", tt.name, got.Claims)
			}
			made := node.ask(t, request{Op: "encode", Salt: tt.cookie, Secret: tt.secret, Claims: people[0].claims, MaxAge: 60})
			if _, err := codec(t, plain, secret).Decode(made.Token); !errors.Is(err, token.ErrInvalid) {
				t.Errorf("Decode of a token for %s: %v, want ErrInvalid", tt.name, err)
			}
		})
	}
}

// checkClaims looks for the wanted claims among those that were read, which
// have iat, exp and jti besides.
func checkClaims(t *testing.T, got, want map[string]any) {
	t.Helper()
	for name, value := range want {
		a, _ := json.Marshal(got[name])
		b, _ := json.Marshal(value)
		if string(a) != string(b) {
			t.Errorf("claim %s = %s, want %s", name, a, b)
		}
	}
	for _, name := range []string{"iat", "exp", "jti"} {
		if got[name] == nil {
			t.Errorf("there is no claim %s", name)
		}
	}
}
