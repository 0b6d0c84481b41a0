package pintle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/pintleauth/pintle/internal/handshake"
)

// resolveClientKeys makes the key set of the route jwks, in the order of the
// configuration. Several providers may have the same key.
//
// https://www.rfc-editor.org/rfc/rfc7517#section-5
func (s *settings) resolveClientKeys() *Error {
	known := map[string]handshake.PublishedKey{}
	var keys []json.RawMessage
	for _, p := range s.providers {
		if p.publishedKeys == nil {
			continue
		}
		published, err := p.publishedKeys()
		if err != nil {
			return &Error{Code: codeInvalidEndpoints, Provider: p.id, Err: err}
		}
		for _, key := range published {
			other, taken := known[key.ID]
			switch {
			case taken && other.Thumbprint != key.Thumbprint:
				// A provider that reads the set could take the wrong one.
				return &Error{
					Code: CodeConfiguration, Provider: p.id,
					Err: fmt.Errorf("two providers have different client keys with the ID %q: give one of them another ID, "+
						"or none", key.ID),
				}
			case !taken:
				known[key.ID] = key
				keys = append(keys, key.JWK)
			}
		}
	}
	if keys == nil {
		return nil
	}
	var err error
	if s.jwks, err = json.Marshal(map[string]any{"keys": keys}); err != nil {
		return fail(CodeConfiguration, err)
	}
	return nil
}

// clientKeys answers the route jwks, which providers fetch the keys of the client from.
// The keys are no secrets, so the answer may be cached, for five minutes: what is
// removed here is soon unknown there.
func (x *exchange) clientKeys() {
	x.answer.header = http.Header{"Cache-Control": {"public, max-age=300"}}
	x.setJSON(http.StatusOK, bytes.Clone(x.jwks))
}
