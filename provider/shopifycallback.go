package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/oauth"
)

// checkShopCallback verifies that Shopify made the callback, and for this shop,
// before its code is used.
//
// https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/authorization-code-grant#step-1-verify-the-installation-request
func checkShopCallback(r *oauth.TokenRequest, host string) error {
	if r.Callback == nil { // a refresh
		return nil
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(r.Callback)) {
		if name != "hmac" {
			pairs = append(pairs, name+"="+r.Callback[name])
		}
	}
	mac := hmac.New(sha256.New, []byte(r.Form.Get("client_secret")))
	mac.Write([]byte(strings.Join(pairs, "&")))
	given, err := hex.DecodeString(r.Callback["hmac"])
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return errors.New("the hmac of the callback is not Shopify's")
	}
	if r.Callback["shop"] != host {
		return errors.New("the callback is of another shop")
	}
	return nil
}
