package browser_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/pages/translation"
)

// A drawing stands for the logo of a site.
const drawing = `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 16"><circle cx="8" cy="8" r="8" fill="%s"/></svg>`

// builtInPages returns the pages of sign-ins in one language, each in every state that adds something
// to it. The page that posts a form by itself is not among them.
func builtInPages(t *testing.T, texts pages.Texts) map[string]page.Page {
	t.Helper()
	p, err := page.New(page.Theme{
		SiteName: "‹1›", Logo: fmt.Sprintf(drawing, "black"), DarkLogo: fmt.Sprintf(drawing, "white"),
	}, page.Texts(texts))
	if err != nil {
		t.Fatal(err)
	}
	site := page.Site{Origin: "http://127.0.0.1", SignInURL: "/signin"}
	ways := []page.Provider{
		{ID: "email", Name: "Email", Kind: page.Email, Action: "/x"},
		{ID: "credentials", Name: "Credentials", Kind: page.Credentials, Action: "/x", Fields: []page.Field{
			{Name: "username", Label: "Username"}, {Name: "password", Label: "Password", Attributes: map[string]string{"type": "password"}},
		}},
		{ID: "google", Name: "Google", Kind: page.OIDC, Action: "/x"},
		{ID: "github", Name: "GitHub", Kind: page.OAuth, Action: "/x"},
		{ID: "company", Name: "‹2›", Kind: page.OAuth, Action: "/x", Style: page.Style{BrandColor: "#ffb000"}},
		{ID: "passkey", Name: "Passkey", Kind: page.WebAuthn, Action: "/x", OptionsURL: "/options", Fields: []page.Field{}},
	}
	signIn := page.SignInData{Site: site, CSRFToken: "x", Providers: ways, SignUpURL: "/join", ForgotPasswordURL: "/forgot"}
	refused, used, buttons := signIn, signIn, signIn
	refused.Error, refused.Typed = "CredentialsSignin", page.Typed{Provider: "credentials", Value: "ada@example.com"}
	used.LastUsed = "google"
	buttons.Providers, buttons.LastUsed = ways[2:5], "company"
	all := map[string]page.Page{
		"sign-in": p.SignIn(signIn), "sign-in, refused": p.SignIn(refused), "sign-in, used before": p.SignIn(used), "sign-in, buttons": p.SignIn(buttons),
		"sign-in, nothing": p.SignIn(page.SignInData{Site: site}),
		"sign-out":         p.SignOut(page.SignOutData{Site: site, Action: "/x"}),
		"mail sent":        p.VerifyRequest(page.VerifyRequestData{Site: site, Lifetime: 24 * time.Hour}),
		"mail sent again":  p.VerifyRequest(page.VerifyRequestData{Site: site, Lifetime: time.Hour, Address: "ada@example.com", Action: "/x", SentAgain: true}),
		"confirm a link":   p.ConfirmLink(page.ConfirmLinkData{Site: site, Action: "/x", Email: "ada@example.com"}),
		"an application":   p.Native(page.NativeData{Site: site, Action: "/x", Application: "‹3›", User: "ada@example.com"}),
		"address taken":    p.AddressTaken(page.AddressTakenData{Site: site, Action: "/x", Email: "ada@example.com", Providers: ways, OtherSignInURL: "/"}),
		"another user":     p.Replace(page.ReplaceData{Site: site, Action: "/x", User: "ada@example.com", Provider: "‹2›"}),
		"error":            p.Error(site, "Configuration"),
		"foreign form":     p.ForeignForm(site),
	}
	for _, status := range []int{400, 401, 403, 413, 503} {
		all[fmt.Sprint("refused with ", status)] = p.Refusal(site, status)
	}
	return all
}

// mirrored are the pages with the most parts, which have a picture in a language that is written from
// right to left, too.
var mirrored = []string{"sign-in", "sign-in, refused", "sign-in, buttons", "mail sent again", "address taken"}

// disorder is the script that returns what the tab key reaches out of the order in which it is
// read, and how many buttons stand out if there are several.
const disorder = `(() => {
	const wrong = [];
	let before;
	for (const element of document.querySelectorAll("a[href], button, input:not([type=hidden])")) {
		const at = element.getBoundingClientRect();
		if (!at.width || element.closest("[hidden]")) continue;
		if (element.tabIndex > 0) wrong.push("its own place in the order: " + element.outerHTML.slice(0, 120));
		if (before && at.top < before.top - 1) wrong.push("above what comes before it: " + element.outerHTML.slice(0, 120));
		before = at;
	}
	const standing = document.querySelectorAll("button.primary, a.primary").length;
	if (standing > 1) wrong.push(standing + " buttons stand out");
	return wrong;
})()`

// AT-85: axe finds no barrier on the pages of sign-ins, in a language of each writing, on a small
// phone and in a wide window, light and dark. With text of twice the size nothing is beside the
// window, and the tab key follows the order in which the page is read. Each page looks as its picture.
func TestNoPageOfASignInHasABarrier(t *testing.T) {
	shown := map[string]page.Page{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, known := shown[r.URL.Query().Get("page")]
		if !known {
			http.NotFound(w, r)
			return
		}
		maps.Copy(w.Header(), p.Header)
		_, _ = w.Write(p.Body) // the status has no look
	}))
	defer srv.Close()
	v := newBrowserUser(t)
	looks := album{folder: "signin"}
	for i, texts := range []pages.Texts{pages.Texts(page.English()), translation.Arabic(), translation.Japanese(), translation.Russian()} {
		all := builtInPages(t, texts)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			what := texts.Lang + ", " + name
			shown[what] = all[name]
			v.open(srv.URL + "/?page=" + strings.ReplaceAll(what, " ", "+"))
			if i == 0 || i == 1 && slices.Contains(mirrored, name) {
				looks.keep(v, what)
			}
			views, rules := axeViews, []string{}
			if i < 2 { // the others differ in their words alone
				views = append(slices.Clone(views), axeView{320, "light"}, axeView{1280, "dark"})
			}
			if i == 0 { // of some pages in other letters axe judges no contrast; the colours are the same
				rules = append(rules, "color-contrast")
			}
			v.hasNoBarrierIn(what, views, rules...)
			for _, wrong := range read(v, chromedp.Evaluate[[]string](disorder)) {
				t.Errorf("%s: %s", what, wrong)
			}
			v.picture("signin-" + what)
			v.emulate(640, "light")
			v.do("double the text", chromedp.Evaluate[chromedp.Void](`document.documentElement.style.fontSize = "200%"; undefined`))
			for _, element := range read(v, chromedp.Evaluate[[]string](outside)) {
				t.Errorf("%s: with large text this is beside the window: %s", what, element)
			}
		}
	}
	looks.looksAsItDid(t)
}

// What the test above rests on: the script finds what is out of order.
func TestTheCheckOfTheOrderFindsWhatIsOutOfIt(t *testing.T) {
	v := newBrowserUser(t)
	v.open("data:text/html," + `<body style="display:flex;flex-direction:column-reverse"><button class=primary>a</button><button class=primary tabindex=1>b</button>`)
	if wrong := read(v, chromedp.Evaluate[[]string](disorder)); len(wrong) != 3 {
		t.Errorf("it finds %q", wrong)
	}
}
