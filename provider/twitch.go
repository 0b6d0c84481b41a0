package provider

import (
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Twitch signs users in with their Twitch account.
//
// Register the callback URL /auth/callback/twitch. Variables: AUTH_TWITCH_ID and
// AUTH_TWITCH_SECRET.
//
// https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/
func Twitch(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "twitch", Name: "Twitch", Protocol: oauth.OIDC,
		Issuer: "https://id.twitch.tv/oauth2",
		Authorization: endpoint("", "scope", "openid user:read:email",
			"claims", `{"id_token":{"email":null,"email_verified":null,"picture":null,"preferred_username":null}}`),
		ClientAuth: "client_secret_post",
		Quirks:     oauth.Quirks{TokenResponse: twitchTokens},
		// https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/#requesting-claims
		EmailVerified: saysVerified("email_verified"),
	})
}

// twitchTokens joins scopes, which come as a list, and renames errors to those of
// RFC 6749.
func twitchTokens(r *oauth.TokenResponse) error {
	if r.Status != http.StatusOK && r.Body["message"] != nil {
		r.Body = map[string]any{"error": "invalid_request", "error_description": r.Body["message"]}
		return nil
	}
	if _, isText := r.Body["scope"].(string); isText {
		return nil
	}
	var scopes []string
	list, _ := r.Body["scope"].([]any)
	for _, scope := range list {
		if text, ok := scope.(string); ok {
			scopes = append(scopes, text)
		}
	}
	delete(r.Body, "scope")
	if len(scopes) > 0 {
		r.Body["scope"] = strings.Join(scopes, " ")
	}
	return nil
}
