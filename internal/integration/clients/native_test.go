package clients_test

import (
	"net/url"
	"os/exec"
	"testing"
)

// The application of the example finds no browser to open and prints the address
// instead. The user opens it, signs in and consents: from a page with a strict
// policy the browser must be redirected to an address of this machine.
func TestTheJSONAPIExample(t *testing.T) {
	binary := buildExample(t, "jsonapi")
	api, err := url.Parse(start(t, exec.Command(binary, "-addr", "localhost:0")).says(`http://\S+`))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-app", "-addr", api.Host)
	cmd.Env = []string{"PATH=" + t.TempDir()}
	app := start(t, cmd)
	address := app.says(`http://\S+`)

	p := newBrowser(t).openTab(t, "person")
	p.open(address)
	p.press("Sign in with Local identity provider")
	p.pick("Grace Hopper")
	p.hasTitle("Sign in to an application?")
	p.picture("question")
	p.press("Agree")
	p.waitFor("back at the application", `document.body.innerText.startsWith("You can close this window")`)
	app.says("The API returns your name: Grace Hopper")
}
