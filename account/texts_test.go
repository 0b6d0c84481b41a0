package account_test

import (
	"flag"
	"fmt"
	"html"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/pages"
)

// replaced returns texts without a letter, which differ from the English ones.
func replaced() pages.Texts {
	texts := pages.Texts(page.English())
	testsite.Number(&texts)
	texts.Lang, texts.Dir, texts.Site = "ar", "rtl", "‹0›"
	return texts
}

var (
	anyTag   = regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>|<[^>]*>`)
	anyData  = regexp.MustCompile(`[a-z]+@example\.com|http://\S+|\d+|GitHub|Test identity provider|Passkey`)
	labels   = regexp.MustCompile(` (aria-label|placeholder|alt|title)="([^"]*)"`)
	mailDate = regexp.MustCompile(`\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC`)
)

// words are the letters of a page that are no data.
func words(text string) string {
	var said strings.Builder
	for _, label := range labels.FindAllStringSubmatch(text, -1) {
		said.WriteString(label[2] + " ")
	}
	said.WriteString(anyTag.ReplaceAllString(text, " "))
	text = anyData.ReplaceAllString(html.UnescapeString(said.String()), "")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }), " ")
}

func TestNoPageOfAccountsHasAWordThatCannotBeReplaced(t *testing.T) {
	_, withAcme := acme(t)
	s := newSite(t, false, withGitHub, withAcme, withPasskeys(&echo{}), func(c *pintle.Config, o *account.Options) {
		c.Texts = replaced()
		o.SignUp.Fields = []pintle.Field{{Name: "nick", Label: "Username"}} // a word of Texts.Words
	})
	check := func(b *browser) *browser {
		t.Helper()
		if said := words(b.page); said != "" {
			t.Errorf("%s says %q", b.at, said)
		}
		if !strings.Contains(b.page, `lang="ar" dir="rtl"`) {
			t.Errorf("%s is in another language", b.at)
		}
		return b
	}
	ada := s.seed("ada@example.com", goodPassword, true)
	s.link(ada, "github")
	held := s.seed("held@example.com", goodPassword, false)
	s.link(held, "github")
	must := s.seed("must@example.com", goodPassword, true)
	s.changeState(must.ID, func(state *accountstore.State) { state.Must = "password" })

	b := s.browser()
	check(b.get("/auth/account/sign-up"))
	check(b.post("/auth/account/sign-up", "email", "x"))
	check(b.post("/auth/account/sign-up", "email", "new@example.com"))
	check(b.post("/auth/account/sign-up-sent", "again", "1"))
	check(b.post("/auth/account/sign-up-sent", "code", "x"))
	check(b.post("/auth/account/sign-up-sent", "code", s.code()))
	check(b.post("/auth/account/sign-up-finish", "password", "short"))
	check(s.browser().signUp("held@example.com").get(s.lastMail().URL))
	b = s.browser().signUp("grace@example.com").get(s.lastMail().URL)
	s.seed("grace@example.com", "", true)
	check(b.get("/auth/account/sign-up-finish"))
	check(b.post("/auth/account/sign-up-finish", "password", goodPassword))
	check(b.get("/auth/account/forgot"))
	check(b.post("/auth/account/forgot", "email", "none@example.com"))
	check(s.browser().get("/auth/account/reset"))
	check(s.browser().get("/auth/account/reset?token=x"))
	check(s.browser().get("/auth/account/nothing"))
	b.post("/auth/account/forgot", "email", "ada@example.com")
	check(b.get(s.lastMail().URL))
	check(b.post("/auth/account/reset", "password", "password"))
	check(b.post("/auth/account/reset", "password", newPassword))
	b.signIn("ada@example.com", newPassword)
	check(b.get("/auth/account/password"))
	if _, err := s.store.UpdateUser(t.Context(), ada.ID, pintle.UserUpdate{Image: new("https://pictures.example/1")}); err != nil {
		t.Fatal(err)
	}
	check(b.get("/auth/account/export"))
	b.post("/auth/account/export")
	check(b.get("/auth/account/export").post("/auth/account/export"))
	check(b.get("/auth/account/delete"))
	check(b.post("/auth/account/delete"))
	check(b.get("/auth/account/profile"))
	check(b.post("/auth/account/profile", "name", ""))
	check(b.get("/auth/account/address"))
	check(b.post("/auth/account/address", "email", "bob@example.com"))
	check(b.get("/auth/account"))
	check(b.get(s.mailOf("address-confirm").URL))
	check(b.post("/auth/account/address-finish"))
	check(s.browser().get(s.mailOf("address-changed-undo").URL))
	check(b.post("/auth/account/password", "current", "x", "password", "y"))
	check(s.browser().signIn("must@example.com", goodPassword))
	check(s.browser().signIn("held@example.com", goodPassword))
	b = s.browser().startSession(held, 0, "fed")
	check(b.get("/auth/account/password"))
	check(b.get("/auth/account/prove"))
	planned := s.seed("planned@example.com", goodPassword, true)
	check(s.browser().signIn("planned@example.com", goodPassword).deletes())
	if s.state(planned).DeleteAt.IsZero() {
		t.Error("the deletion is not planned")
	}
	check(s.browser().signIn("planned@example.com", goodPassword))
	b = s.browser().startSession(s.keys(), time.Hour, "pwd")
	for _, way := range []string{"", "passkey", "password", "provider:acme"} {
		check(b.get("/auth/account/confirm?acr_values=1fa&max_age=600&method=" + way))
	}
	check(b.post("/auth/account/confirm", "acr_values", "1fa", "max_age", "600", "method", "passkey", "data", "x"))
	check(b.get("/auth/account/confirm?acr_values=1fa&max_age=600&from=acme&error=StepUp"))
	for _, m := range s.mails {
		if said := words(m.Subject + " " + m.Text + m.HTML); said != "" {
			t.Errorf("the mail %q says %q", m.Subject, said)
		}
	}
}

