package account_test

import "testing"

func TestASignUpByTheCodeOfTheMailSignsIn(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		b := s.browser()
		b.get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "Ada@example.com").isAt("/auth/account/sign-up-sent")
		b.post("/auth/account/sign-up-sent", "code", s.code()).isAt("/auth/account/sign-up-finish").says("ada@example.com")
		b.post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs("ada@example.com")
		s.browser().signIn("Ada@example.com", goodPassword).isSignedInAs("ada@example.com")
		s.browser().signIn("ada@example.com", "another password").isSignedInAs("")
	})
}
