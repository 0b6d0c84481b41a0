package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"os"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// Sign-in by mail for the members of one organization. The application sends the
// mails itself, and accepts addresses of the organization only.
func ExampleEmail() {
	outbox := make(chan *pintle.Message, 1) // takes the place of a mail service
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Email{
			From: "Example <no-reply@example.com>",
			Send: func(_ context.Context, m *pintle.Message) error {
				outbox <- m // with m.From, m.To, m.Subject, m.Text and m.HTML
				return nil
			},
			Normalize: func(typed string) (string, error) {
				address := strings.ToLower(strings.TrimSpace(typed))
				parsed, err := mail.ParseAddress(address)
				if err != nil {
					return "", err
				}
				// Names and quotes could hide a second recipient.
				if parsed.Address != address || !strings.HasSuffix(address, "@example.com") {
					return "", errors.New("not an address of a member")
				}
				return address, nil
			},
		}},
		Store:   memstore.New(),
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "email", pintle.SignInOptions{
			RedirectTo: "/",
			Fields:     map[string]any{"email": r.FormValue("email")},
		})
		if err != nil {
			http.Error(w, "No mail was sent.", http.StatusBadRequest)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("POST /login", http.NewCrossOriginProtection().Handler(login))
	mux.Handle("/", auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "Hello", pintle.SessionFrom(r.Context()).User.Email)
	}))))
	app := httptest.NewServer(mux)
	defer app.Close()

	jar, _ := cookiejar.New(nil) // never fails without options
	browser := &http.Client{Jar: jar}
	for _, typed := range []string{"eve@example.org", " Kim@Example.com"} {
		resp, err := browser.PostForm(app.URL+"/login", url.Values{"email": {typed}})
		if err != nil {
			log.Fatal(err)
		}
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	m := <-outbox
	fmt.Println("a mail to", m.To)
	resp, err := browser.Get(m.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stdout, resp.Body)
	// Output:
	// 400 Bad Request
	// 200 OK
	// a mail to kim@example.com
	// Hello kim@example.com
}
