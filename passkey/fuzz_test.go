package passkey_test

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/passkey/passkeytest"
)

const fuzzChallenge = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// WA-14: for any request, a registration is rejected or gives a row that can be
// stored.
func FuzzRegistration(f *testing.F) {
	ceremony := passkey.New(passkey.Options{}).Ceremony
	request := &pintle.CeremonyRequest{
		Origin: origin, Challenge: fuzzChallenge,
		User: &pintle.User{Email: "ada@example.com"}, UserHandle: strings.Repeat("0", 64),
	}
	for _, algorithm := range []int{passkeytest.ES256, passkeytest.EdDSA, passkeytest.RS256} {
		key := passkeytest.New()
		key.Algorithm = algorithm
		f.Add(created(f, ceremony, key, request))
	}
	attesting := passkeytest.New()
	selfAttested(nil)(attesting)
	f.Add(created(f, ceremony, attesting, request))
	f.Fuzz(func(t *testing.T, answer []byte) {
		sent := *request
		sent.Answer = answer
		a, err := ceremony.VerifyRegistration(t.Context(), &sent)
		if err != nil {
			if a != nil {
				t.Error("a passkey came with an error")
			}
			return
		}
		if a.CredentialID == "" || len(a.CredentialID) > 1364 || a.PublicKey == "" || a.UserID != "" || a.DeviceType == "" || len(strings.Join(a.Transports, ",")) > 8*33 {
			t.Errorf("accepted as %+v", a)
		}
		if a.BackedUp && a.DeviceType != "multiDevice" {
			t.Error("WA-7: backed up and never to be")
		}
	})
}

func created(f *testing.F, ceremony pintle.Ceremony, key *passkeytest.Authenticator, r *pintle.CeremonyRequest) []byte {
	options, err := ceremony.RegistrationOptions(f.Context(), r)
	if err != nil {
		f.Fatal(err)
	}
	answer, err := key.Create(origin, options)
	if err != nil {
		f.Fatal(err)
	}
	return answer
}

// WA-12: only the authenticator can make a response that is accepted.
func FuzzAuthentication(f *testing.F) {
	ceremony := passkey.New(passkey.Options{}).Ceremony
	key := passkeytest.New()
	request := &pintle.CeremonyRequest{
		Origin: origin, Challenge: fuzzChallenge,
		User: &pintle.User{Email: "ada@example.com"}, UserHandle: strings.Repeat("0", 64),
	}
	request.Answer = created(f, ceremony, key, request)
	stored, err := ceremony.VerifyRegistration(f.Context(), request)
	if err != nil {
		f.Fatal(err)
	}
	request.Passkeys = []*pintle.Passkey{stored}
	options, err := ceremony.AuthenticationOptions(f.Context(), request)
	if err != nil {
		f.Fatal(err)
	}
	good, err := key.Get(origin, options)
	if err != nil {
		f.Fatal(err)
	}
	// The valid response has another challenge than the fuzzed ones, so every
	// response must be rejected.
	f.Add(good)
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		sent := *request
		sent.Challenge, sent.Answer = strings.Repeat("B", 43), answer
		if a, err := ceremony.VerifyAuthentication(t.Context(), &sent); err == nil || a != nil {
			t.Errorf("accepted as %+v", a)
		}
		if stored.Counter != 0 {
			t.Error("the stored passkey was changed")
		}
	})
}
