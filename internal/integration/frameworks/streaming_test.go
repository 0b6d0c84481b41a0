package frameworks_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestAStreamedResponseKeepsItsCookie(t *testing.T) {
	for _, tls := range []bool{false, true} {
		each(t, func(t *testing.T, f framework) {
			b := f.start(t, func(s *setting) { s.Session.UpdateAge, s.tls = -1, tls })
			b.signIn("kim")
			for _, path := range []string{"/stream", "/late"} {
				resp := b.open(http.MethodGet, path, "")
				defer resp.Body.Close()
				name := "authjs.session-token"
				if tls {
					name = "__Secure-" + name
				}
				if setCookieLine(t, resp.Header, name) == "" {
					t.Errorf("%s: the cookie is missing: %v", path, resp.Header)
				}
				body, err := io.ReadAll(resp.Body)
				if string(body) != "Kim\nKim\n" || err != nil {
					t.Errorf("%s: body %q, %v", path, body, err)
				}
			}
			b.get("/role").wantBody("late")
		})
	}
}

func TestAConnectionThatIsTakenOverKeepsItsCookie(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, func(s *setting) { s.Session.UpdateAge = -1 })
		b.signIn("kim")
		var cookies []string
		for _, c := range b.cookies() {
			cookies = append(cookies, c.String())
		}
		conn := connect(t, b.address)
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		io.WriteString(conn, "GET /upgrade HTTP/1.1\r\nHost: "+host(b.address)+"\r\nConnection: Upgrade\r\nUpgrade: echo\r\nCookie: "+strings.Join(cookies, "; ")+"\r\n\r\n")
		from := bufio.NewReader(conn)
		resp, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusSwitchingProtocols || setCookieLine(t, resp.Header, "authjs.session-token") == "" {
			t.Fatalf("status %d, header %v", resp.StatusCode, resp.Header)
		}
		io.WriteString(conn, "ping\n")
		if line, err := from.ReadString('\n'); line != "ping\n" || err != nil {
			t.Errorf("received %q, %v", line, err)
		}
	})
}
