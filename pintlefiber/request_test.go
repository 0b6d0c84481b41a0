package pintlefiber

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/valyala/fasthttp"
)

// send sends a request from 198.51.100.7 to an application whose only handler
// checks the request that Pintle receives.
func send(t *testing.T, cfg fiber.Config, change func(*fasthttp.Request), look func(fiber.Ctx, *http.Request)) *fasthttp.Response {
	t.Helper()
	app := fiber.New(cfg)
	app.Use(func(c fiber.Ctx) error {
		return call(c, func(_ http.ResponseWriter, r *http.Request) { look(c, r) })
	})
	ctx := new(fasthttp.RequestCtx)
	ctx.Init(new(fasthttp.Request), net.TCPAddrFromAddrPort(netip.MustParseAddrPort("198.51.100.7:4711")), nil)
	ctx.Request.SetRequestURI("/")
	ctx.Request.Header.SetHost("localhost")
	change(&ctx.Request)
	app.Handler()(ctx)
	return &ctx.Response
}

func TestForwardedHeadersPassOnlyFromPeersFiberTrusts(t *testing.T) {
	tests := []struct {
		name    string
		cfg     fiber.Config
		trusted bool
	}{
		{"no peer, if TrustProxy is not set", fiber.Config{}, false},
		{"the peer", fiber.Config{TrustProxy: true, TrustProxyConfig: fiber.TrustProxyConfig{Proxies: []string{"198.51.100.7"}}}, true},
		{"the peer's network", fiber.Config{TrustProxy: true, TrustProxyConfig: fiber.TrustProxyConfig{Proxies: []string{"198.51.100.0/24"}}}, true},
		{"another network", fiber.Config{TrustProxy: true, TrustProxyConfig: fiber.TrustProxyConfig{Proxies: []string{"203.0.113.0/24"}}}, false},
		{"a list that is not used", fiber.Config{TrustProxyConfig: fiber.TrustProxyConfig{Proxies: []string{"198.51.100.7"}}}, false},
	}
	for _, tt := range tests {
		t.Run("SH-66 "+tt.name, func(t *testing.T) {
			send(t, tt.cfg, func(in *fasthttp.Request) {
				in.Header.Set("X-Forwarded-Host", "app.example")
				in.Header.Set("x-forwarded-proto", "https")
			}, func(_ fiber.Ctx, r *http.Request) {
				_, host := r.Header["X-Forwarded-Host"]
				_, proto := r.Header["X-Forwarded-Proto"]
				if host != tt.trusted || proto != tt.trusted {
					t.Errorf("X-Forwarded-Host passes: %t, X-Forwarded-Proto: %t, want %t", host, proto, tt.trusted)
				}
			})
		})
	}
}

