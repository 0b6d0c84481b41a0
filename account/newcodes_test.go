package account_test

import (
	"testing"
)

// AT-54: another user, and a session that has ended, save no codes.
func TestCodesAreSavedByTheUserWhoHasSeenThem(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	s.seed("bob@example.com", goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
	key, a := b.key()
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).says("Save your recovery codes")
	b.signIn("bob@example.com", goodPassword).isSignedInAs("bob@example.com")
	b.post("/auth/account/recovery-codes", "saved", "1").want(410)
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).want(410)
	for _, email := range []string{ada, "bob@example.com"} {
		if rows, _ := s.rows.Factors(t.Context(), s.user(email).ID); len(rows) != 1 {
			t.Errorf("%s has %d rows", email, len(rows))
		}
	}
}

// AC-113
func TestNewRecoveryCodesEndTheOldOnes(t *testing.T) {
	s, a, old := withApp(t, true)
	for _, code := range old[:7] {
		s.half().post(secondFactor, "code", code).isSignedInAs(ada)
	}
	b := s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada).get("/auth/account/factors").
		says("You have <bdi>3</bdi> codes left").says("few recovery codes left")
	b.get("/auth/account/recovery-codes").says("You have <bdi>3</bdi> codes left").post("/auth/account/recovery-codes", "new", "1")
	fresh := b.codes()
	s.half().post(secondFactor, "code", old[7]).isSignedInAs(ada) // until the new ones are saved
	b.post("/auth/account/recovery-codes", "saved", "1").isAt("/auth/account/factors").says("You have <bdi>10</bdi> codes left").isSignedInAs(ada)
	s.wantMail(ada, "New recovery codes")
	if rows, err := s.rows.Factors(t.Context(), s.userID()); len(rows) != 12 || err != nil { // password, app, codes
		t.Errorf("%d rows are left, %v", len(rows), err)
	}
	s.half().post(secondFactor, "code", old[8]).want(422).post(secondFactor, "code", fresh[0]).isSignedInAs(ada)
	b.post("/auth/account/recovery-codes", "saved", "1").want(410)
}
