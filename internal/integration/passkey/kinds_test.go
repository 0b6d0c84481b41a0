package passkey_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"

	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/store/memstore"
)

// kinds are common authenticators, and options of a site for them.
var kinds = []struct {
	name     string
	key      webauthn.VirtualAuthenticatorOptions
	options  passkey.Options
	resident bool // the passkey is found without a user name
}{
	{"platform", platform, passkey.Options{}, true},
	{"platform, discouraged from storing passkeys", platform, passkey.Options{ResidentKey: "discouraged"}, false},
	{"platform, which stores no passkeys", platformWithoutMemory, passkey.Options{ResidentKey: "preferred"}, false},
	{"USB", securityKey, passkey.Options{}, true},
	{"USB, without a PIN", securityKeyWithoutPIN, passkey.Options{UserVerification: "preferred", ResidentKey: "discouraged"}, false},
	{"USB, of long ago", securityKeyOfLongAgo, passkey.Options{UserVerification: "discouraged", ResidentKey: "discouraged"}, false},
}

func TestKindsOfAuthenticators(t *testing.T) {
	for _, kept := range stores {
		t.Run(kept.name, func(t *testing.T) {
			store := kept.make(t)
			for i, kind := range kinds {
				t.Run(kind.name, func(t *testing.T) {
					s := newSite(t, store, kind.options)
					d := s.device(t)
					d.attach(kind.key)
					email := fmt.Sprintf("%d@example.com", i)
					d.signUp(email)
					_, passkeys := s.user(email)
					reached := string(kind.key.Transport)
					if len(passkeys) != 1 || !slices.Contains(passkeys[0].Transports, reached) || d.credentials()[0].IsResidentCredential != kind.resident {
						t.Errorf("the passkeys are %+v, want one that is reached by %s and resident %t", passkeys, reached, kind.resident)
					}

					d.forget()
					if found := d.tries(`{}`); kind.resident != (found == email) {
						t.Errorf("without a user name, %q is signed in", found)
					}
					d.forget()
					if found := d.tries(fmt.Sprintf(`{action: "authenticate", email: %q}`, email)); found != email {
						t.Errorf("with a user name, %q is signed in; log:\n%s", found, s.log.String())
					}
					if _, passkeys := s.user(email); !passkeys[0].LastUsed.After(passkeys[0].Created) {
						t.Errorf("the passkey of %s was used at %s", passkeys[0].Created, passkeys[0].LastUsed)
					}
				})
			}
		})
	}
}

// WA-6: not every authenticator supports the defaults of a site. The browser
// reports that before it sends a response.
func TestAuthenticatorsThatLackARequiredFeature(t *testing.T) {
	s := newSite(t, memstore.New(), passkey.Options{})
	d := s.device(t)
	d.home()
	for name, key := range map[string]webauthn.VirtualAuthenticatorOptions{
		"stores no passkeys": platformWithoutMemory, "has no PIN": securityKeyWithoutPIN, "is of long ago": securityKeyOfLongAgo,
	} {
		d.attach(key)
		if _, err := d.try(`answer({email: "ada@example.com"})`); err == nil || !strings.Contains(err.Error(), "NotAllowedError") {
			t.Errorf("for one that %s the browser reports %v, want NotAllowedError", name, err)
		}
	}
}
