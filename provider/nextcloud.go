package provider

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Nextcloud signs users in with an account of a Nextcloud server.
//
// Register the callback URL /auth/callback/nextcloud. Variables:
// AUTH_NEXTCLOUD_ID, AUTH_NEXTCLOUD_SECRET and AUTH_NEXTCLOUD_ISSUER. Set Issuer
// to the address of the server. A client has all permissions of the user:
// Nextcloud has no scopes.
//
// https://docs.nextcloud.com/server/latest/admin_manual/configuration_server/oauth2.html
func Nextcloud(o Options) *pintle.OAuth {
	p := onServer(o.apply(&pintle.OAuth{
		ID: "nextcloud", Name: "Nextcloud",
		Authorization: endpoint("/apps/oauth2/authorize", "scope", ""),
		Token:         endpoint("/apps/oauth2/api/v1/token"),
		UserInfo:      endpoint("/ocs/v1.php/cloud/users"),
		Profile: claims{id: "id", name: "displayname", email: "email", picture: func(p pintle.Profile) (any, error) {
			server := cmp.Or(p.Text("server"), strings.TrimRight(o.Issuer, "/"))
			return server + "/avatar/" + url.PathEscape(p.ID("id")) + "/512", nil
		}}.user,
	}), "")
	completing(p, func(own *pintle.OAuth) error {
		server, _, _ := strings.Cut(own.UserInfo.URL, "/ocs/")
		own.Quirks.AmendProfile = func(ctx context.Context, c *http.Client, a *oauth.Answer) error {
			err := unwrap("ocs.data")(ctx, c, a)
			if err == nil {
				a.Profile["server"] = server
			}
			return err
		}
		return nil
	})
	return withProfileRequest(p, func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		e, err := inPath(own.UserInfo, tokens, "user_id")
		return apiRequest{endpoint: e, header: map[string]string{"OCS-APIRequest": "true"}}.bearer(tokens), err
	})
}
