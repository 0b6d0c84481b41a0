package handshake

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// RPX-125. A place is free again when the body is closed, when the request fails, and when its
// context ends: a hook may forget to close a body.
func TestAPlaceForARequestIsFreeAgain(t *testing.T) {
	answer := func(*http.Request) (*http.Response, error) {
		return &http.Response{Body: io.NopCloser(strings.NewReader("{}"))}, nil
	}
	broken := func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }
	for name, tt := range map[string]struct {
		transport roundTrip
		close     bool
		end       bool
	}{
		"the body is closed": {answer, true, false},
		"the request fails":  {broken, false, false},
		"the context ends":   {answer, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := guardedClient(&http.Client{Transport: tt.transport}, 0, false).Transport
				for i := range maxUnderWay + 1 {
					ctx, end := context.WithCancel(t.Context())
					r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://op.example/", nil)
					if err != nil {
						t.Fatal(err)
					}
					resp, err := g.RoundTrip(r)
					if errors.Is(err, errBusy) {
						t.Fatalf("request %d finds no place", i)
					}
					if tt.close {
						_ = resp.Body.Close()
						_ = resp.Body.Close()
					}
					if tt.end {
						end()
					}
					defer end()
					synctest.Wait()
				}
			})
		})
	}
}

// RPX-125. A request waits for a moment, and its body is closed if it is not sent.
func TestARequestWaitsForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := make(chan struct{})
		g := guardedClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			<-held
			return nil, errors.New("closed")
		})}, 0, false).Transport
		send := func(ctx context.Context, body io.Reader) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://op.example/", body)
			if err != nil {
				t.Fatal(err)
			}
			_, err = g.RoundTrip(r)
			return err
		}
		for range maxUnderWay {
			go func() { _ = send(t.Context(), nil) }()
		}
		synctest.Wait()
		began, body := time.Now(), &closing{Reader: strings.NewReader("x")}
		if err := send(t.Context(), body); !errors.Is(err, errBusy) || time.Since(began) != placeWait || !body.closed {
			t.Errorf("%v after %v, and the body is closed: %t", err, time.Since(began), body.closed)
		}
		ctx, end := context.WithTimeout(t.Context(), time.Millisecond)
		defer end()
		if err := send(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context ends, and the error is %v", err)
		}
		time.AfterFunc(placeWait/2, func() { close(held) })
		if err := send(t.Context(), nil); errors.Is(err, errBusy) {
			t.Error("a place was free after half of the time, and the request was not sent")
		}
	})
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }
