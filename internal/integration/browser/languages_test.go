package browser_test

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/pages/translation"
)

// The tours are made in a language that is written from left to right, and in one that is
// written from right to left.
var (
	german = ofThisSite(translation.German(), map[string]string{nameLabel: "Ihr Name", newsLabel: "Neuigkeiten zuschicken", "GitHub": "‹GH›"}, "Laden")
	arabic = ofThisSite(translation.Arabic(), map[string]string{nameLabel: "اسمك", newsLabel: "أرسلوا لي الأخبار", "GitHub": "‹ج›"}, "المتجر")
)

// ofThisSite adds the words of the configuration of the tours, and the name of the site.
func ofThisSite(texts pages.Texts, words map[string]string, site string) pages.Texts {
	maps.Copy(texts.Words, words)
	texts.Site = site
	return texts
}

// everyPage returns pages with all texts of a language by what they are, and of messages that
// stand in the same place the longest.
func everyPage(t *testing.T, texts pages.Texts) map[string]string {
	t.Helper()
	p, err := page.New(page.Theme{}, page.Texts(texts))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	add := func(what string, made page.Page) { all[what] = string(made.Body) }
	const address, date = "mary.anning@fossils.lyme-regis.example", "30 September 2026"
	site := page.Site{Origin: "https://fossils.lyme-regis.example", SignInURL: "https://fossils.lyme-regis.example/auth/signin"}
	passwords := page.Provider{ID: "credentials", Name: "Credentials", Kind: page.Credentials, Fields: []page.Field{
		{Name: "username", Label: "Username"}, {Name: "password", Label: "Password", Attributes: map[string]string{"type": "password"}},
	}}
	ways := []page.Provider{
		{ID: "microsoft-entra-id", Name: "Microsoft Entra ID", Kind: page.OIDC},
		{ID: "email", Name: "Email", Kind: page.Email},
		passwords,
		{ID: "passkey", Name: "Passkey", Kind: page.WebAuthn, OptionsURL: "/options", Fields: []page.Field{}},
	}
	code := slices.MaxFunc(slices.Collect(maps.Keys(texts.SignInErrors)), func(a, b string) int {
		return len(texts.SignInErrors[a]) - len(texts.SignInErrors[b])
	})
	add("sign-in", p.SignIn(page.SignInData{Site: site, Providers: ways, Error: code, LastUsed: "email", SignUpURL: "/join", ForgotPasswordURL: "/forgot"}))
	add("error", p.MailNotSent(site))
	for _, status := range []int{401, 403, 404, 413, 503} {
		add(fmt.Sprint("refusal ", status), p.Refusal(site, status))
	}
	add("sign-out", p.SignOut(page.SignOutData{Site: site}))
	add("a mail is under way", p.VerifyRequest(page.VerifyRequestData{Site: site, Address: address, Lifetime: 23 * time.Hour, Action: "/x", SentAgain: true}))
	add("confirm a link", p.ConfirmLink(page.ConfirmLinkData{Site: site, Email: address}))
	add("an application", p.Native(page.NativeData{Site: site, Application: "Fossil finder", User: address}))
	add("an address is taken", p.AddressTaken(page.AddressTakenData{Site: site, Email: address, Providers: ways, OtherSignInURL: "/"}))
	add("another user", p.Replace(page.ReplaceData{Site: site, User: address, Provider: "GitHub"}))

	// The pages of accounts, with the navigation of those of a signed-in user.
	longest := func(of map[string]string) string {
		return slices.MaxFunc(slices.Collect(maps.Values(of)), func(a, b string) int { return len(a) - len(b) })
	}
	words := texts.Account.Words
	nav := &page.Nav{Label: words["overview"], Skip: words["skip"], SignOut: page.Form{Action: "/x", Button: texts.SignOutButton}}
	for _, name := range []string{"overview", "profile", "passwords", "second_factor", "passkeys", "accounts", "devices", "activity", "data"} {
		nav.Links = append(nav.Links, page.NavLink{Link: page.Link{URL: "/" + name, Text: words[name]}, Icon: "overview"})
	}
	// The headings with the longest words stand above, where the letters are the largest.
	byWord := slices.SortedFunc(maps.Keys(texts.Account.Pages), func(a, b string) int {
		return longestWord(texts.Account.Pages[b].Heading) - longestWord(texts.Account.Pages[a].Heading)
	})
	texted := page.FormPage{Site: site, Name: "account", Nav: nav, Problem: longest(texts.Account.Problems), Notice: longest(texts.Account.Notices)}
	for i, name := range byWord {
		of := texts.Account.Pages[name]
		group := page.Group{Heading: of.Heading, Forms: []page.Form{{Action: "/x", Button: of.Button, Inputs: []page.Input{
			{Name: "code", Label: words["totp_code"]}, {Name: "saved", Type: "checkbox", Label: words["delete_confirmed"]},
		}}}}
		for _, text := range append(of.Text, of.Hint) {
			group.Text = append(group.Text, page.Fill(text, address))
		}
		texted.Groups = append(texted.Groups, group)
		if i < 3 {
			add("account: "+name, p.Form(page.FormPage{Site: site, Name: name, Heading: of.Heading, Text: group.Text, Forms: group.Forms}))
		}
	}
	add("account: all texts", p.Form(texted))
	overview := page.FormPage{Site: site, Name: "account", Heading: texts.Account.Pages["account"].Heading, Nav: nav}
	for _, row := range []struct{ heading, about, link string }{
		{"profile", "address_confirmed", "edit_name"},
		{"passwords", "password_since", "passwords"},
		{"second_factor", "factor_none", "add_totp"},
		{"devices", "signed_in_since", "devices"},
	} {
		overview.Groups = append(overview.Groups, page.Group{
			Heading: words[row.heading], Rows: []page.Row{{Title: page.Fill(words[row.about], date)}},
			Links: []page.Link{{URL: "/x", Text: words[row.link]}},
		})
	}
	add("account: overview", p.Form(overview))
	rows := page.FormPage{Site: site, Name: "account", Heading: words["overview"], Nav: nav, Groups: []page.Group{{Heading: words["attention"]}}}
	for _, name := range slices.Sorted(maps.Keys(words)) {
		rows.Groups[0].Rows = append(rows.Groups[0].Rows, page.Row{
			Title: page.Fill(words[name], date),
		})
	}
	rows.Groups[0].Rows[0].Badges = []string{words["this_browser"], words["synchronised"]}
	rows.Groups[0].Rows[0].Forms = []page.Form{{Action: "/x", Button: words["forget_browsers"], Secondary: true, Grave: true}}
	for _, kind := range slices.Sorted(maps.Keys(texts.Account.Activity)) {
		rows.Groups[0].Rows = append(rows.Groups[0].Rows, page.Row{Title: page.Line{Value: texts.Account.Activity[kind]}})
	}
	add("account: all words as rows", p.Form(rows))
	return all
}

// longestWord is the length of the longest word of a text.
func longestWord(text string) (longest int) {
	for word := range strings.FieldsSeq(text) {
		longest = max(longest, utf8.RuneCountInString(word))
	}
	return longest
}

// beside is the script that returns what sticks out of the window on one of many pages in frames.
const beside = `Array.from(document.querySelectorAll("iframe")).flatMap((frame) => {
	const {documentElement: root, body} = frame.contentDocument;
	const wrong = Array.from(body.querySelectorAll("*")).filter((element) => {
		const {left, right, width} = element.getBoundingClientRect();
		return width && (left < -1 || right > frame.clientWidth + 1) && !element.closest(".skip");
	}).map((element) => frame.title + ": beside the window: " + element.outerHTML.slice(0, 160));
	if (!body.textContent.trim()) wrong.push(frame.title + ": the page is empty");
	if (root.scrollWidth > root.clientWidth) wrong.push(frame.title + ": " + (root.scrollWidth - root.clientWidth) + " pixels too wide");
	return wrong;
})`

// AT-85: no text of any language makes a page wider than a small phone. The pages are in
// frames, all of one language in one document: a visit to each takes several times as long.
//
// https://www.w3.org/TR/WCAG22/#reflow
func TestPagesFitASmallPhoneInEveryLanguage(t *testing.T) {
	languages := append(translation.All(), pages.Texts(page.English()))
	documents := map[string]string{"/wide": frames(map[string]string{"wide": `<!doctype html><p style="width:321px">‹1›`})}
	for _, texts := range languages {
		documents["/"+texts.Lang] = frames(everyPage(t, texts))
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, documents[r.URL.Path])
	}))
	defer srv.Close()
	v := newBrowserUser(t)
	v.open(srv.URL + "/wide")
	if wrong := read(v, chromedp.Evaluate[[]string](beside)); len(wrong) != 2 {
		t.Fatalf("on a page that is too wide the script finds %q", wrong)
	}
	for _, texts := range languages {
		v.open(srv.URL + "/" + texts.Lang)
		if got := read(v, chromedp.Evaluate[int]("document.querySelectorAll('iframe').length")); got < 14 {
			t.Errorf("%s: %d pages, want all", texts.Lang, got)
		}
		for _, wrong := range read(v, chromedp.Evaluate[[]string](beside)) {
			t.Errorf("%s: %s", texts.Lang, wrong)
		}
	}
}

// frames puts pages into frames as wide as a small phone.
func frames(all map[string]string) string {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=en><title>Pages</title>")
	for _, what := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, `<iframe title="%s" style="inline-size:320px;block-size:600px;border:0" srcdoc="%s"></iframe>`, html.EscapeString(what), html.EscapeString(all[what]))
	}
	return b.String()
}

// AT-85: axe finds no barrier on the sign-in page and on the overview of the account in any
// language, on a small phone in the dark. The other pages differ in their words alone; see
// TestNoPageOfASignInHasABarrier for all of them in four languages.
func TestNoLanguageHasABarrier(t *testing.T) {
	documents := map[string]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, documents[r.URL.Path])
	}))
	defer srv.Close()
	v := newBrowserUser(t)
	for _, texts := range append(translation.All(), pages.Texts(page.English())) {
		all := everyPage(t, texts)
		for path, name := range map[string]string{"/sign-in": "sign-in", "/overview": "account: overview"} {
			if all[name] == "" {
				t.Fatalf("there is no page %q", name)
			}
			documents[path] = all[name]
			v.open(srv.URL + path)
			v.hasNoBarrierIn(texts.Lang+", "+name, []axeView{{320, "dark"}})
		}
	}
}
