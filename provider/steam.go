package provider

import (
	"context"
	"errors"
	"net/http"
	"regexp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Steam signs users in with their Steam account, over OpenID 2.0.
//
// Register a Web API key only, the variable AUTH_STEAM_SECRET; there is no client
// id. The key is needed for name and picture: without it the user has only an id.
// The service returns no address.
//
// https://partner.steamgames.com/doc/features/auth#website
func Steam(o Options) *pintle.OAuth {
	return completing(o.apply(&pintle.OAuth{
		ID: "steam", Name: "Steam", Protocol: oauth.OpenID2,
		Authorization: endpoint("https://steamcommunity.com/openid/login"),
		UserInfo:      endpoint("https://api.steampowered.com/ISteamUser/GetPlayerSummaries/v0002/"),
		Profile: claims{
			id: "id", name: "response.players.0.realname||response.players.0.personaname", image: "response.players.0.avatarfull",
		}.user,
		Quirks: oauth.Quirks{ClaimedID: regexp.MustCompile(`https?://steamcommunity\.com/openid/id/([0-9]{15,25})`)},
	}), steamProfile)
}

// steamProfile requests the profile if there is a key.
func steamProfile(own *pintle.OAuth) error {
	if own.ClientSecret == "" || own.Quirks.FetchProfile != nil {
		return nil
	}
	own.Quirks.FetchProfile = func(ctx context.Context, c *http.Client, who map[string]any) (map[string]any, error) {
		id := pintle.Profile(who).Text("id")
		profile, err := apiRequest{endpoint: own.UserInfo, query: map[string]string{"key": own.ClientSecret, "steamids": id}}.object(ctx, c)
		if err != nil {
			return nil, err
		}
		if asked, _ := walk(profile, "response.players.0.steamid"); asked.value != id {
			return nil, errors.New("the answer is not about the account that signed in")
		}
		profile["id"] = id
		return profile, nil
	}
	return nil
}