func TestThePageForTheCodeShowsNoPlaceholder(t *testing.T) {
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
		c.Texts.Account.Pages = map[string]pages.PageText{"sign-up-sent": {Text: []string{"Tippen Sie den Code.", "Er ging an %s."}}}
	})
	b := s.browser().signUp("ada@example.com").says("Er ging an").says("ada@example.com")
	if _, err := s.store.Sweep(t.Context(), time.Now().Add(25*time.Hour), 100); err != nil {
		t.Fatal(err)
	}
	b.get("/auth/account/sign-up-sent").says("Tippen Sie den Code.")
	if strings.Contains(b.page, "Er ging an") {
		t.Error("the page has the sentence for an address and no address")
	}
}

var update = flag.Bool("update", false, "write testdata anew")

// AT-90: the mails of every kind, with hostile names, addresses, and names of devices.
func TestMailsAreAsTheyWere(t *testing.T) {
	const hostile = `Mail" <b>1</b> see http://evil.example/ or eve@evil.example, now`
	s := newSite(t, false, withGitHub, describesDevices, func(c *pintle.Config, o *account.Options) {
		c.Texts.Site = `<b>"Shop" & Söhne</b>`
		o.SignUp.Fields = []pintle.Field{{Name: "name"}}
	})
	ada := s.seed("ada@example.com", goodPassword, true)
	s.link(ada, "github")
	s.seed("held@example.com", goodPassword, false)
	b := s.browser().as(hostile)
	b.signUp("new@example.com", "name", "<script>alert(1)</script>\r\nBcc: eve@example.com")
	b.signUp("new@example.com", "name", "<script>")
	b.signUp("ada@example.com")
	for _, email := range []string{"ada@example.com", "none@example.com"} {
		b.get("/auth/account/forgot").post("/auth/account/forgot", "email", email)
	}
	s.browser().signIn("held@example.com", goodPassword)
	b.signIn("ada@example.com", goodPassword)
	b.get("/auth/account/password").post("/auth/account/password", "current", goodPassword, "password", newPassword)
	b.get("/auth/account/password").post("/auth/account/password", "remove", "1")
	b.beginsAddress("grace@example.com").post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code)
	s.undoes(s.mailOf("address-changed-undo"))
	b.signIn("ada@example.com", newPassword)
	b.get("/auth/account/password").post("/auth/account/password", "password", newPassword)
	s.browser().as(hostile).get(s.resetLink("ada@example.com")).post("/auth/account/reset", "password", goodPassword)

	kinds := map[string]bool{}
	for _, m := range s.mails {
		kinds[m.Kind] = true
	}
	if len(kinds) < 9 {
		t.Errorf("the pages sent mails of the kinds %v", kinds)
	}
	// The others are about what takes long to cause.
	u, err := s.store.CreateUser(t.Context(), &pintle.User{
		Email: "o'hara+bcc=eve%example.com@xn--hxajbheg2az3al.example", EmailVerified: time.Now().UTC().Truncate(time.Millisecond),
		Name: "<script>alert(1)</script>\r\nBcc: eve@example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	r := s.browser().request(http.MethodPost, "/auth/account/factor", http.NoBody)
	r.Header.Set("User-Agent", hostile)
	for i, kind := range slices.Sorted(maps.Keys(page.English().Account.Mails)) {
		if !kinds[kind] {
			u.ID = fmt.Sprint("user ", i) // each has a budget of notices
			s.setPassword(u.ID, goodPassword)
			account.Notify(s.accounts, r, u, kind, "<i>3</i>")
		}
	}
	for range 6 {
		account.Notify(s.accounts, r, u, "new-device", "")
	}
	clear(kinds)

	var all strings.Builder
	for _, m := range s.mails {
		if kinds[m.Kind] && aboutDevice(m) {
			continue // one of five
		}
		kinds[m.Kind] = true
		if code := mailedCode.FindString(m.Text); m.Code != code {
			t.Errorf("the mail %q has the code %q, its text %q", m.Subject, m.Code, code)
		}
		if secret := m.Token != "" || m.Code != ""; secret == m.Expires.IsZero() {
			t.Errorf("the mail %q expires at %v", m.Subject, m.Expires)
		}
		if m.Token == "" && time.Until(m.Expires) > 10*time.Minute {
			t.Errorf("the code of the mail %q expires at %v", m.Subject, m.Expires)
		}
		fmt.Fprintf(&all, "From: %s\nTo: %s\nSubject: %s\n\n%s\n%s\n\n====\n", m.From, m.To, m.Subject, m.Text, m.HTML)
		if strings.ContainsAny(m.Subject+m.To+m.From, "\r\n") {
			t.Errorf("a header has several lines: %q", m.Subject)
		}
	}
	got := strings.ReplaceAll(all.String(), s.server.URL, "https://app.example.com")
	got = strings.ReplaceAll(got, s.server.Listener.Addr().String(), "app.example.com")
	got = mailedCode.ReplaceAllString(got, "1234 5678")
	got = mailDate.ReplaceAllString(got, "23 November 2026, 00:00 UTC")
	got = regexp.MustCompile(`token=[\w-]{43}`).ReplaceAllString(got, "token=TOKEN")
	for kind := range page.English().Account.Mails {
		if !kinds[kind] {
			t.Errorf("no mail is of the kind %q: %v", kind, kinds)
		}
	}
	file := filepath.Join("testdata", "mails.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("the mails have changed: look at the difference after go test ./account -run TestMailsAreAsTheyWere -update")
	}
}
