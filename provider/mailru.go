package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// MailRu signs users in with their Mail.ru account.
//
// Register the callback URL /auth/callback/mailru. Variables: AUTH_MAILRU_ID and
// AUTH_MAILRU_SECRET.
//
// https://api.mail.ru/docs/guides/oauth/
func MailRu(o Options) *pintle.OAuth {
	return tokenInQuery(o.apply(&pintle.OAuth{
		ID: "mailru", Name: "Mail.ru",
		Authorization: endpoint("https://oauth.mail.ru/login", "scope", "userinfo"),
		Token:         endpoint("https://oauth.mail.ru/token"),
		UserInfo:      endpoint("https://oauth.mail.ru/userinfo"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		Profile:       claims{id: "sub|id", name: "name|nickname|preferred_username", email: "email", image: "picture"}.user,
	}), "access_token")
}
