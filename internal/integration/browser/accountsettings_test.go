package browser_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
)

var update = flag.Bool("update", false, "write testdata anew")

// settingsPages are the pages in the navigation of an account.
var settingsPages = []string{"", "/profile", "/password", "/factors", "/passkeys", "/accounts", "/devices", "/activity", "/data"}

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

// focused is the text of what has the focus. The browser has scrolled it into the window, where
// nothing covers it.
//
// https://www.w3.org/TR/WCAG22/#focus-not-obscured-minimum
func (v *tour) focused() string {
	return read(v.browserUser, chromedp.Evaluate[string](`(() => {
		const e = document.activeElement;
		if (e === document.body) return "";
		const {left, top, width, height} = e.getBoundingClientRect();
		if (!width || !height) return "hidden " + e.outerHTML;
		const seen = document.elementFromPoint(Math.max(left, 0) + Math.min(width, innerWidth) / 2, Math.max(top, 0) + Math.min(height, innerHeight) / 2);
		if (!seen || !e.contains(seen) && !seen.contains(e)) return "covered " + e.outerHTML;
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

// largeText doubles the text of every page that the browser opens from now on.
func (v *tour) largeText() {
	v.t.Helper()
	_, err := chromedp.Call(v.ctx, cdpage.AddScriptToEvaluateOnNewDocument, cdpage.AddScriptToEvaluateOnNewDocumentParams{
		Source: `addEventListener("DOMContentLoaded", () => { document.documentElement.style.fontSize = "200%" })`,
	})
	if err != nil {
		v.t.Fatal(err)
	}
}

// AT-85, AC-88, AC-160: a user does everything by the keyboard alone, in both colour schemes and
// both directions of writing, in a wide window and on a small phone with text of twice the size.
// Axe finds no barrier on the way, and nothing is beside the window.
func TestAUserWithAKeyboardUsesTheAccount(t *testing.T) {
	for _, way := range []struct {
		texts  pages.Texts
		width  int64
		scheme string
		large  bool
	}{
		{pages.Texts(page.English()), 1280, "light", false},
		{arabic, 320, "dark", true},
	} {
		t.Run(way.texts.Lang+", "+way.scheme, func(t *testing.T) {
			v, ada := inSettings(t, way.texts)
			v.emulate(way.width, way.scheme)
			if way.large {
				v.largeText()
			}
			words, notices := way.texts.Account.Words, way.texts.Account.Notices
			signOut := way.texts.Account.Pages["account"].Button
			isUsable := func() {
				t.Helper()
				found := v.examine()
				for _, problem := range slices.Concat(found.Violations, found.Unsure) {
					t.Errorf("%s: %s", v.address(), problem)
				}
				for _, element := range read(v.browserUser, chromedp.Evaluate[[]string](outside)) {
					t.Errorf("%s: this is beside the window: %s", v.address(), element)
				}
			}
			presses := func(want string) {
				t.Helper()
				v.tabsTo(want)
				v.leave("press "+want, chromedp.KeyEvent(kb.Enter))
			}

			v.goes("/auth/account")
			if way.large && read(v.browserUser, chromedp.Evaluate[string](`getComputedStyle(document.documentElement).fontSize`)) != "32px" {
				t.Fatal("the text is not twice as large")
			}
			isUsable()
			if passed := v.tabsTo("a " + words["skip"]); len(passed) != 0 {
				t.Errorf("before the link past the navigation comes %q", passed)
			}
			v.types(kb.Enter)
			if passed := v.tabsTo("a ada@example.com"); len(passed) != 0 {
				t.Errorf("after it comes %q", passed)
			}
			v.goes("/auth/account")
			// In a small window the links are folded, and the tab key passes them until they are shown.
			menu := "summary " + way.texts.Account.Pages["account"].Heading + " " + words["overview"]
			links := []string{"a " + words["overview"], "a " + words["profile"], "a " + words["passwords"], "a " + words["second_factor"]}
			want := []string{"a " + words["skip"], "a " + cmp.Or(way.texts.Site, "127.0.0.1"), "button " + signOut}
			var passed []string
			if way.large {
				passed = append(v.tabsTo(menu), menu)
				v.types(kb.Tab)
				if at := v.focused(); at != "a ada@example.com" {
					t.Errorf("after the folded navigation comes %q", at)
				}
				v.goes("/auth/account")
				v.tabsTo(menu)
				v.types(kb.Enter)
				isUsable()
				passed, want = append(passed, v.tabsTo("a "+words["passkeys"])...), append(want, menu)
			} else {
				passed = v.tabsTo("a " + words["passkeys"])
			}
			want = append(want, links...)
			if len(passed) > 1 {
				passed[1] = regexp.MustCompile(`:\d+`).ReplaceAllString(passed[1], "")
			}
			if !slices.Equal(passed, want) {
				t.Errorf("the tab key leads to %q, want %q", passed, want)
			}
			v.leave("follow the link", chromedp.KeyEvent(kb.Enter))
			v.isAt("/auth/account/passkeys")
			v.tabsTo("summary " + words["edit_name"])
			v.types(kb.Enter)
			v.tabsTo("input " + words["passkey_name"])
			isUsable()
			v.types("Laptop")
			presses("button " + words["rename"])
			v.sees("Laptop", notices["profile_changed"])

			v.goes("/auth/account/profile")
			v.tabsTo("input " + words["picture"])
			v.chooses(onePixel) // the window in which a file is chosen is that of the system
			presses("button " + way.texts.Account.Pages["profile-upload"].Button)
			v.sees(notices["profile_changed"])
			v.picture("keyboard-profile-" + way.scheme)
			isUsable()
			if u, err := v.site.store.User(t.Context(), ada.ID); err != nil || u.Image != "/picture" {
				t.Errorf("the user is %+v, %v", u, err)
			}

			v.goes("/auth/account/accounts")
			presses("button " + words["unlink"])
			v.sees(notices["unlinked"])
			isUsable()
			presses("button " + signOut)
			v.goes("/auth/account")
			v.isAt("/auth/signin")
		})
	}
}

// follows opens the navigation of a small window and follows one of its links.
func (v *browserUser) follows(link string) {
	v.t.Helper()
	v.do("open the navigation", chromedp.Click(`//nav//summary`))
	v.leave("follow "+link, chromedp.Click(fmt.Sprintf(`//nav//a[normalize-space(.) = %q]`, link)))
}

// AC-160: without scripts, but for the ceremony of a passkey, which says so.
func TestAUserWithoutScriptsUsesTheAccount(t *testing.T) {
	v, ada := inSettings(t, pages.Texts{})
	v.withoutScripts()
	v.emulate(320, "dark")
	v.goes("/auth/account")
	if shown := read(v.browserUser, chromedp.Evaluate[[]string](visible+`(".nav summary", ".nav a")`)); len(shown) != 1 {
		t.Errorf("a small window shows %q, want the label of the navigation", shown)
	}
	v.follows("Devices")
	v.sees("A browser", "This browser")
	v.press("Sign out all others")
	v.sees("All your other devices are signed out.")
	v.follows("Passkeys")
	v.sees("Passkeys need JavaScript")
	v.do("open the form", chromedp.Click(`//summary[contains(., "Rename")]`))
	v.fill("Name of the passkey", "Laptop")
	v.press("Save the name")
	v.sees("Laptop")
	v.press("Remove")
	v.sees("The passkey is removed.")
	v.follows("Linked accounts")
	v.press("Unlink")
	v.sees("The account is no longer linked.")
	v.follows("Profile")
	v.fill("Name", "Ada")
	v.press("Save the name")
	v.sees("Your changes are saved.")
	v.follows("Devices")
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

// AT-85: what a screen reader has of each page. The words are held here, and the looks by the
// pictures of an album.
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
	got = regexp.MustCompile(`\d\d:\d\d UTC`).ReplaceAllString(got, "00:00 UTC")
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
