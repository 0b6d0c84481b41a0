package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/examples/e2eclient"
)

// A mailbox has the last mail to each address.
type mailbox struct {
	mu   sync.Mutex
	last map[string]string
}

func (b *mailbox) deliver(_ context.Context, m *pintle.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil {
		b.last = map[string]string{}
	}
	b.last[m.To] = m.Text
	return nil
}

// code is the code in the last mail to an address.
func (b *mailbox) code(address string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return regexp.MustCompile(`\b\d{4} \d{4}\b`).FindString(b.last[address])
}

// A tester is a browser with the page that it shows.
type tester struct {
	t      *testing.T
	site   *started
	client *http.Client
	page   string
}

func (s *started) tester(t *testing.T) *tester {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &tester{t: t, site: s, client: &http.Client{Jar: jar}}
}

func (b *tester) open(path string) *tester {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.site.URL+path, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	b.page = e2eclient.Read(b.t)(b.client.Do(r))
	return b
}

// post posts a form of the page, with pairs of a name and a value.
func (b *tester) post(path string, fields ...string) *tester {
	b.t.Helper()
	form := url.Values{}
	if token := regexp.MustCompile(`name="csrfToken" value="([^"]+)"`).FindStringSubmatch(b.page); token != nil {
		form.Set("csrfToken", token[1])
	}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.site.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	b.page = e2eclient.Read(b.t)(b.client.Do(r))
	return b
}

func (b *tester) sees(want ...string) *tester {
	b.t.Helper()
	for _, text := range want {
		if !strings.Contains(b.page, text) {
			b.t.Fatalf("the page does not say %q:\n%s", text, b.page)
		}
	}
	return b
}

func (b *tester) signIn(email, password string) *tester {
	b.t.Helper()
	return b.open("/auth/signin?callbackUrl=/account").post("/auth/callback/credentials", "email", email, "password", password, "callbackUrl", "/account")
}

// appCode is the code that an authenticator app shows for the key on the page.
//
// https://www.rfc-editor.org/rfc/rfc6238#section-4
func (b *tester) appCode() string {
	b.t.Helper()
	key := regexp.MustCompile(`Key: (?:<bdi>)?([A-Z2-7 ]+)`).FindStringSubmatch(b.page)
	if key == nil {
		b.t.Fatalf("the page shows no key:\n%s", b.page)
	}
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ReplaceAll(strings.TrimSpace(key[1]), " ", ""))
	if err != nil {
		b.t.Fatal(err)
	}
	mac := hmac.New(sha1.New, secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()/30)))
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}

// The test goes through what README.md tells a reader to try.
func TestAReaderTriesEverythingInTheREADME(t *testing.T) {
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			const address, password = "kim@example.com", "plesiosaur and pliosaur"
			s := start(t, strategy)
			kim, omar := s.tester(t), s.tester(t)

			kim.open("/").sees("Create an account").open("/auth/account/sign-up").post("/auth/account/sign-up", "email", address)
			kim.post("/auth/account/sign-up-sent", "code", s.box.code(address))
			kim.post("/auth/account/sign-up-finish", "password", password)
			kim.open("/account").sees(address, "Second factor", "page for operators")

			if kim.open("/operators"); strings.Contains(kim.page, "omar@example.com") {
				t.Fatalf("a user without the role sees:\n%s", kim.page)
			}
			if err := makeOperator(t.Context(), s.store, s.accounts, "nobody@example.com"); err == nil || !strings.Contains(err.Error(), "sign up first") {
				t.Errorf("an unknown address: %v", err)
			}
			if err := makeOperator(t.Context(), s.store, s.accounts, strings.ToUpper(address[:1])+address[1:]); err != nil {
				t.Fatal(err)
			}
			if strategy == pintle.StrategyJWT { // the token has the roles of its sign-in
				kim.open("/account").post("/signout")
				kim.signIn(address, password)
			}
			if kim.open("/operators"); strings.Contains(kim.page, "omar@example.com") {
				t.Fatalf("an operator without a second factor sees:\n%s", kim.page)
			}

			kim.open("/auth/account/totp").post("/auth/account/totp", "code", kim.appCode(), "key", kim.hidden("key"), "name", "Phone")
			kim.sees("recovery codes").post("/auth/account/recovery-codes", "saved", "1").sees("Phone")
			kim.open("/auth/account/activity").sees("Second factor added", "Account created")

			omar.signIn("omar@example.com", "the moving finger writes").sees("Omar Khayyam")
			user, err := s.store.UserByEmail(t.Context(), "omar@example.com")
			if err != nil {
				t.Fatal(err)
			}
			if omar.post("/operators/ban", "user", user.ID); strings.Contains(omar.page, "cannot sign in") {
				t.Fatalf("a user without the role bans, and sees:\n%s", omar.page)
			}
			kim.open("/operators").sees("omar@example.com", "Ban Omar Khayyam").post("/operators/ban", "user", user.ID)
			kim.sees("That user is signed out, and cannot sign in for a day.", "Let Omar Khayyam in again")
			if omar.open("/account"); strings.Contains(omar.page, "Omar Khayyam") {
				t.Errorf("a banned user sees:\n%s", omar.page)
			}
			if omar.signIn("omar@example.com", "the moving finger writes"); strings.Contains(omar.page, "Omar Khayyam") {
				t.Errorf("a banned user signs in, and sees:\n%s", omar.page)
			}
			banned := time.Now()
			kim.post("/operators/unban", "user", user.ID).sees("That user can sign in again.")
			if strategy == pintle.StrategyJWT { // a token of the second of the ban counts as ended
				time.Sleep(time.Until(banned.Truncate(time.Second).Add(time.Second)))
			}
			omar.signIn("omar@example.com", "the moving finger writes").sees("Omar Khayyam")
			omar.open("/auth/account/activity").sees("Support locked the account")
			kim.post("/operators/ban", "user", "nobody").sees("That is gone already.")
		})
	}
}

// hidden is the value of a hidden field of the page.
func (b *tester) hidden(name string) string {
	value := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(b.page)
	if value == nil {
		return ""
	}
	return value[1]
}
