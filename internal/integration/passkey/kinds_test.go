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

// kinds are what people have in their hands, and what a site may ask of it.
var kinds = []struct {
	name     string
	key      webauthn.VirtualAuthenticatorOptions
	options  passkey.Options
	resident bool // the passkey is found without saying who one is
}{
	{"platform", platform, passkey.Options{}, true},
	{"platform, asked to keep nothing", platform, passkey.Options{ResidentKey: "discouraged"}, false},
	{"platform, which keeps nothing", platformWithoutMemory, passkey.Options{ResidentKey: "preferred"}, false},
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
					if len(passkeys) != 1 || !slices.Contains(strings.Split(passkeys[0].Transports, ","), reached) || d.credentials()[0].IsResidentCredential != kind.resident {
						t.Errorf("the passkeys are %+v, want one that is reached by %s and resident %t", passkeys, reached, kind.resident)
					}

					d.forget()
					if found := d.tries(`{}`); kind.resident != (found == email) {
						t.Errorf("without saying who one is, %q is signed in", found)
					}
					d.forget()
					if found := d.tries(fmt.Sprintf(`{action: "authenticate", email: %q}`, email)); found != email {
						t.Errorf("after saying who one is, %q is signed in; log:\n%s", found, s.log.String())
					}
					if _, passkeys := s.user(email); !passkeys[0].LastUsed.After(passkeys[0].Created) {
						t.Errorf("the passkey of %s was used at %s", passkeys[0].Created, passkeys[0].LastUsed)
					}
				})
			}
		})
	}
}

// WA-6: what a site asks for unless it says otherwise not every authenticator
// can do. The browser finds that before anything is sent.
func TestAuthenticatorsThatCannotDoWhatIsAsked(t *testing.T) {
	s := newSite(t, memstore.New(), passkey.Options{})
	d := s.device(t)
	d.home()
	for name, key := range map[string]webauthn.VirtualAuthenticatorOptions{
		"keeps nothing": platformWithoutMemory, "has no PIN": securityKeyWithoutPIN, "is of long ago": securityKeyOfLongAgo,
	} {
		d.attach(key)
		if _, err := d.try(`answer({email: "ada@example.com"})`); err == nil || !strings.Contains(err.Error(), "NotAllowedError") {
			t.Errorf("of one that %s the browser said %v, want NotAllowedError", name, err)
		}
	}
}
