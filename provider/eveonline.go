package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// EVEOnlineOptions are the options of [EVEOnline].
type EVEOnlineOptions struct {
	Options

	// LegacyAccountID makes the character alone the id of the account, as Auth.js
	// does. Set it only for a database shared with Auth.js or moved from it: a
	// character can be sold, and its buyer then signs in as the user who sold
	// it.
	LegacyAccountID bool
}

// EVEOnline signs users in with a character of EVE Online.
//
// Register the callback URL /auth/callback/eveonline. Variables:
// AUTH_EVEONLINE_ID and AUTH_EVEONLINE_SECRET. The service returns no address. The
// account id is made of the character and its owner, so that a sold character is
// another account.
//
// https://developers.eveonline.com/docs/services/sso/
func EVEOnline(o EVEOnlineOptions) *pintle.OAuth {
	id := "Account"
	if o.LegacyAccountID {
		id = "CharacterID"
	}
	return o.apply(&pintle.OAuth{
		ID: "eveonline", Name: "EVE Online",
		Authorization: endpoint("https://login.eveonline.com/v2/oauth/authorize", "scope", "publicData"),
		Token:         endpoint("https://login.eveonline.com/v2/oauth/token"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: id, name: "CharacterName", email: "null", picture: evePicture}.user,
		Quirks:        oauth.Quirks{FetchProfile: eveCharacter},
	})
}
