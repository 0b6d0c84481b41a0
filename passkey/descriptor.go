package passkey

import (
	"encoding/base64"
	"strings"

	"github.com/pintleauth/pintle"
)

// A descriptor names a credential to a browser.
//
// https://www.w3.org/TR/webauthn-3/#dictdef-publickeycredentialdescriptorjson
type descriptor struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Transports []string `json:"transports,omitempty"`
}

func descriptors(known []*pintle.Passkey) []descriptor {
	list := make([]descriptor, 0, len(known))
	for _, a := range known {
		id, err := base64.StdEncoding.DecodeString(a.CredentialID)
		if err != nil {
			continue // a damaged row: it cannot be a credential of a browser
		}
		list = append(list, descriptor{ID: base64.RawURLEncoding.EncodeToString(id), Type: "public-key", Transports: a.Transports})
	}
	return list
}

const (
	maxTransports = 8
	maxTransport  = 32
)

// transports returns the browser's hints on how to reach an authenticator. They are
// not signed: values that do not look like a transport are left out.
func transports(said []string) (list []string) {
	for _, transport := range said {
		if transport != "" && len(transport) <= maxTransport && len(list) < maxTransports &&
			strings.Trim(transport, "abcdefghijklmnopqrstuvwxyz-") == "" {
			list = append(list, transport)
		}
	}
	return list
}
