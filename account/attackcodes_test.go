package account_test

import (
	"net/http"
	"testing"
)

// AT-51: a form that is sent twice makes two rows of one secret.
func TestACodeOfAnAppThatWasAddedTwiceWorksOnce(t *testing.T) {
	t.Parallel()
	s, _, codes := withApp(t, false)
	b := s.half().get(secondFactor+"?method=recovery").post(secondFactor, "method", "recovery", "code", codes[0]).isSignedInAs(ada)
	b.get("/auth/account/totp")
	key, second := b.key()
	for range 2 {
		b.post("/auth/account/totp", "key", key, "code", second.code(t, -1)).want(http.StatusOK)
	}
	code := second.code(t, 0)
	s.half().post(secondFactor, "code", code).isSignedInAs(ada)
	s.half().post(secondFactor, "code", code).want(http.StatusUnprocessableEntity).isSignedInAs("")
}

// A session that was stolen renames an app. Its owner goes on to sign in with it.
func TestANameOfAnAppKeepsNoCodeFromWorking(t *testing.T) {
	t.Parallel()
	s, a, codes := withApp(t, false)
	thief := s.half().get(secondFactor+"?method=recovery").post(secondFactor, "method", "recovery", "code", codes[0]).isSignedInAs(ada)
	row := s.factor(s.user(ada), "totp")
	thief.post("/auth/account/factor", "kind", "totp", "id", row.ID, "action", "rename", "name", "X").want(http.StatusOK).says("X")
	code := a.code(t, 0)
	s.half().post(secondFactor, "code", code).isSignedInAs(ada)
	thief.post("/auth/account/factor", "kind", "totp", "id", row.ID, "action", "rename", "name", "Y").want(http.StatusOK)
	s.half().post(secondFactor, "code", code).isSignedInAs("") // as before
}
