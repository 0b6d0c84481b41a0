package browser_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pages"
)

var update = flag.Bool("update", false, "write testdata anew")

// settingsPages are the pages in the navigation of an account.
var settingsPages = []string{"", "/profile", "/password", "/factors", "/passkeys", "/accounts", "/devices", "/data"}

// inSettings is a browser whose user has one of everything.
func inSettings(t *testing.T, texts pages.Texts) (*tour, *pintle.User) {
	t.Helper()
	v := newTour(t, newPagesSite(t, texts, "database"), map[string]bool{}, func(*tour, string) {})
	ada := v.site.seed("ada@example.com", firstPassword, true)
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/totp")
	v.addsApp("totp", "Phone")
	v.site.passkey(ada)
	v.site.link(ada)
	v.forgets()
	v.becomes(ada.Email, "0s", "pwd", "otp")
	return v, ada
}

// AT-85, AC-160: the pages fit a small phone, in both colour schemes, in both directions of
// writing, and with text of twice the size.
func TestPagesOfTheAccountFitEveryWindow(t *testing.T) {
	for _, texts := range []pages.Texts{{Lang: "en"}, arabic} {
		t.Run(texts.Lang, func(t *testing.T) {
			v, _ := inSettings(t, texts)
			for _, path := range settingsPages {
				v.goes("/auth/account" + path)
				name := "account-" + texts.Lang + strings.ReplaceAll(path, "/", "-")
				v.looks(name)
				for _, width := range []int64{320, 640, 1280} {
					v.emulate(width, "light")
					v.do("double the text", chromedp.Evaluate[chromedp.Void](`document.documentElement.style.fontSize = "200%"; undefined`))
					if width == 640 {
						v.picture(name + "-large")
					}
					for _, element := range read(v.browserUser, chromedp.Evaluate[[]string](outside)) {
						v.t.Errorf("%s, %d pixels wide, with large text: this is beside the window: %s", name, width, element)
					}
					v.do("text as before", chromedp.Evaluate[chromedp.Void](`document.documentElement.style.fontSize = ""; undefined`))
				}
			}
		})
	}
}

// types sends keys to what has the focus.
func (v *tour) types(keys string) {
	v.t.Helper()
	v.do("type", chromedp.KeyEvent(keys))
}

// focused is the text of what has the focus.
func (v *tour) focused() string {
	return read(v.browserUser, chromedp.Evaluate[string](`(() => {
		const e = document.activeElement;
		if (e === document.body) return "";
		const {width, height} = e.getBoundingClientRect();
		if (!width || !height) return "hidden " + e.outerHTML;
		return e.tagName.toLowerCase() + " " + (e.labels?.[0]?.textContent ?? e.textContent).trim().replace(/\s+/g, " ");
	})()`))
}

// tabsTo presses the tab key until something has the focus, and returns what had it on the way.
func (v *tour) tabsTo(want string) (passed []string) {
	v.t.Helper()
	for range 60 {
		v.types(kb.Tab)
		at := v.focused()
		if at == want {
			return passed
		}
		passed = append(passed, at)
	}
	v.t.Fatalf("the tab key does not lead to %q but to %q", want, passed)
	return nil
}

// AT-85: by the keyboard alone.
func TestAUserWithAKeyboardUsesTheAccount(t *testing.T) {
	v, _ := inSettings(t, pages.Texts{})
	v.emulate(1280, "light")
	v.goes("/auth/account")
	if passed := v.tabsTo("a Skip to the content"); len(passed) != 0 {
		t.Errorf("before the link past the navigation comes %q", passed)
	}
	v.types(kb.Enter)
	if passed := v.tabsTo("a ada@example.com"); len(passed) != 0 {
		t.Errorf("after it comes %q", passed)
	}
	v.goes("/auth/account")
	passed := v.tabsTo("a Passkeys")
	want := "a Skip to the content,a 127.0.0.1,button Sign out,a Overview,a Profile,a Password,a Second factor"
	if got := regexp.MustCompile(`:\d+`).ReplaceAllString(strings.Join(passed, ","), ""); got != want {
		t.Errorf("the tab key leads to %q, want %q", got, want)
	}
	v.leave("follow the link", chromedp.KeyEvent(kb.Enter))
	v.isAt("/auth/account/passkeys")
	v.tabsTo("summary Rename")
	v.types(kb.Enter)
	v.tabsTo("input Name of the passkey")
	v.types("Laptop")
	v.tabsTo("button Save the name")
	v.leave("save it", chromedp.KeyEvent(kb.Enter))
	v.sees("Laptop", "Your changes are saved.")
	v.goes("/auth/account/accounts")
	v.tabsTo("button Unlink")
	v.leave("unlink it", chromedp.KeyEvent(kb.Enter))
	v.sees("The account is no longer linked.")
	v.tabsTo("button Sign out")
	v.leave("sign out", chromedp.KeyEvent(kb.Enter))
	v.goes("/auth/account")
	v.isAt("/auth/signin")
}

