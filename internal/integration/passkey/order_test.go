package passkey_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle/passkey"
)

// An order turns two answers round, as networks do.
type order struct{ late atomic.Pointer[late] }

// late is an answer that a second one may overtake.
type late struct{ asked, overtaken chan struct{} }

// turn delays the next options for a sign-in until those of a registration are
// sent, or until a while has passed without a request for them.
func (o *order) turn() *late {
	l := &late{make(chan struct{}), make(chan struct{})}
	o.late.Store(l)
	return l
}

func (o *order) of(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := o.late.Load()
		if l == nil || r.URL.Path != "/auth/webauthn-options/passkey" {
			next.ServeHTTP(w, r)
			return
		}
		if r.URL.Query().Get("action") != "authenticate" {
			o.late.Store(nil)
			next.ServeHTTP(w, r)
			_ = http.NewResponseController(w).Flush()
			close(l.overtaken)
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		close(l.asked)
		select {
		case <-l.overtaken:
		case <-time.After(2 * time.Second):
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = answer.Body.WriteTo(w)
	})
}

// Each set of options replaces the challenge in the cookie. Those for autofill must
// not do so after the user pressed the button.
func TestALateAnswerDoesNotSpoilTheCeremonyThatOvertookIt(t *testing.T) {
	t.Run("sign-in page", func(t *testing.T) {
		s := newSite(t, onSQLite(t), passkey.Options{})
		d := s.device(t)
		l := s.order.turn()
		d.open("/auth/signin?callbackUrl=/")
		<-l.asked
		d.fill("email", "ada@example.com")
		d.press("Sign in with a passkey")
		d.waitFor("signed up", `document.querySelector("h1")?.textContent === "ada@example.com"`)
	})
	t.Run("pintle", func(t *testing.T) {
		s := newSite(t, onSQLite(t), passkey.Options{})
		d := s.device(t)
		d.home()
		l := s.order.turn()
		d.evaluate(`globalThis.first = auth.passkey.signIn({ autofill: true }).then(() => "signed in", (e) => e.name), ""`)
		<-l.asked
		if ok := d.evaluate(`auth.passkey.register({ fields: { email: "ada@example.com" }, redirect: false }).then((r) => String(r.ok))`); ok != "true" || d.who() != "ada@example.com" {
			t.Errorf("the second ceremony: %s, signed in %q; log:\n%s", ok, d.who(), s.log.String())
		}
		if first := d.evaluate(`first`); first != "AbortError" {
			t.Errorf("the first ceremony ended with %s", first)
		}
	})
}
