package authtest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func FuzzServeHTTP(f *testing.F) {
	f.Add("GET", "/authorize?client_id=a&redirect_uri=http://localhost/&response_type=code", "", "")
	f.Add("POST", "/consent?client_id=a&redirect_uri=http://localhost/&response_type=code", "person=1001", "")
	f.Add("POST", "/token", "grant_type=authorization_code&code=x&client_id=a&client_assertion=e30.e30.", "")
	f.Add("POST", "/oauth1/request_token", "", `OAuth oauth_consumer_key="a", oauth_signature="x"`)
	f.Add("GET", "/logout?id_token_hint=a.b.c&post_logout_redirect_uri=http://localhost/", "", "")
	f.Add("GET", "/userinfo", "", "Bearer x")
	p := NewIdentityProvider(Options{Algorithm: ES256})
	p.Issuer = "http://127.0.0.1"
	f.Fuzz(func(t *testing.T, method, target, form, authorization string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+target, strings.NewReader(form))
		if err != nil {
			return
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", authorization)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s %q with %q: %d", method, target, form, w.Code)
		}
		// In open mode all redirects lead to this machine.
		if location := w.Header().Get("Location"); location != "" && !isLoopback(location) {
			t.Errorf("%s %q: sent to %q", method, target, location)
		}
	})
}

func FuzzSMTPSession(f *testing.F) {
	f.Add("EHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nSubject: x\r\n\r\nhello\r\n.\r\nQUIT\r\n")
	f.Add("EHLO x\r\nAUTH PLAIN\r\nAGEAYg==\r\n")
	f.Add("MAIL FROM:<\"a\\\"@b>\r\n")
	f.Fuzz(func(t *testing.T, said string) {
		box := NewMailbox(MailboxOptions{})
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() {
			newSMTPSession(box, ours).serve()
			ours.Close()
			close(done)
		}()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		theirs.SetWriteDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.WriteString(theirs, said) // the session may have ended with QUIT
		theirs.Close()
		<-done
		for _, m := range box.Messages() {
			if len(m.To) == 0 {
				t.Error("a message without a recipient")
			}
		}
	})
}

func FuzzOAuth1Header(f *testing.F) {
	f.Add(`OAuth a="1", b="2%20"`)
	f.Add(`OAuth realm="x",oauth_nonce=""`)
	f.Fuzz(func(t *testing.T, header string) {
		params, err := oauth1Header(header)
		if err != nil && params != nil {
			t.Errorf("%q: %v beside an error", header, params)
		}
		for name, values := range params {
			if len(values) != 1 {
				t.Errorf("%q: %q has %d values", header, name, len(values))
			}
		}
	})
}

// TestSignatureBase checks the example of the standard, which goes through
// every rule about encoding and order.
func TestSignatureBase(t *testing.T) { // RFC 5849 section 3.4.1.1
	query := map[string][]string{"b5": {"=%3D"}, "a3": {"a", "2 q"}, "c@": {""}, "a2": {"r b"}, "c2": {""}}
	header, err := oauth1Header(`OAuth realm="Example", oauth_consumer_key="9djdj82h48djs9d2", oauth_token="kkk9d7dh3k39sjv7",
		oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131201", oauth_nonce="7d8f3e4a", oauth_signature="bYT5CMsGcbgUdFHObYMEfcx6bsw%3D"`)
	if err != nil {
		t.Fatal(err)
	}
	const want = "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D" +
		"%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1" +
		"%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
	if got := signatureBase("post", "HTTP://EXAMPLE.com:80/request?x", header, query); got != want {
		t.Errorf("signature base =\n%s, want\n%s", got, want)
	}
	if got := baseAddress("https://example.com:8443/a%20b"); got != "https://example.com:8443/a%20b" {
		t.Errorf("base address = %s", got)
	}
}
