package password_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/password"
)

// The hashes of what Devise hashes, made by bcrypt 3.1.18 of Ruby, which Devise calls:
//
//	BCrypt::Engine.hash_secret("lètmein" + pepper, "$2a$04$CCCCCCCCCCCCCCCCCCCCC.")
const (
	deviseHash     = "$2a$04$CCCCCCCCCCCCCCCCCCCCC.JS52/9WqUez3Ep4ke2AttaaelMtzoHi"
	deviseLongHash = "$2a$04$CCCCCCCCCCCCCCCCCCCCC.shJN3RXf.rWu/OWFOhX95/UASMFSFs6" // of 70 times "x"
	devisePlain    = "$2a$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua" // without a pepper
)

// deviseApp has a pepper of 128 characters, as the initializer of Devise makes it.
func deviseApp() password.Devise { return password.Devise{Pepper: strings.Repeat("b3d2a9", 21) + "b3"} }

func TestHashesOfDevise(t *testing.T) {
	h := &password.Hasher{Memory: 64, Passes: 1, Devise: []password.Devise{{Pepper: "another"}, {}, deviseApp()}}
	for _, tt := range []struct {
		app                     password.Devise
		hash, entered, mistyped string
	}{
		{deviseApp(), deviseHash, "lètmein", "letmein"},
		{deviseApp(), deviseLongHash, strings.Repeat("x", 70), strings.Repeat("x", 69)},
		{password.Devise{}, devisePlain, "lètmein", "letmein"},
	} {
		stored, err := tt.app.Import(tt.hash)
		if err != nil {
			t.Fatal(err)
		}
		for entered, want := range map[string]bool{
			tt.entered: true, tt.mistyped: false, tt.entered + "\x00": false, "": false, tt.hash: false,
		} {
			if ok, err := h.Verify(t.Context(), stored, entered); ok != want || err != nil {
				t.Errorf("password %q: Verify = %t, %v, want %t", entered, ok, err, want)
			}
		}
		if !h.Outdated(stored) {
			t.Error("the hash is not replaced")
		}
		if again, err := password.Import(stored); again != stored || err != nil {
			t.Errorf("Import = %q, %v, want the text itself", again, err)
		}
	}
}

// A pepper that the application forgot is a fault of its configuration: the users have
// not mistyped their passwords.
func TestAHashWhosePepperIsNotConfiguredIsAnError(t *testing.T) {
	stored, err := deviseApp().Import(deviseHash)
	if err != nil {
		t.Fatal(err)
	}
	for name, apps := range map[string][]password.Devise{"no pepper": {{}}, "nothing": nil, "another": {{Pepper: "another"}}} {
		h := &password.Hasher{Memory: 64, Passes: 1, Devise: apps}
		if ok, err := h.Verify(t.Context(), stored, "lètmein"); ok || !errors.Is(err, password.ErrHash) {
			t.Errorf("%s: Verify = %t, %v, want ErrHash", name, ok, err)
		}
	}
}

func TestDeviseRejects(t *testing.T) {
	for name, hash := range map[string]string{
		"a digest": "3f86d0d3d465b7b458c231bf3555c0e3", "a hash of Argon2id": "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$Yf/ImtPS4jXH37mgz+6E3Q",
		"too costly a hash": "$2a$15" + deviseHash[6:], "half a hash": deviseHash[:40],
	} {
		if stored, err := deviseApp().Import(hash); stored != "" || !errors.Is(err, password.ErrHash) {
			t.Errorf("%s: Import = %q, %v, want ErrHash", name, stored, err)
		}
	}
	for _, text := range []string{"$peppered$", "$peppered$ab12", "$peppered$ab1$2a$04$" + deviseHash[7:], "$peppered$ab12$x" + deviseHash[1:]} {
		if _, err := password.Import(text); !errors.Is(err, password.ErrHash) {
			t.Errorf("Import(%q) = %v, want ErrHash", text, err)
		}
	}
	if stored, err := deviseApp().Import(""); stored != "" || err != nil {
		t.Errorf("a user without a password: Import = %q, %v, want the empty text", stored, err)
	}
}

func TestAPepperIsNeitherStoredNorPrinted(t *testing.T) {
	stored, err := deviseApp().Import(deviseHash)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "app", deviseApp())
	for what, text := range map[string]string{
		"the stored text": stored, "%v": fmt.Sprint(deviseApp()), "%#v": fmt.Sprintf("%#v", deviseApp()), "the log": log.String(),
	} {
		if strings.Contains(text, "b3d2a9") {
			t.Errorf("%s has the pepper: %s", what, text)
		}
	}
}
