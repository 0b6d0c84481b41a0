package provider_test

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

var signingKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

const entraTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

func (s *service) metadata() any {
	issuer := s.values["issuer"]
	if strings.HasPrefix(s.fact.Discovery, "https://") {
		issuer = s.fact.Issuer
	}
	issuer = s.fill(issuer)
	document := map[string]any{
		"authorization_endpoint": s.at("authorize"), "token_endpoint": s.at("token"),
		"userinfo_endpoint": s.at("userinfo"), "jwks_uri": s.at("jwks"),
		"id_token_signing_alg_values_supported": []string{"RS256"},
	}
	switch s.fact.ID {
	case "microsoft-entra-id", "azure-ad":
		issuer = strings.Replace(issuer, "common", "{tenantid}", 1)
	case "apple":
		delete(document, "userinfo_endpoint")
	}
	document["issuer"] = issuer
	return document
}

func (s *service) keys() any {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: signingKey().Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"}}}
}

func (s *service) idToken() string {
	claims := map[string]any{}
	if s.fact.UserInfo.Source == "id-token-claims" {
		claims = s.claims()
	}
	sub := s.who.ID
	maps.Copy(claims, map[string]any{
		"iss": s.metadata().(map[string]any)["issuer"], "aud": clientID, "sub": sub,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	})
	if s.anonymous {
		delete(claims, "sub")
	}
	if nonce := s.authorized.Get("nonce"); nonce != "" {
		claims["nonce"] = nonce
	}
	if strings.Contains(claims["iss"].(string), "{tenantid}") {
		tenant := cmp.Or(s.tenant, entraTenant)
		claims["tid"], claims["iss"] = tenant, strings.Replace(claims["iss"].(string), "{tenantid}", tenant, 1)
		if s.tenant == "none" {
			delete(claims, "tid")
		}
	}
	return s.sign(claims)
}

// sign makes a JWT as the service would.
func (s *service) sign(claims map[string]any) string {
	key := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: signingKey(), KeyID: "1"}}
	if alg := s.fact.Client["id_token_signed_response_alg"]; alg == "HS256" {
		key = jose.SigningKey{Algorithm: jose.HS256, Key: []byte(longSecret)}
	}
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		s.t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		s.t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		s.t.Fatal(err)
	}
	return compact
}
