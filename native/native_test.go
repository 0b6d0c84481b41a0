package native_test

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle/native"
)

var app = native.Application{
	ID: "desktop", Name: "Desktop", DangerouslyAllowPrivateScheme: true,
	RedirectURLs: []string{"https://app.example.com/in", "http://127.0.0.1/in", "http://[::1]/in", "com.example.app:/in"},
}

// RPT-61
func TestACodeGoesToRegisteredAddressesOnly(t *testing.T) {
	if err := app.Check(); err != nil {
		t.Fatal(err)
	}
	for address, allowed := range map[string]bool{
		"https://app.example.com/in": true, "com.example.app:/in": true,
		"http://127.0.0.1/in": true, "http://127.0.0.1:1/in": true, "http://127.0.0.1:65535/in": true, "http://[::1]:50000/in": true,

		"": false, "https://app.example.com": false, "https://app.example.com/in/": false, "https://app.example.com:443/in": false,
		"https://app.example.com/in?x=y": false, "https://app.example.com/in#x": false, "https://APP.example.com/in": false,
		"http://app.example.com/in": false, "https://app.example.com.evil.example/in": false,
		"https://app.example.com/in/../x": false, "https://evil@app.example.com/in": false,
		"http://127.0.0.1:50000/other": false, "http://127.0.0.1:50000/in/": false, "http://127.0.0.1:50000/in?x": false, "http://127.0.0.1:50000/in#x": false,
		"http://127.0.0.1:/in": false, "http://127.0.0.1:123456/in": false, "http://127.0.0.1:5@evil.example/in": false,
		"http://127.0.0.1:50000@evil.example/in": false, "http://127.0.0.1.evil.example/in": false, "http://127.0.0.1:50000/x/in": false,
		"http://localhost:50000/in": false, "http://127.0.0.2:50000/in": false, "http://127.1:50000/in": false, "https://127.0.0.1:50000/in": false,
		"http://user@127.0.0.1:50000/in": false, "com.example.app://in": false, "com.example.app:/in2": false, "app:/in": false, "javascript:alert(1)": false,
		"http://127.0.0.1:50000\n/in": false, "http://127.0.0.1:50000/in\n": false, `http://127.0.0.1:5\@evil.example/in`: false,
		"http://127.0.0.1:" + strings.Repeat("0", 600) + "/in": false,
	} {
		if app.Allows(address) != allowed {
			t.Errorf("Allows(%.80q) = %t", address, !allowed)
		}
	}
}

// RPT-61
func TestAnApplicationHasAddressesOfItsOwn(t *testing.T) {
	for address, good := range map[string]bool{
		"https://app.example.com/in": true, "https://app.example.com": true, "http://127.0.0.1/": true, "http://[::1]/x": true, "com.example.app:/in": true,
		"": false, "https://": false, "https:/x": false, "https://app.example.com/in?x": false, "https://app.example.com/#": false, "https://u:p@app.example.com/": false,
		"http://app.example.com/": false, "http://localhost/in": false, "http://127.0.0.1:80/in": false, "http://127.0.0.1": false, "http://127.0.0.1.evil.example/in": false,
		"app:/in": false, "javascript:x": false, "/in": false, "https://app.example.com/a b": false, `https://app.example.com\x`: false,
		"https://app.example.com/\n": false, "https://app.example.com/" + strings.Repeat("x", 600): false,
	} {
		a := app
		a.RedirectURLs = []string{address}
		if err := a.Check(); (err == nil) != good {
			t.Errorf("Check of %.80q: %v", address, err)
		}
	}
	for name, change := range map[string]func(*native.Application){
		"no id": func(a *native.Application) { a.ID = "" }, "an id with a space": func(a *native.Application) { a.ID = "a b" },
		"a long id": func(a *native.Application) { a.ID = strings.Repeat("x", 65) },
		"no name":   func(a *native.Application) { a.Name = "" }, "no address": func(a *native.Application) { a.RedirectURLs = nil },
		"a private scheme": func(a *native.Application) { a.DangerouslyAllowPrivateScheme = false },
	} {
		a := app
		if change(&a); a.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
