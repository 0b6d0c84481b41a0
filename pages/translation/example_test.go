package translation_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/pages/translation"
)

// A site in English, German and Japanese, with one German text of its own.
func Example() {
	german := translation.German()
	german.SignInHeading = "Willkommen zurück"

	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{
			Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil },
		}},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Languages: []pages.Texts{german, translation.Japanese()},
	})
	if err != nil {
		log.Fatal(err)
	}
	heading := regexp.MustCompile(`<h1>.*?</h1>`)
	for _, language := range []string{"en-GB", "de-AT,de;q=0.9,en;q=0.5", "ja"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:3000/auth/signin", nil)
		r.Header.Set("Accept-Language", language)
		w := httptest.NewRecorder()
		auth.ServeHTTP(w, r)
		fmt.Println(heading.FindString(w.Body.String()))
	}
	// Output:
	// <h1>Sign in</h1>
	// <h1>Willkommen zurück</h1>
	// <h1>ログイン</h1>
}

// A site that is in Turkish unless the browser prefers another language.
func ExampleAll() {
	languages := slices.DeleteFunc(translation.All(), func(texts pages.Texts) bool { return texts.Lang == "tr" })
	config := pintle.Config{
		Texts:     translation.Turkish(),
		Languages: append(languages, translation.English()),
	}
	fmt.Println(config.Texts.SignInHeading, len(config.Languages))
	// Output: Oturum açın 15
}
