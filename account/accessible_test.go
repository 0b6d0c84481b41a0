package account_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// AC-161: password managers and phones are told what a field is for, a code has one field, and a
// field allows to paste. Contrast, sizes and labels are held by the pages in a browser.
func TestFieldsSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	b := s.browser().signUp("new@example.com")
	reset := s.browser().get(s.resetLink(ada))
	in := s.browser().signIn(ada, goodPassword)
	for name, c := range map[string]struct {
		b     *browser
		path  string
		wants map[string]string
	}{
		"sign-up":       {s.browser(), "sign-up", map[string]string{"email": `autocomplete="email"`}},
		"forgot":        {s.browser(), "forgot", map[string]string{"email": `autocomplete="email"`}},
		"mailed code":   {b, "sign-up-sent", map[string]string{"code": `autocomplete="one-time-code" inputmode="numeric"`}},
		"reset":         {reset, "reset", map[string]string{"password": `autocomplete="new-password"`}},
		"password":      {in, "password", map[string]string{"current": `autocomplete="current-password"`, "password": `autocomplete="new-password"`}},
		"app":           {in, "totp", map[string]string{"code": `autocomplete="one-time-code" inputmode="numeric"`}},
		"profile":       {in, "profile", map[string]string{"name": `autocomplete="name"`}},
		"other address": {in, "address", map[string]string{"email": `autocomplete="email"`}},
	} {
		c.b.get("/auth/account/" + c.path).want(http.StatusOK)
		for field, attribute := range c.wants {
			tags := regexp.MustCompile(`<input [^>]*name="`+field+`"[^>]*>`).FindAllString(c.b.page, -1)
			if len(tags) != 1 || !strings.Contains(tags[0], attribute) || strings.Contains(tags[0], "onpaste") {
				t.Errorf("%s: the field %s is %q, want one with %s", name, field, tags, attribute)
			}
			if id := regexp.MustCompile(`id="([^"]+)"`).FindStringSubmatch(strings.Join(tags, "")); id == nil || !strings.Contains(c.b.page, `for="`+id[1]+`"`) {
				t.Errorf("%s: the field %s has no label", name, field)
			}
		}
	}
}

// AC-161: an error is at its field and in a summary that has the focus, and a notice is a status.
func TestErrorsAreNamedAtTheFieldAndInASummary(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/password")
	b.post("/auth/account/password", "current", "another password", "password", newPassword).want(http.StatusUnprocessableEntity)
	tag := regexp.MustCompile(`<input [^>]*name="current"[^>]*>`).FindString(b.page)
	said := regexp.MustCompile(`aria-describedby="([^"]+)"`).FindStringSubmatch(tag)
	if !strings.Contains(tag, `aria-invalid="true"`) || said == nil {
		t.Fatalf("the field is %s", tag)
	}
	for id := range strings.FieldsSeq(said[1]) {
		if !strings.Contains(b.page, `id="`+id+`"`) {
			t.Errorf("the field is described by %q, which is not on the page", id)
		}
	}
	if summary := regexp.MustCompile(`<[^>]*role="alert"[^>]*>`).FindString(b.page); !strings.Contains(summary, "tabindex") || !strings.Contains(summary, "autofocus") {
		t.Errorf("the summary is %s", summary)
	}
	b.get("/auth/account/password").post("/auth/account/password", "current", goodPassword, "password", newPassword)
	if !strings.Contains(b.page, `role="status"`) {
		t.Errorf("the notice is no status: %s", b.text())
	}
}
