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

// From the documentation of Firebase: https://github.com/firebase/scrypt
const (
	firebaseHash = "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
	firebaseSalt = "42xEC+ixf3L2lw=="
)

func firebaseProject() password.Firebase {
	return password.Firebase{
		SignerKey:     "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
		SaltSeparator: "Bw==", Rounds: 8, MemoryCost: 14,
	}
}

func TestHashesOfFirebase(t *testing.T) {
	other := firebaseProject()
	other.SignerKey = "a" + other.SignerKey[1:]
	h := &password.Hasher{Memory: 64, Passes: 1, Firebase: []password.Firebase{other, firebaseProject()}}
	urls := strings.NewReplacer("+", "-", "/", "_") // as the Admin SDK writes them
	for _, hash := range []string{firebaseHash, urls.Replace(firebaseHash)} {
		stored, err := firebaseProject().Import(hash, urls.Replace(firebaseSalt))
		if err != nil {
			t.Fatal(err)
		}
		for entered, want := range map[string]bool{
			"user1password": true, "user1passwore": false, "user1password\x00": false, "": false,
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
	if stored, err := firebaseProject().Import("", ""); stored != "" || err != nil {
		t.Errorf("a user without a password: Import = %q, %v, want the empty text", stored, err)
	}
}

// A key that the application forgot is a fault of its configuration: the users have
// not mistyped their passwords.
func TestAHashOfAProjectThatIsNotConfiguredIsAnError(t *testing.T) {
	stored, err := firebaseProject().Import(firebaseHash, firebaseSalt)
	if err != nil {
		t.Fatal(err)
	}
	other := firebaseProject()
	other.SignerKey = "a" + other.SignerKey[1:]
	for name, projects := range map[string][]password.Firebase{
		"no project": nil, "another project": {other}, "no key": {{}}, "a damaged key": {{SignerKey: "!"}},
	} {
		h := &password.Hasher{Memory: 64, Passes: 1, Firebase: projects}
		if ok, err := h.Verify(t.Context(), stored, "user1password"); ok || err == nil {
			t.Errorf("%s: Verify = %t, %v, want an error", name, ok, err)
		}
	}
}

func TestFirebaseRejects(t *testing.T) {
	change := func(f func(p *password.Firebase)) password.Firebase {
		p := firebaseProject()
		f(&p)
		return p
	}
	for _, tt := range []struct {
		name       string
		project    password.Firebase
		hash, salt string
		ofTheHash  bool // whether the hash is at fault, not the parameters
	}{
		{"no parameters", password.Firebase{}, firebaseHash, firebaseSalt, false},
		{"no parameters and no hash", password.Firebase{}, "", "", false},
		{"a damaged key", change(func(p *password.Firebase) { p.SignerKey = "!" }), firebaseHash, firebaseSalt, false},
		{"a damaged separator", change(func(p *password.Firebase) { p.SaltSeparator = "!" }), firebaseHash, firebaseSalt, false},
		{"too much memory", change(func(p *password.Firebase) { p.MemoryCost = 18 }), firebaseHash, firebaseSalt, false},
		{"memory beyond any", change(func(p *password.Firebase) { p.MemoryCost = 64 }), firebaseHash, firebaseSalt, false},
		{"negative memory", change(func(p *password.Firebase) { p.MemoryCost = -1 }), firebaseHash, firebaseSalt, false},
		{"too many rounds", change(func(p *password.Firebase) { p.Rounds = 17 }), firebaseHash, firebaseSalt, false},
		{"no round", change(func(p *password.Firebase) { p.Rounds = 0 }), firebaseHash, firebaseSalt, false},
		{"no salt", firebaseProject(), firebaseHash, "", true},
		{"a damaged salt", firebaseProject(), firebaseHash, "!", true},
		{"a damaged hash", firebaseProject(), "!", firebaseSalt, true},
		{"a short hash", firebaseProject(), firebaseSalt, firebaseSalt, true},
		{"a hash that is shorter than the key", firebaseProject(), firebaseHash[:44], firebaseSalt, true},
		{"a short key", change(func(p *password.Firebase) { p.SignerKey = "Bw==" }), firebaseHash, firebaseSalt, false},
		{"a long salt", firebaseProject(), firebaseHash, strings.Repeat("AAAA", 43), true},
	} {
		stored, err := tt.project.Import(tt.hash, tt.salt)
		if stored != "" || err == nil || errors.Is(err, password.ErrHash) != tt.ofTheHash {
			t.Errorf("%s: Import = %q, %v", tt.name, stored, err)
		}
	}
}

// SH-13
func TestASignerKeyIsNeitherStoredNorPrintedNorLogged(t *testing.T) {
	project := firebaseProject()
	stored, err := project.Import(firebaseHash, firebaseSalt)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("", "project", project)
	h := &password.Hasher{Firebase: []password.Firebase{project}}
	_, failed := (&password.Hasher{Firebase: []password.Firebase{{SignerKey: project.SignerKey + "!"}}}).Verify(t.Context(), stored, "x")
	for name, text := range map[string]string{
		"stored": stored, "%v": fmt.Sprint(project), "%+v": fmt.Sprintf("%+v", h), "%#v": fmt.Sprintf("%#v", project),
		"log": log.String(), "error": fmt.Sprint(failed),
	} {
		if strings.Contains(text, project.SignerKey[:12]) {
			t.Errorf("%s has the key: %s", name, text)
		}
	}
}
