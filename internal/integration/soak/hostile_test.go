package soak

import (
	"context"
	"crypto/rand"
	"io"
	mathrand "math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// hostileTraffic is what clients sent that mean harm.
type hostileTraffic struct {
	Requests int64      `json:"requests"`
	Slow     int64      `json:"slow"`
	Failed   int64      `json:"status500"`
	Before   [2]measure `json:"before"`
	After    [2]measure `json:"after"`
}

// recorded are requests of the application. HOST is the one of its address.
var recorded = []string{
	"GET /auth/session HTTP/1.1\r\nHost: HOST\r\nCookie: authjs.session-token=abcdefghijklmnop; authjs.csrf-token=x%7Cy\r\nConnection: close\r\n\r\n",
	"GET /auth/callback/acme?code=abc&state=def&iss=x HTTP/1.1\r\nHost: HOST\r\nCookie: authjs.state=eyJhbGciOiJkaXIi.x.y.z.w; authjs.pkce.code_verifier=a\r\nConnection: close\r\n\r\n",
	"GET /auth/callback/email?token=abc&email=user-1%40example.com&callbackUrl=%2F HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n",
	"GET /auth/signin?callbackUrl=https%3A%2F%2Fevil.example HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n",
	"POST /auth/callback/credentials HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 62\r\nConnection: close\r\n\r\nemail=user-2%40example.com&password=a+wrong+password&csrf=abcd",
	"POST /auth/account/reset HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 30\r\nConnection: close\r\n\r\n{\"password\":\"xxxxxxxxxxxxxxx\"}",
	"POST /auth/backchannel-logout/acme HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 18\r\nConnection: close\r\n\r\nlogout_token=a.b.c",
	"GET /auth/account/devices HTTP/1.1\r\nHost: HOST\r\nCookie: authjs.session-token=\r\nAccept: application/json\r\nConnection: close\r\n\r\n",
}

const (
	attackers = 16
	slowOnes  = 60
)

// send attacks the instances past the proxy, which would hold slow connections back.
func (h *hostileTraffic) send(s *site, window time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), window)
	defer cancel()
	var all sync.WaitGroup
	var requests, slow, failed atomic.Int64
	for i := range attackers {
		all.Go(func() {
			for ctx.Err() == nil {
				addr := s.at(i % 2).addr
				request := mutated(strings.ReplaceAll(recorded[mathrand.IntN(len(recorded))], "HOST", strings.TrimPrefix(s.proxy.url, "http://")))
				answer := exchange(ctx, addr, request)
				requests.Add(1)
				if strings.HasPrefix(answer, "HTTP/1.1 500") && failed.Add(1) <= 3 {
					line, _, _ := strings.Cut(request, "\r\n")
					s.t.Logf("a mutated request is answered 500: %.200q", line)
				}
				pause(ctx, 5*time.Millisecond)
			}
		})
	}
	for i := range slowOnes {
		all.Go(func() {
			for ctx.Err() == nil {
				slow.Add(1)
				trickle(ctx, s.at(i%2).addr)
			}
		})
	}
	all.Wait()
	h.Requests, h.Slow, h.Failed = requests.Load(), slow.Load(), failed.Load()
}

// mutated changes some bytes of a request: it replaces, repeats and removes.
func mutated(request string) string {
	b := []byte(request)
	for range 1 + mathrand.IntN(4) {
		at := mathrand.IntN(len(b))
		n := min(1+mathrand.IntN(20), len(b)-at)
		switch mathrand.IntN(4) {
		case 0:
			_, _ = rand.Read(b[at : at+n])
		case 1:
			b = append(b[:at:at], append([]byte(strings.Repeat(string(b[at:at+n]), 1+mathrand.IntN(300))), b[at:]...)...)
		case 2:
			b = append(b[:at:at], b[at+n:]...)
		default:
			b = append(b[:at:at], append([]byte("%00%0d%0aSet-Cookie:%20a=b"), b[at:]...)...)
		}
		if len(b) < 2 {
			return "\r\n"
		}
	}
	return string(b)
}

// exchange sends a request and returns the beginning of the answer.
func exchange(ctx context.Context, addr, request string) string {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // many requests lack their end
	if _, err := io.WriteString(conn, request); err != nil {
		return ""
	}
	head, _ := io.ReadAll(io.LimitReader(conn, 4096))
	return string(head)
}

// trickle sends the bytes of a request one by one, and never all of them.
func trickle(ctx context.Context, addr string) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		pause(ctx, 100*time.Millisecond)
		return
	}
	defer func() { _ = conn.Close() }()
	text := "POST /auth/callback/credentials HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
	if mathrand.IntN(2) == 0 {
		if _, err := io.WriteString(conn, text); err != nil { // then the body is slow
			return
		}
	}
	for i := 0; ctx.Err() == nil; i++ {
		if _, err := conn.Write([]byte{text[i%len(text)]}); err != nil {
			return // the server has had enough
		}
		pause(ctx, 200*time.Millisecond)
	}
}
