// Package authenticator reads the QR code of an authenticator app as an app does.
package authenticator

import (
	"context"
	"html"
	"image"
	"image/color"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
)

var (
	viewBox = regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`)
	run     = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)
	uri     = regexp.MustCompile(`href="(otpauth:[^"]+)"`)
	token   = regexp.MustCompile(`name="csrfToken" value="([^"]+)"`)
)

// AT-63: the image on the page is read by another implementation, whatever the names are.
func TestAnAppReadsTheImageOfTheKey(t *testing.T) {
	for issuer, want := range map[string]string{
		"Site & Söhne \"quoted\" <b>/?#+%": "Site & Söhne \"quoted\" <b>/?#+%",
		"Site: with colon":                 "Site  with colon",
		strings.Repeat("x", 200):           strings.Repeat("x", 100),
		"日本語のサイト":                          "日本語のサイト",
		"":                                 "127.0.0.1",
	} {
		shown := totpPage(t, issuer)
		read := decode(t, shown)
		link := html.UnescapeString(uri.FindStringSubmatch(shown)[1])
		if read != link {
			t.Errorf("the image has %q, the link %q", read, link)
		}
		u, err := url.Parse(read)
		if err != nil {
			t.Fatal(err)
		}
		label := strings.Split(u.Path, ":")
		if len(label) != 2 || !strings.HasPrefix(label[0], "/"+want) || label[1] != "ada+test@example.com" {
			t.Errorf("the label is %q, want %q and the address", label, want)
		}
		q := u.Query()
		if u.Scheme != "otpauth" || u.Host != "totp" || !strings.HasPrefix(q.Get("issuer"), want) || len(q.Get("secret")) != 32 ||
			q.Get("digits") != "6" || q.Get("period") != "30" || q.Get("algorithm") != "SHA1" {
			t.Errorf("the key is %q", read)
		}
	}
}

// decode reads the image on a page.
func decode(t *testing.T, shown string) string {
	t.Helper()
	box := viewBox.FindStringSubmatch(shown[strings.Index(shown, `class="figure"`):])
	side := number(t, box[1])
	const scale = 4
	img := image.NewGray(image.Rect(0, 0, side*scale, side*scale))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for _, m := range run.FindAllStringSubmatch(shown, -1) {
		x, y, n := number(t, m[1]), number(t, m[2]), number(t, m[3])
		if x < 4 || y < 4 || x+n > side-4 || y >= side-4 {
			t.Fatalf("there is a module in the quiet zone: %s", m[0])
		}
		for dx := range n * scale {
			for dy := range scale {
				img.SetGray(x*scale+dx, y*scale+dy, color.Gray{})
			}
		}
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(img)
	if err != nil {
		t.Fatal(err)
	}
	result, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.GetText()
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// totpPage signs a user in and returns the page of a new app.
func totpPage(t *testing.T, site string) string {
	t.Helper()
	const email, chosen = "ada+test@example.com", "correct horse battery"
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	store, hasher := memstore.New(), &password.Hasher{Memory: 64, Passes: 1}
	cfg := pintle.Config{
		Store: store, URL: server.URL, Secrets: []string{strings.Repeat("secret ", 6)}, Getenv: func(string) string { return "" },
		Accounts: account.New(account.Options{
			Mail:      func(context.Context, *pintle.Message) error { return nil },
			Passwords: account.Passwords{Hasher: hasher},
		}),
	}
	cfg.Texts.Site = site
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/auth/", auth)
	now := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Hour)
	u, err := store.CreateUser(t.Context(), &pintle.User{ID: "ada", Email: email, EmailVerified: now})
	if err != nil {
		t.Fatal(err)
	}
	hash, err := hasher.Hash(t.Context(), chosen)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.AccountStore().AddFactor(t.Context(), &accountstore.Factor{UserID: u.ID, Kind: "password", Secret: hash, Created: now}); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &http.Client{Jar: jar}
	form := url.Values{"email": {email}, "password": {chosen}}
	form.Set("csrfToken", token.FindStringSubmatch(body(t, b, request(t, server.URL+"/auth/signin", nil)))[1])
	body(t, b, request(t, server.URL+"/auth/callback/credentials", form))
	return body(t, b, request(t, server.URL+"/auth/account/totp", nil))
}

func request(t *testing.T, target string, form url.Values) *http.Request {
	t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", r.URL.Scheme+"://"+r.URL.Host)
	}
	r.Header.Set("Accept", "text/html")
	return r
}

func body(t *testing.T, b *http.Client, r *http.Request) string {
	t.Helper()
	resp, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
