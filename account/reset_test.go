package account_test

import (
	"net/http"
	"testing"
)

// resetLink asks for a link, and returns it.
func (s *site) resetLink(email string) string {
	s.t.Helper()
	s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", email).isAt("/auth/account/forgot-sent")
	return s.wantMail(email, "A new password").URL
}

const newPassword = "another long password"

func TestAResetReplacesThePasswordAndMakesNoSession(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed("ada@example.com", goodPassword, true)
		thief := s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
		b := s.browser().get(s.resetLink("ada@example.com")).want(http.StatusOK).says("ada@example.com")
		b.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin").says("Your new password is saved").isSignedInAs("")
		thief.isSignedInAs("")
		s.wantMail("ada@example.com", "was changed")
		s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("")
		s.browser().signIn("ada@example.com", newPassword).isSignedInAs("ada@example.com")
	})
}
