package page_test

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/page"
)

// input returns the input element of a credentials form with the one field.
func input(t *testing.T, field page.Field) string {
	t.Helper()
	p := newPages(t, page.Theme{}, page.Texts{}).SignIn(page.SignInData{Site: site, Providers: []page.Provider{
		github, // below a button no field gets the focus
		{ID: "own", Name: "Own", Kind: page.Credentials, Action: "/x", Fields: []page.Field{field}},
	}})
	_, after, _ := strings.Cut(string(p.Body), `<input id="`)
	element, _, found := strings.Cut(after, ">")
	if !found {
		t.Fatalf("no field in %s", p.Body)
	}
	return `<input id="` + element + ">"
}

func TestFieldAttributes(t *testing.T) {
	tests := []struct {
		name       string
		attributes map[string]string
		want       string
	}{
		{"none", nil, `<input id="input-pin-for-own-provider" name="pin" type="text">`},
		{"type and placeholder", map[string]string{"type": "tel", "placeholder": "0000"}, `<input id="input-pin-for-own-provider" name="pin" placeholder="0000" type="tel">`},
		{"any case", map[string]string{"Type": "number", "REQUIRED": "true"}, `<input id="input-pin-for-own-provider" name="pin" required type="number">`},
		{"boolean off", map[string]string{"required": "false", "disabled": "FALSE"}, `<input id="input-pin-for-own-provider" name="pin" type="text">`},
		{"boolean without a value", map[string]string{"autofocus": ""}, `<input id="input-pin-for-own-provider" name="pin" autofocus type="text">`},
		{"aria and data", map[string]string{"aria-label": "PIN", "data-x": `"1"`}, `<input id="input-pin-for-own-provider" name="pin" aria-label="PIN" data-x="&#34;1&#34;" type="text">`},
		{"password managers", map[string]string{"type": "password"}, `<input id="input-pin-for-own-provider" name="pin" autocomplete="current-password" type="password">`},
		{"own autocomplete", map[string]string{"type": "password", "autocomplete": "one-time-code"}, `<input id="input-pin-for-own-provider" name="pin" autocomplete="one-time-code" type="password">`},
		{"button for a type", map[string]string{"type": "image", "src": "//evil.example"}, `<input id="input-pin-for-own-provider" name="pin" type="text">`},
		{"what could do harm", map[string]string{
			"onclick": "alert(1)", "ONFOCUS": "alert(1)", "style": "display:none", "formaction": "//evil.example", "form": "other", "src": "x",
			"list": "l", "name": "csrfToken", "id": "x", "label": "L", "popovertarget": "p", "aria-describedby": "x", "data-form-field": "no",
			"x=1 onclick": "alert(1)", "data-x onclick": "alert(1)", `data-"><script`: "1", "": "x", "aria-": "x", "data-ü": "x",
		}, `<input id="input-pin-for-own-provider" name="pin" type="text">`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := input(t, page.Field{Name: "pin", Label: "PIN", Attributes: tt.attributes}); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFieldHasItsLabel(t *testing.T) {
	form := func(fields ...page.Field) string {
		return string(newPages(t, page.Theme{}, page.Texts{}).SignIn(page.SignInData{Site: site, Error: "CredentialsSignin", Providers: []page.Provider{
			{ID: "own", Name: "Own", Kind: page.Credentials, Action: "/x", Fields: fields},
		}}).Body)
	}
	tests := []struct {
		name  string
		field page.Field
		want  string
	}{
		{"given", page.Field{Name: "pin", Label: "PIN <4 digits>"}, `<label class="section-header" for="input-pin-for-own-provider">PIN &lt;4 digits&gt;</label>`},
		{"name", page.Field{Name: "otp"}, `<label class="section-header" for="input-otp-for-own-provider">otp</label>`},
		{"error", page.Field{Name: "otp"}, `type="text" aria-describedby="signin-error">`},
	}
	for _, tt := range tests {
		if got := form(tt.field); !strings.Contains(got, tt.want) {
			t.Errorf("%s: no %s in %s", tt.name, tt.want, got)
		}
	}
	hidden := page.Field{Name: "tenant", Attributes: map[string]string{"type": "hidden", "value": "north"}}
	if got := form(hidden); strings.Contains(got, "<label") || !strings.Contains(got, `name="tenant" type="hidden" value="north"`) {
		t.Errorf("a hidden field has a label or no value: %s", got)
	}
}
