package page_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	mailtext "github.com/pintleauth/pintle/internal/mail"
	"github.com/pintleauth/pintle/internal/page"
)

// translated returns texts whose every string differs from the English one.
func translated() page.Texts {
	texts := page.English()
	v := reflect.ValueOf(&texts).Elem()
	number := 0
	var change func(v reflect.Value)
	change = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			number++
			name := fmt.Sprintf("‹%d›", number)
			if strings.Contains(v.String(), "%s") {
				name += "%s"
			}
			v.SetString(name)
		case reflect.Struct:
			for _, field := range v.Fields() {
				change(field)
			}
		case reflect.Slice:
			for i := range v.Len() {
				change(v.Index(i))
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				entry := reflect.New(v.Type().Elem()).Elem()
				entry.Set(v.MapIndex(key))
				change(entry)
				v.SetMapIndex(key, entry)
			}
		default:
			panic("no such text: " + v.Kind().String())
		}
	}
	change(v)
	texts.Lang, texts.Dir = "xx", "rtl"
	return texts
}

func TestEveryTextCanBeReplaced(t *testing.T) {
	p := pages(t, page.Theme{Logo: "/logo.svg"}, translated())
	all := everyPage(p)
	all["sign-in error"] = p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{mail}, Error: "x"})
	all["sign-in empty"] = p.SignIn(page.SignInData{Site: site})
	for code := range page.English().SignInErrors {
		all["sign-in "+code] = p.SignIn(page.SignInData{Site: site, Error: code})
	}
	for code := range page.English().Errors {
		all["error "+code] = p.Error(site, code)
		withMail := site
		withMail.Mail = true
		all["error with mail "+code] = p.Error(withMail, code)
	}
	all["error other"] = p.Error(site, "x")
	all["confirm"] = p.ConfirmLink(page.ConfirmLinkData{Site: site, Email: "alice@example.test"})

	all["address taken"] = p.AddressTaken(page.AddressTakenData{Site: site, Email: "alice@example.test", OtherSignInURL: "/auth/signin"})

	subject, _, body, err := p.SignInMail("https://app.example/x")
	if err != nil {
		t.Fatal(err)
	}
	all["mail"] = page.Page{Body: []byte(body)}

	shown := subject
	for name, got := range all {
		body := string(got.Body)
		shown += body
		if !strings.Contains(body, `<html lang="xx" dir="rtl">`) {
			t.Errorf("%s: language or direction is missing", name)
		}
		// What is left after the translation and the data must not be English.
		_, text, _ := strings.Cut(body, "<body")
		for _, english := range []string{"Sign", "sign", "You", "you", "link", "wrong", "again", "email could", "Logo"} {
			if rest := strings.NewReplacer("/auth/signin", "", "signin", "", "signout", "").Replace(visible(text)); strings.Contains(rest, english) {
				t.Errorf("%s: still says %q in %q", name, english, rest)
			}
		}
	}
	for _, text := range collect(reflect.ValueOf(translated())) {
		if text = strings.TrimSuffix(text, "%s"); !strings.Contains(shown, text) {
			t.Errorf("text %s is on no page", text)
		}
	}
}

// visible drops tags and scripts, and keeps the attributes that are read out.
func visible(body string) string {
	if at := strings.Index(body, "<script>"); at >= 0 {
		body = body[:at]
	}
	var b strings.Builder
	for part := range strings.SplitSeq(body, "<") {
		tag, text, _ := strings.Cut(part, ">")
		for _, attribute := range []string{`alt="`, `placeholder="`, `title="`, `aria-label="`} {
			if _, value, ok := strings.Cut(tag, attribute); ok {
				value, _, _ = strings.Cut(value, `"`)
				b.WriteString(" " + value)
			}
		}
		b.WriteString(" " + strings.TrimSpace(text))
	}
	return b.String()
}

func collect(v reflect.Value) (texts []string) {
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Struct:
		for _, field := range v.Fields() {
			texts = append(texts, collect(field)...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts = append(texts, collect(v.Index(i))...)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			texts = append(texts, collect(v.MapIndex(key))...)
		}
	default:
		panic("no such text: " + v.Kind().String())
	}
	return texts
}

func TestMissingTextsAreEnglish(t *testing.T) {
	p := pages(t, page.Theme{}, page.Texts{
		SignInHeading: "Anmelden",
		SignInErrors:  map[string]string{"CredentialsSignin": "Falsch", "Locked": "Gesperrt"},
		ErrorOther:    page.ErrorText{Text: []string{"Leider nein."}},
	})
	for _, tt := range []struct {
		name string
		page page.Page
		want string
	}{
		{"replaced heading", p.SignIn(page.SignInData{Site: site}), "<h1>Anmelden</h1>"},
		{"other text", p.SignOut(page.SignOutData{Site: site}), "<h1>Sign out</h1>"},
		{"replaced error", p.SignIn(page.SignInData{Site: site, Error: "CredentialsSignin"}), "<p>Falsch</p>"},
		{"error of the host's own", p.SignIn(page.SignInData{Site: site, Error: "Locked"}), "<p>Gesperrt</p>"},
		{"other error", p.SignIn(page.SignInData{Site: site, Error: "SessionRequired"}), "<p>Sign in to see this page.</p>"},
		{"half an error text", p.Error(site, "x"), "<h1>Something went wrong</h1>"},
		{"the other half", p.Error(site, "x"), "<p>Leider nein.</p>"},
	} {
		if !strings.Contains(string(tt.page.Body), tt.want) {
			t.Errorf("%s: no %s", tt.name, tt.want)
		}
	}
}

func TestNewRefusesTextsThatLoseAName(t *testing.T) {
	for name, texts := range map[string]page.Texts{
		"SignInWith": {SignInWith: "Weiter"},
		"SignInLead": {SignInLead: "%s und %s"},
		"BackTo":     {BackTo: "Zurück zu %v"},
		"direction":  {Dir: "down"},
		"Subject":    {Mail: mailtext.Texts{Subject: "Hallo"}},
	} {
		if _, err := page.New(page.Theme{}, texts); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("New gave error %v, want one about %s", err, name)
		}
	}
}

func TestMailHasTheThemeAndLanguageOfThePages(t *testing.T) {
	p := pages(t, page.Theme{ColorScheme: "dark", BrandColor: "#FFD21E"}, page.Texts{
		Lang: "de", SignInHeading: "Anmelden", Mail: mailtext.Texts{Button: "Anmelden"},
	})
	subject, text, body, err := p.SignInMail("https://app.example/auth/callback/email?token=1")
	if err != nil || subject != "Sign in to app.example" || text != "Sign in to app.example\nhttps://app.example/auth/callback/email?token=1\n\n" {
		t.Errorf("subject %q, text %q, error %v", subject, text, err)
	}
	for _, want := range []string{`<html lang="de" dir="ltr">`, "background:#ffd21e", "color:#000000", ">Anmelden</a>", `content="dark"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

// A host may go on changing the texts it passed.
func TestTextsAreCopied(t *testing.T) {
	texts := page.English()
	p := pages(t, page.Theme{}, texts)
	texts.SignInErrors["CredentialsSignin"] = "changed"
	if strings.Contains(string(p.SignIn(page.SignInData{Site: site, Error: "CredentialsSignin"}).Body), "changed") {
		t.Error("a change after New reached the page")
	}
}
