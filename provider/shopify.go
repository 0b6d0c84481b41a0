package provider

import (
	"cmp"
	"errors"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// ShopifyOptions are the options of [Shopify].
type ShopifyOptions struct {
	Options

	// Shop is the name of the shop: that of SHOP.myshopify.com.
	Shop string

	// Version is the version of the API, "2026-10" if empty. Versions live for
	// a year.
	Version string
}

// Shopify signs in a shop with its Shopify account: the account is that of the
// shop, not of a person.
//
// Register the callback URL /auth/callback/shopify. Variables: AUTH_SHOPIFY_ID
// and AUTH_SHOPIFY_SECRET. Set Shop; an application for many shops makes a
// configuration for each request.
//
// https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/authorization-code-grant
func Shopify(o ShopifyOptions) *pintle.OAuth {
	host := o.Shop + ".myshopify.com"
	admin := "https://" + host + "/admin"
	p := withProfileRequest(o.applySeparated(&pintle.OAuth{
		ID: "shopify", Name: "Shopify",
		Authorization: endpoint(admin+"/oauth/authorize", "scope", "read_customers"),
		Token:         endpoint(admin + "/oauth/access_token"),
		UserInfo:      endpoint(admin + "/api/" + cmp.Or(o.Version, "2026-10") + "/shop.json"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "shop!.id", name: "shop.name", email: "shop.email"}.user,
		Quirks: oauth.Quirks{TokenTypeOptional: true, TokenRequest: func(r *oauth.TokenRequest) error {
			return checkShopCallback(r, host)
		}},
	}, ","), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		return apiRequest{endpoint: own.UserInfo}.with("X-Shopify-Access-Token", tokens.Text("access_token")), nil
	})
	return completing(p, func(*pintle.OAuth) error {
		if o.Shop == "" || strings.Trim(o.Shop, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return errors.New("ShopifyOptions.Shop is not the name of a shop: set it to the part before .myshopify.com")
		}
		return nil
	})
}
