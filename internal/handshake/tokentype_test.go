package handshake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/dpop"
	"github.com/pintleauth/pintle/oauth"
)

// RPT-43, RPX-131. A token is bound if a proof was sent and the answer says so. Without a proof
// nothing can be bound, whatever the answer says; where tokens have to be bound, a bearer token is
// rejected although a proof was sent. The same holds for a refresh.
func TestTheTypeOfATokenFitsTheProof(t *testing.T) {
	key, err := dpop.Derive("a secret of thirty-two characters", "op")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dpop     oauth.DPoP
		fapi     bool
		offered  []string
		proves   bool
		accepted string
	}{
		{dpop: 0, proves: false, accepted: "bearer"},
		{dpop: 0, offered: []string{"ES256"}, proves: false, accepted: "bearer"},
		{dpop: oauth.DPoPWhenOffered, proves: false, accepted: "bearer"},
		{dpop: oauth.DPoPWhenOffered, offered: []string{"PS256"}, proves: false, accepted: "bearer"},
		{dpop: oauth.DPoPWhenOffered, offered: []string{"PS256", "ES256"}, proves: true, accepted: "bearer dpop"},
		{dpop: oauth.DPoPRequired, proves: true, accepted: "dpop"},
		{fapi: true, proves: true, accepted: "dpop"},
	} {
		for _, typ := range []any{"Bearer", "bearer", "DPoP", "dpop", "mac", "", nil, 1} {
			for _, refresh := range []bool{false, true} {
				t.Run(fmt.Sprintf("DPoP %d, FAPI %v, offered %q, type %v, refresh %v", tt.dpop, tt.fapi, tt.offered, typ, refresh), func(t *testing.T) {
					o := newOP(t)
					o.key, o.alg = ecdsaKey(), "ES256"
					o.keys = []map[string]any{jwk(ecdsaKey(), "key-1", "ES256")}
					o.document = func(d map[string]any) {
						d["dpop_signing_alg_values_supported"], d["id_token_signing_alg_values_supported"] = tt.offered, []string{"ES256"}
					}
					o.tokens = func(body map[string]any) {
						if body["token_type"] = typ; typ == nil {
							delete(body, "token_type")
						}
					}
					p := o.provider()
					p.DPoP, p.FAPI, p.Proofs, p.APIProofs = tt.dpop, tt.fapi, dpop.NewProver(key), dpop.NewProver(key)
					if tt.fapi {
						p.ClientSecret, p.ClientKeys = "", []oauth.ClientKey{{Signer: ecdsaKey()}}
					}
					var got map[string]any
					if refresh {
						got, err = p.Refresh(t.Context(), "refresh-1", "sub-alice")
					} else if r, failed := p.Redeem(t.Context(), options()); failed != nil {
						got, err = nil, failed
					} else {
						got, err = r.Tokens, nil
					}
					name, _ := typ.(string)
					name = strings.ToLower(name)
					if want := name != "" && strings.Contains(tt.accepted, name); want != (err == nil) || want && got["token_type"] != name || !want && !strings.Contains(err.Error(), "token_type") {
						t.Errorf("the answer is %v, %v", got, err)
					}
					if sent := o.last(t, "/token").header.Get("DPoP") != ""; sent != tt.proves {
						t.Errorf("a proof was sent: %v, want %v", sent, tt.proves)
					}
				})
			}
		}
	}
}
