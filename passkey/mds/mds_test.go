package mds_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/metadata"
	"github.com/go-webauthn/webauthn/metadata/providers/memory"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/passkey/mds"
	"github.com/pintleauth/pintle/passkey/passkeytest"
	"github.com/pintleauth/pintle/store/memstore"
)

var (
	model   = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	another = [16]byte{2}
)

// A maker of authenticators has a root certificate.
type maker struct {
	key  *ecdsa.PrivateKey
	root *x509.Certificate
}

func newMaker(t *testing.T) *maker {
	t.Helper()
	m := &maker{key: newKey(t)}
	m.root = certificate(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "Root"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, m.key, m.key)
	return m
}

// authenticator returns one of a model that attests with a certificate.
//
// https://www.w3.org/TR/webauthn-3/#sctn-packed-attestation
func (m *maker) authenticator(t *testing.T, of [16]byte) *passkeytest.Authenticator {
	t.Helper()
	key := newKey(t)
	leaf := certificate(t, &x509.Certificate{Subject: pkix.Name{
		Country: []string{"SE"}, Organization: []string{"Maker"},
		OrganizationalUnit: []string{"Authenticator Attestation"}, CommonName: "Batch 1",
	}}, m.root, key, m.key)
	return attesting(of, func(message []byte) map[string]any {
		return map[string]any{"alg": passkeytest.ES256, "sig": sign(t, key, message), "x5c": []any{leaf.Raw}}
	})
}

// selfAttesting returns an authenticator that signs with the new credential.
func selfAttesting(t *testing.T, of [16]byte) *passkeytest.Authenticator {
	t.Helper()
	key := newKey(t)
	k := attesting(of, func(message []byte) map[string]any {
		return map[string]any{"alg": passkeytest.ES256, "sig": sign(t, key, message)}
	})
	named := k.AuthenticatorData
	k.AuthenticatorData = func(d []byte) []byte {
		public, err := passkeytest.COSEKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		return append(named(d)[:55+32], public...)
	}
	return k
}

