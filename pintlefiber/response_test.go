package pintlefiber

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/gofiber/fiber/v3"
)

func TestTheResponseBecomesFibers(t *testing.T) {
	tests := []struct {
		name        string
		answer      http.HandlerFunc
		status      int
		body        string
		contentType string
		cookies     []string
	}{
		{"none: the application's response stays", func(http.ResponseWriter, *http.Request) {}, 200, "page", "text/html", []string{"theme=dark", "a=1; path=/"}},
		{"headers only", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("Set-Cookie", "s=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly")
		}, 200, "page", "text/html", []string{"theme=dark", "a=1; path=/", "s=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly"}},
		{"a cookie replaced", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Set-Cookie"] = []string{"theme=dark", "a=2"}
		}, 200, "page", "text/html", []string{"theme=dark", "a=2"}},
		{"cookies removed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Del("Set-Cookie")
		}, 200, "page", "text/html", nil},
		{"a page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusForbidden)
			w.WriteHeader(http.StatusOK) // which net/http ignores too
			_, _ = io.WriteString(w, "one ")
			_, _ = io.WriteString(w, "two")
		}, 403, "one two", "text/plain", []string{"theme=dark", "a=1; path=/"}},
		{"a redirect without a body", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusFound)
		}, 302, "", "", []string{"theme=dark", "a=1; path=/"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			app := fiber.New()
			app.Use(func(c fiber.Ctx) error {
				c.Set("Set-Cookie", "theme=dark")
				c.Cookie(&fiber.Cookie{Name: "a", Value: "1", SameSite: fiber.CookieSameSiteDisabled})
				c.Type("html")
				c.Set("Content-Type", "text/html")
				c.Response().SetBodyString("page")
				return call(c, tt.answer)
			})
			resp, err := app.Test(httptest.NewRequest(http.MethodGet, "/", http.NoBody))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if resp.StatusCode != tt.status || string(body) != tt.body || err != nil || resp.Header.Get("Content-Type") != tt.contentType {
				t.Errorf("status %d, %q body %q, %v", resp.StatusCode, resp.Header.Get("Content-Type"), body, err)
			}
			if got := resp.Header["Set-Cookie"]; !slices.Equal(got, tt.cookies) {
				t.Errorf("cookies %q, want %q", got, tt.cookies)
			}
		})
	}
}
