package account_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// sessionUser is what clients read of the user of the session.
func (b *browser) sessionUser() (name, image string) {
	b.t.Helper()
	other := *b
	var answer struct{ User struct{ Name, Image string } }
	if err := json.Unmarshal([]byte(other.get("/auth/session").page), &answer); err != nil {
		b.t.Fatal(err)
	}
	return answer.User.Name, answer.User.Image
}

// AC-88, AC-89
func TestAUserChangesTheNameAndRemovesThePicture(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Image: new("https://pictures.example/1")}); err != nil {
			t.Fatal(err)
		}
		other := s.browser().signIn(ada, goodPassword)
		b := s.browser().startSession(s.user(ada), time.Hour, "pwd")
		if _, image := b.sessionUser(); image == "" {
			t.Fatal("the session has no picture")
		}
		b.get("/auth/account/profile").says("Remove the picture").post("/auth/account/profile", "name", "  Zoë 山田 O'Hara  ").says("Your changes are saved")
		if got, name := s.user(ada).Name, "Zoë 山田 O'Hara"; got != name {
			t.Errorf("the name is %q", got)
		} else if shown, _ := b.sessionUser(); shown != name {
			t.Errorf("the session shows the name %q", shown)
		}
		b.get("/auth/account/profile").post("/auth/account/profile", "image", "remove").says("Your changes are saved")
		if _, image := b.sessionUser(); image != "" || s.user(ada).Image != "" {
			t.Errorf("the session shows the picture %q, the user has %q", image, s.user(ada).Image)
		}
		b.isSignedInAs(ada)
		other.isSignedInAs(ada)
		if n := s.user(ada).Name; n == "" {
			t.Error("the removal of the picture has removed the name")
		}
	})
}

// AC-89: a change of the name makes no session last longer, and proves nothing.
func TestAChangeOfTheNameRenewsNothing(t *testing.T) {
	s := newSite(t, true, func(c *pintle.Config, _ *account.Options) { c.Session.AbsoluteMaxAge = 2 * time.Hour })
	b := s.browser().startSession(s.seed(ada, goodPassword, true), time.Hour, "pwd")
	session := func() any { return b.getJSON("/auth/account/me")["session"] }
	before, _ := json.Marshal(session())
	b.get("/auth/account/profile").post("/auth/account/profile", "name", "Ada").want(http.StatusOK)
	if after, _ := json.Marshal(session()); string(after) != string(before) {
		t.Errorf("the session is %s, was %s", after, before)
	}
	b.get("/auth/account/address").isAt("/auth/account/confirm")
}

// AC-88, AT-48, AT-82: names that look like others, and pictures that are fetched or run.
func TestNamesAndPicturesThatAreRefused(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	fetched := 0
	s.mux.HandleFunc("/picture", func(http.ResponseWriter, *http.Request) { fetched++ })
	b := s.browser().signIn(ada, goodPassword)
	before := s.fingerprint(u)
	for _, name := range []string{"", "   ", strings.Repeat("x", 101), "a\x00b", "a\nb", "a\u202eb", "a\u2066b", "a\u200fb", "\xff"} {
		b.get("/auth/account/profile").post("/auth/account/profile", "name", name).want(http.StatusUnprocessableEntity).says("That name cannot be used")
	}
	for _, image := range []string{
		s.server.URL + "/picture", "http://169.254.169.254/latest/meta-data", "javascript:alert(1)", "data:image/svg+xml,<svg onload=alert(1)>",
		"file:///etc/passwd", "<svg/>", strings.Repeat("x", 60_000), "",
	} {
		b.get("/auth/account/profile").post("/auth/account/profile", "name", "Eve", "image", image).want(http.StatusUnprocessableEntity)
		if answer := b.postJSON("/auth/account/profile", map[string]any{"image": image, "name": "Eve"}); answer["error"] != "invalid" {
			t.Errorf("%.40s: the answer is %v", image, answer)
		}
	}
	if s.fingerprint(u) != before || s.user(ada).Image != "" || fetched > 0 {
		t.Errorf("the user is %+v, and %d pictures were fetched", s.user(ada), fetched)
	}
	b.get("/auth/account/profile").post("/auth/account/profile", "name", strings.Repeat("界", 100), "role", "admin", "id", "1", "email", "eve@example.com", "emailVerified", "1").want(http.StatusOK)
	if got := s.user(ada); got == nil || got.ID != u.ID || len(got.Extra) > 0 {
		t.Errorf("the user is %+v", got)
	}
	b.get("/auth/account/profile").post("/auth/account/profile", "name", `<script>alert(1)</script>"`).want(http.StatusOK)
	if strings.Contains(b.page, "<script>alert(1)") {
		t.Error("the name is markup")
	}
}