// AC-160: without scripts, but for the ceremony of a passkey, which says so.
func TestAUserWithoutScriptsUsesTheAccount(t *testing.T) {
	v, ada := inSettings(t, pages.Texts{})
	v.withoutScripts()
	v.emulate(320, "dark")
	v.goes("/auth/account")
	v.press("Passkeys")
	v.sees("Passkeys need JavaScript")
	v.do("open the form", chromedp.Click(`//summary[contains(., "Rename")]`))
	v.fill("Name of the passkey", "Laptop")
	v.press("Save the name")
	v.sees("Laptop")
	v.press("Remove")
	v.sees("The passkey is removed.")
	v.press("Linked accounts")
	v.press("Unlink")
	v.sees("The account is no longer linked.")
	v.press("Devices")
	v.sees("A browser", "This browser")
	v.press("Sign out all others")
	v.sees("All your other devices are signed out.")
	v.press("Profile")
	v.fill("Name", "Ada")
	v.press("Save the name")
	v.sees("Your changes are saved.")
	v.press("Devices")
	v.press("Sign out everywhere")
	v.isAt("/auth/signin")
	v.sees("You are signed out everywhere.")
	if n := len(v.site.passkeysOf(ada)); n != 0 {
		t.Errorf("the user has %d passkeys", n)
	}
}

func (s *pagesSite) passkeysOf(u *pintle.User) []*pintle.Passkey {
	s.t.Helper()
	keys, err := s.store.UserPasskeys(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return keys
}

// heard are the roles and names of a page, in order, as a screen reader has them.
func (v *tour) heard() string {
	v.t.Helper()
	tree, err := chromedp.Call(v.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		v.t.Fatal(err)
	}
	text := func(value *accessibility.Value) string {
		var s string
		if value == nil || json.Unmarshal(value.Value, &s) != nil {
			return ""
		}
		return s
	}
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range tree.Nodes {
		nodes[n.NodeID] = n
	}
	var all strings.Builder
	var walk func(n *accessibility.Node, depth int)
	walk = func(n *accessibility.Node, depth int) {
		role, name := text(n.Role), text(n.Name)
		switch {
		case role == "InlineTextBox":
			return
		case n.Ignored, role == "generic", role == "none", role == "StaticText" && name == "":
		default:
			fmt.Fprintf(&all, "%s%s", strings.Repeat("  ", depth), role)
			if name != "" {
				fmt.Fprintf(&all, " %q", name)
			}
			if about := text(n.Description); about != "" {
				fmt.Fprintf(&all, " about %q", about)
			}
			all.WriteString("\n")
			depth++
			if (role == "link" || role == "button" || role == "heading") && name != "" {
				return // its text is its name
			}
		}
		for _, id := range n.ChildIDs {
			if child := nodes[id]; child != nil {
				walk(child, depth)
			}
		}
	}
	walk(tree.Nodes[0], 0)
	return all.String()
}

// AT-85: what a screen reader has of each page. Pictures differ from machine to machine with
// its fonts; the tree does not.
func TestPagesOfTheAccountAreHeardAsTheyWere(t *testing.T) {
	v, _ := inSettings(t, pages.Texts{})
	v.emulate(1280, "light")
	var all strings.Builder
	for _, path := range settingsPages {
		v.goes("/auth/account" + path)
		fmt.Fprintf(&all, "== /auth/account%s\n%s\n", path, v.heard())
	}
	got := regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(all.String(), "app.example.com")
	got = strings.ReplaceAll(got, time.Now().UTC().Format("2 January 2006"), "TODAY")
	file := filepath.Join("testdata", "account-tree.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the pages are heard as\n%s\nLook at the difference after go test -run %s -update", got, t.Name())
	}
}