// attesting returns an authenticator with packed attestations.
func attesting(of [16]byte, statement func(message []byte) map[string]any) *passkeytest.Authenticator {
	k := passkeytest.New()
	k.AuthenticatorData = func(d []byte) []byte {
		copy(d[37:], of[:])
		return d
	}
	var client []byte
	k.ClientData = func(data map[string]any) { client, _ = json.Marshal(data) }
	k.Attestation = func(object map[string]any) {
		hash := sha256.Sum256(client)
		object["fmt"] = "packed"
		object["attStmt"] = statement(slices.Concat(object["authData"].([]byte), hash[:]))
	}
	return k
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, key crypto.Signer, message []byte) []byte {
	t.Helper()
	digest := sha256.Sum256(message)
	signature, err := key.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

// certificate returns one for key. A certificate without an issuer is its own.
func certificate(t *testing.T, c, issuer *x509.Certificate, key, issuerKey *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	c.SerialNumber, c.BasicConstraintsValid = big.NewInt(1), true
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if issuer == nil {
		issuer = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, issuer, key.Public(), issuerKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// listing returns metadata in which the maker has one model.
func listing(t *testing.T, m *maker, options ...memory.Option) metadata.Provider {
	t.Helper()
	known := &metadata.Metadata{Parsed: metadata.Parsed{Entries: []metadata.Entry{{
		AaGUID: model,
		MetadataStatement: metadata.Statement{
			AttestationTypes:            metadata.AuthenticatorAttestationTypes{metadata.BasicFull},
			AttestationRootCertificates: []*x509.Certificate{m.root},
		},
		StatusReports: []metadata.StatusReport{{Status: metadata.FidoCertifiedL1}},
	}}}}
	options = append([]memory.Option{memory.WithMetadata(known.ToMap())}, options...)
	p, err := memory.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// revoked returns the same metadata after a report about the model.
func revoked(t *testing.T, m *maker) metadata.Provider {
	t.Helper()
	p := listing(t, m)
	entry, err := p.GetEntry(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	entry.StatusReports = append(entry.StatusReports, metadata.StatusReport{Status: metadata.Revoked})
	return p
}

// WA-9
func TestMetadataDecidesWhichAuthenticatorsAreTrusted(t *testing.T) {
	ours, theirs := newMaker(t), newMaker(t)
	synchronised := passkeytest.New()
	synchronised.Flags |= passkeytest.BackupEligible
	pretending := passkeytest.New()
	pretending.AuthenticatorData = func(d []byte) []byte {
		copy(d[37:], model[:])
		return d
	}
	certified := memory.WithStatusDesired([]metadata.AuthenticatorStatus{metadata.FidoCertifiedL2})
	unlisted, zero := memory.WithValidateEntry(false), memory.WithValidateEntryPermitZeroAAGUID(true)
	tests := []struct {
		name   string
		p      metadata.Provider
		key    *passkeytest.Authenticator
		reason string // empty if the passkey is accepted
	}{
		{"one that the metadata lists", listing(t, ours), ours.authenticator(t, model), ""},
		{"one of another model", listing(t, ours), ours.authenticator(t, another), "has no registered metadata"},
		{"one of another maker with the AAGUID", listing(t, ours), theirs.authenticator(t, model), "could not be verified"},
		{"one that attests itself with the AAGUID", listing(t, ours), selfAttesting(t, model), "basic_surrogate"},
		{"one that was revoked", revoked(t, ours), ours.authenticator(t, model), "REVOKED"},
		{"one without a status that is required", listing(t, ours, certified), ours.authenticator(t, model), "FIDO_CERTIFIED_L2"},
		{"one that attests nothing", listing(t, ours), synchronised, "attests nothing"},
		{"one that attests nothing with the AAGUID", listing(t, ours), pretending, "attests nothing"},
		{"one of another model where no entry is required", listing(t, ours, unlisted), ours.authenticator(t, another), ""},
		{"one that attests nothing where no entry is required", listing(t, ours, unlisted, zero), passkeytest.New(), "attests nothing"},
		{"one of any model without metadata", nil, ours.authenticator(t, model), "no metadata provider"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			accepted, log := register(t, mds.Trust(tt.p), tt.key)
			if accepted != (tt.reason == "") || !strings.Contains(log, tt.reason) {
				t.Errorf("accepted %t, want the reason %q; log:\n%s", accepted, tt.reason, log)
			}
		})
	}
}

func TestAnAttestationThatCannotBeRead(t *testing.T) {
	trust := mds.Trust(listing(t, newMaker(t)))
	for object, reason := range map[string]string{
		"":                   "read the attestation",
		"{}":                 "read the attestation",
		"\xa0":               "read the authenticator data", // an empty map
		"\xa1\x63fmt\x63tpm": "read the authenticator data", // {"fmt": "tpm"}
	} {
		err := trust(t.Context(), &passkey.Attestation{Format: "packed", Object: []byte(object)})
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%x: %v, want the reason %q", object, err, reason)
		}
	}
}

// register signs up with a new passkey at a site that asks trust, and reports
// whether a user is signed in then.
func register(t *testing.T, trust func(context.Context, *passkey.Attestation) error, key *passkeytest.Authenticator) (accepted bool, log string) {
	t.Helper()
	var text bytes.Buffer
	auth, err := pintle.New(pintle.Config{
		Providers:            []pintle.Provider{passkey.New(passkey.Options{Attestation: passkey.AttestationDirect, Trust: trust})},
		Store:                memstore.New(),
		Secrets:              []string{"a secret for tests, 32 characters or more"},
		ExperimentalPasskeys: true,
		Getenv:               func(string) string { return "" },
		Logger:               slog.New(slog.NewTextHandler(&text, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		accepted = pintle.SessionFrom(r.Context()) != nil
	})))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	resp, err := key.SignIn(t.Context(), client, srv.URL+"/auth/callback/passkey", url.Values{"email": {"ada@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	resp, err = client.Get(srv.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return accepted, text.String()
}
