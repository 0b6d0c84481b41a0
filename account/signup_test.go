package account_test

import (
	"io"
	"testing"
)

func copyTo(w io.Writer, r io.Reader) (int64, error) { return io.Copy(w, r) }

func TestASignUpByTheCodeOfTheMailSignsIn(t *testing.T) {
	for name, tokens := range map[string]bool{"database": false, "tokens": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, tokens)
			b := s.browser()
			b.get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.com")
			code := mailedCode.FindString(s.lastMail().Text)
			b.post("/auth/account/sign-up-sent", "code", code)
			b.post("/auth/account/sign-up-finish", "password", "correct horse battery")
			if got := b.get("/").page; got != "ada@example.com" {
				t.Fatalf("signed in as %q after the sign-up", got)
			}
			other := s.browser()
			other.get("/auth/signin").post("/auth/callback/credentials", "email", "Ada@example.com", "password", "correct horse battery")
			if got := other.get("/").page; got != "ada@example.com" {
				t.Fatalf("signed in as %q by the password: %d %s", got, other.status, other.page)
			}
		})
	}
}
