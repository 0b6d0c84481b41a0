package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// BattleNet signs users in with their Battle.net account.
//
// Register the callback URL /auth/callback/battlenet. Variables:
// AUTH_BATTLENET_ID, AUTH_BATTLENET_SECRET and AUTH_BATTLENET_ISSUER. Issuer is
// https://oauth.battle.net if empty; in China it is
// https://oauth.battlenet.com.cn. The service returns no address.
//
// https://develop.battle.net/documentation/guides/using-oauth/authorization-code-flow
func BattleNet(o Options) *pintle.OAuth {
	return defaultIssuer(o.apply(&pintle.OAuth{
		ID: "battlenet", Name: "Battle.net", Protocol: oauth.OIDC,
		// The service rejects a request without a state.
		Checks:  []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		Profile: claims{id: "sub", name: "battle_tag", email: "null", image: "null"}.user,
	}), "https://oauth.battle.net")
}