func TestRequestsHaveTheFormOfNetHTTP(t *testing.T) {
	send(t, fiber.Config{}, func(in *fasthttp.Request) {
		in.Header.SetMethod("POST")
		in.SetRequestURI("/a%20b/ü?x=1&y=%zz")
		in.Header.SetHost("LOCALHOST:3000")
		in.Header.Add("X-Two", "1")
		in.Header.Add("x-two", "2")
		in.Header.Set("Cookie", `a=1; b="2"`)
		in.Header.SetContentType("text/plain")
		in.SetBodyString("body")
	}, func(_ fiber.Ctx, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if string(body) != "body" || err != nil || r.ContentLength != 4 {
			t.Errorf("body %q of %d bytes, %v", body, r.ContentLength, err)
		}
		if r.Method != "POST" || r.URL.Path != "/a b/ü" || r.URL.RawQuery != "x=1&y=%zz" || r.Host != "LOCALHOST:3000" {
			t.Errorf("%s %s for %s", r.Method, r.URL, r.Host)
		}
		if r.Proto != "HTTP/1.1" || r.ProtoMajor != 1 || r.ProtoMinor != 1 || r.RemoteAddr != "198.51.100.7:4711" || r.TLS != nil {
			t.Errorf("%s from %s, TLS %v", r.Proto, r.RemoteAddr, r.TLS)
		}
		for name, want := range map[string]string{"X-Two": "1|2", "Cookie": "a=1; b=2", "Content-Type": "text/plain", "Host": ""} {
			if got := strings.Join(r.Header[name], "|"); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
}

func TestTheHostIsTheOneOfTheRequestLineOrTheHeader(t *testing.T) {
	tests := []struct{ name, target, header, want string }{
		{"header", "/", "app.example", "app.example"},
		{"a URL in the request line", "http://app.example/", "other.example", "app.example"},
		{"a URL in the query", "/?next=http://evil.example/", "app.example", "app.example"},
		{"a second host in the path", "//evil.example/?next=://", "app.example", "app.example"},
		// This is not a valid host, and is rejected.
		{"a user name", "/", "evil.example@app.example", "evil.example@app.example"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			send(t, fiber.Config{}, func(in *fasthttp.Request) {
				in.Header.SetRequestURI(tt.target)
				in.Header.SetHost(tt.header)
			}, func(_ fiber.Ctx, r *http.Request) { got = r.Host })
			if got != tt.want {
				t.Errorf("Host is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestThePathIsTheOneFiberRoutesBy(t *testing.T) {
	tests := []struct {
		name, target string
		cfg          fiber.Config
		path, raw    string
	}{
		{"plain", "/auth/session?x=1", fiber.Config{}, "/auth/session", ""},
		{"a host in the path", "//x/admin?y=://", fiber.Config{}, "/admin", ""},
		{"a fragment", "/admin#/account", fiber.Config{}, "/admin", ""},
		{"encoded", "/a%2fb", fiber.Config{}, "/a/b", "/a%2fb"},
		{"decoded", "/a%2fb%20c", fiber.Config{UnescapePath: true}, "/a/b c", ""},
		{"decoded into a percent sign", "/a%2562", fiber.Config{UnescapePath: true}, "/a%62", ""},
	}
	for _, tt := range tests {
		t.Run("SH-70 "+tt.name, func(t *testing.T) {
			send(t, tt.cfg, func(in *fasthttp.Request) { in.Header.SetRequestURI(tt.target) }, func(c fiber.Ctx, r *http.Request) {
				if r.URL.Path != tt.path || r.URL.RawPath != tt.raw || r.URL.Host != "" {
					t.Errorf("path %q, as sent %q, host %q, where Fiber has %q", r.URL.Path, r.URL.RawPath, r.URL.Host, c.Path())
				}
			})
		})
	}
}

func TestAPathPintleCannotReadIsRefused(t *testing.T) {
	called := false
	resp := send(t, fiber.Config{}, func(in *fasthttp.Request) { in.Header.SetRequestURI("/%zz") }, func(fiber.Ctx, *http.Request) { called = true })
	if called || resp.StatusCode() != fiber.StatusBadRequest {
		t.Errorf("called: %t, status %d", called, resp.StatusCode())
	}
}

func TestARequestOutlivesTheMemoryItCameFrom(t *testing.T) {
	var kept *http.Request
	send(t, fiber.Config{}, func(in *fasthttp.Request) {
		in.SetRequestURI("/first?x=first")
		in.Header.SetHost("first.example")
		in.Header.Set("Cookie", "name=first")
		in.Header.Set("X-Name", "first")
	}, func(c fiber.Ctx, r *http.Request) {
		kept = r
		// What the next request on the connection does to the memory.
		c.Request().SetRequestURI("/other?x=other")
		c.Request().Header.SetHost("other.example")
		c.Request().Header.Set("Cookie", "name=other")
		c.Request().Header.Set("X-Name", "other")
		_ = c.Path("/other")
	})
	if kept.Host != "first.example" || kept.URL.String() != "/first?x=first" || kept.RequestURI != "/first?x=first" ||
		kept.Header.Get("Cookie") != "name=first" || kept.Header.Get("X-Name") != "first" {
		t.Errorf("the request became %s %s %v", kept.Host, kept.URL, kept.Header)
	}
}

func TestABodyThatIsStreamedIsReadAsFarAsPintleWants(t *testing.T) {
	const long = 1 << 20
	stream := strings.NewReader(strings.Repeat("x", long))
	send(t, fiber.Config{StreamRequestBody: true}, func(in *fasthttp.Request) {
		in.Header.SetMethod("POST")
		in.SetBodyStream(stream, -1)
	}, func(_ fiber.Ctx, r *http.Request) {
		if n, err := io.CopyN(io.Discard, r.Body, 10); n != 10 || err != nil || r.ContentLength != -1 {
			t.Errorf("read %d bytes of %d, %v", n, r.ContentLength, err)
		}
		if stream.Len() == 0 {
			t.Error("the whole body was read")
		}
	})
}

func TestValuesOfFiberCrossOver(t *testing.T) {
	type key struct{}
	app := fiber.New()
	var kept context.Context
	app.Use(func(c fiber.Ctx) error {
		c.Locals("tenant", "blue")
		ctx, cancel := context.WithCancel(context.WithValue(c.Context(), key{}, "value"))
		c.SetContext(ctx)
		return call(c, func(_ http.ResponseWriter, r *http.Request) {
			kept = r.Context()
			if kept.Value("tenant") != "blue" || kept.Value(key{}) != "value" || kept.Value("other") != nil {
				t.Errorf("the context has %v and %v", kept.Value("tenant"), kept.Value(key{}))
			}
			if Context(kept) != c {
				t.Error("Context does not find the context during the call")
			}
			cancel()
			if kept.Err() == nil {
				t.Error("the context is not cancelled with Fiber's")
			}
		})
	})
	resp, err := app.Test(httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || kept == nil {
		t.Fatalf("status %d", resp.StatusCode)
	}
	if Context(kept) != nil || kept.Value("tenant") != nil {
		t.Error("the context reaches into Fiber's after the call")
	}
	if Context(t.Context()) != nil {
		t.Error("Context finds a context outside of Fiber")
	}
}
