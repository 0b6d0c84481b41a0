package provider

import (
	"strconv"
	"strings"

	"github.com/pintleauth/pintle"
)

// Discord signs users in with their Discord account.
//
// Register the callback URL /auth/callback/discord. Variables: AUTH_DISCORD_ID
// and AUTH_DISCORD_SECRET.
//
// https://discord.com/developers/docs/topics/oauth2
func Discord(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "discord", Name: "Discord",
		Authorization: endpoint("https://discord.com/api/oauth2/authorize", "scope", "identify email"),
		Token:         endpoint("https://discord.com/api/oauth2/token"),
		UserInfo:      endpoint("https://discord.com/api/users/@me"),
		Revocation:    endpoint("https://discord.com/api/oauth2/token/revoke"),
		Profile:       claims{id: "id", name: "global_name|username", email: "email", picture: discordPicture}.user,
		// https://discord.com/developers/docs/resources/user#user-object
		EmailVerified: saysVerified("verified"),
	})
}

// discordPicture returns the picture of a user, or Discord's default picture,
// which depends on the id.
//
// https://discord.com/developers/docs/reference#image-formatting
func discordPicture(p pintle.Profile) (any, error) {
	avatar, err := find(p, "avatar")
	if err == nil && !avatar.present {
		_, err = find(p, "avatar!")
	}
	if err != nil {
		return nil, err
	}
	name, _ := avatar.value.(string)
	switch {
	case strings.HasPrefix(name, "a_"):
		return template("https://cdn.discordapp.com/avatars/{id}/{avatar}.gif")(p)
	case name != "":
		return template("https://cdn.discordapp.com/avatars/{id}/{avatar}.png")(p)
	}
	if discriminator, err := strconv.ParseUint(p.ID("discriminator"), 10, 64); err == nil && discriminator != 0 {
		return "https://cdn.discordapp.com/embed/avatars/" + strconv.FormatUint(discriminator%5, 10) + ".png", nil
	}
	id, err := strconv.ParseUint(p.ID("id"), 10, 64)
	if err != nil {
		return nil, nil //nolint:nilerr // an id that is no number has no default picture
	}
	return "https://cdn.discordapp.com/embed/avatars/" + strconv.FormatUint(id>>22%6, 10) + ".png", nil
}
