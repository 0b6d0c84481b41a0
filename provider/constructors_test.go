package provider_test

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
)

// constructors are all functions of the package that make an OAuth provider, by
// the ids of what they make. That none is missing is tested below.
var constructors = map[string]func(provider.Options) *pintle.OAuth{
	"amazon":    provider.Amazon,
	"apple":     func(o provider.Options) *pintle.OAuth { return provider.Apple(provider.AppleOptions{Options: o}) },
	"asgardeo":  provider.Asgardeo,
	"atlassian": provider.Atlassian,
	"auth0":     provider.Auth0,
	"authentik": provider.Authentik,
	"azure-ad": func(o provider.Options) *pintle.OAuth {
		return provider.AzureAD(provider.MicrosoftEntraIDOptions{Options: o})
	},
	"azure-ad-b2c":   provider.AzureADB2C,
	"azure-devops":   provider.AzureDevOps,
	"bankid-no":      provider.BankIDNorge,
	"battlenet":      provider.BattleNet,
	"beyondidentity": provider.BeyondIdentity,
	"bitbucket":      provider.Bitbucket,
	"bitly":          provider.Bitly,
	"box":            provider.Box,
	"boxyhq-saml":    provider.BoxyHQSAML,
	"bungie": func(o provider.Options) *pintle.OAuth {
		return provider.Bungie(provider.BungieOptions{Options: o, APIKey: "api-key"})
	},
	"classlink":               provider.ClassLink,
	"click-up":                provider.ClickUp,
	"cloudfoundry":            provider.CloudFoundry,
	"cognito":                 provider.Cognito,
	"coinbase":                provider.Coinbase,
	"concept2":                provider.Concept2,
	"dailymotion":             provider.Dailymotion,
	"deezer":                  provider.Deezer,
	"descope":                 provider.Descope,
	"digitalocean":            provider.DigitalOcean,
	"dingtalk":                func(o provider.Options) *pintle.OAuth { return provider.DingTalk(provider.DingTalkOptions{Options: o}) },
	"discord":                 provider.Discord,
	"dribbble":                provider.Dribbble,
	"dropbox":                 provider.Dropbox,
	"duende-identity-server6": provider.DuendeIdentityServer6,
	"eventbrite":              provider.Eventbrite,
	"eveonline": func(o provider.Options) *pintle.OAuth {
		return provider.EVEOnline(provider.EVEOnlineOptions{Options: o})
	},
	"facebook":  func(o provider.Options) *pintle.OAuth { return provider.Facebook(provider.FacebookOptions{Options: o}) },
	"faceit":    provider.Faceit,
	"figma":     provider.Figma,
	"fitbit":    provider.Fitbit,
	"42-school": provider.FortyTwoSchool,
	"foursquare": func(o provider.Options) *pintle.OAuth {
		return provider.Foursquare(provider.FoursquareOptions{Options: o})
	},
	"freshbooks": provider.FreshBooks,
	"frontegg":   provider.Frontegg,
	"fusionauth": func(o provider.Options) *pintle.OAuth {
		return provider.FusionAuth(provider.FusionAuthOptions{Options: o})
	},
	"gitea":            provider.Gitea,
	"github":           provider.GitHub,
	"gitlab":           provider.GitLab,
	"google":           provider.Google,
	"gumroad":          provider.Gumroad,
	"heroku":           provider.Heroku,
	"hubspot":          provider.HubSpot,
	"huggingface":      provider.HuggingFace,
	"identity-server4": provider.IdentityServer4,
	"influxcloud":      provider.InfluxCloud,
	"instagram":        provider.Instagram,
	"intercom":         provider.Intercom,
	"kakao":            provider.Kakao,
	"keycloak":         provider.Keycloak,
	"kick":             provider.Kick,
	"kinde":            provider.Kinde,
	"lark":             provider.Lark,
	"lastfm":           provider.LastFM,
	"line":             provider.LINE,
	"linear":           provider.Linear,
	"linkedin":         provider.LinkedIn,
	"logto":            provider.Logto,
	"mailchimp":        provider.Mailchimp,
	"mailru":           provider.MailRu,
	"mastodon":         provider.Mastodon,
	"mattermost":       provider.Mattermost,
	"medium":           provider.Medium,
	"meetup":           provider.Meetup,
	"microsoft-entra-id": func(o provider.Options) *pintle.OAuth {
		return provider.MicrosoftEntraID(provider.MicrosoftEntraIDOptions{Options: o})
	},
	"naver":   provider.Naver,
	"netlify": provider.Netlify,
	"netsuite": func(o provider.Options) *pintle.OAuth {
		return provider.NetSuite(provider.NetSuiteOptions{Options: o, AccountID: "1234567", UserInfoURL: "https://1234567.restlets.api.netsuite.com/me"})
	},
	"nextcloud": provider.Nextcloud,
	"notion":    provider.Notion,
	"okta":      provider.Okta,
	"onedrive":  provider.OneDrive,
	"onelogin":  provider.OneLogin,
	"openid-connect": func(o provider.Options) *pintle.OAuth {
		return provider.OpenIDConnect(provider.OpenIDConnectOptions{Options: o})
	},
	"hydra":   provider.OryHydra,
	"osso":    provider.Osso,
	"osu":     provider.Osu,
	"oura":    provider.Oura,
	"passage": provider.Passage,
	"patreon": provider.Patreon,
	"paybin":  provider.Paybin,
	"paypal":  func(o provider.Options) *pintle.OAuth { return provider.PayPal(provider.PayPalOptions{Options: o}) },
	"ping-id": provider.PingIdentity,
	"pinterest": func(o provider.Options) *pintle.OAuth {
		return provider.Pinterest(provider.PinterestOptions{Options: o})
	},
	"pipedrive":  provider.Pipedrive,
	"polar":      provider.Polar,
	"railway":    provider.Railway,
	"reddit":     provider.Reddit,
	"roblox":     provider.Roblox,
	"salesforce": provider.Salesforce,
	"seatalk":    provider.SeaTalk,
	"shopify": func(o provider.Options) *pintle.OAuth {
		return provider.Shopify(provider.ShopifyOptions{Options: o, Shop: "example"})
	},
	"simplelogin":    provider.SimpleLogin,
	"slack":          provider.Slack,
	"soundcloud":     provider.SoundCloud,
	"spotify":        provider.Spotify,
	"steam":          provider.Steam,
	"strava":         provider.Strava,
	"stripe":         provider.Stripe,
	"threads":        provider.Threads,
	"tiktok":         provider.TikTok,
	"todoist":        provider.Todoist,
	"trakt":          func(o provider.Options) *pintle.OAuth { return provider.Trakt(provider.TraktOptions{Options: o}) },
	"tumblr":         provider.Tumblr,
	"twitch":         provider.Twitch,
	"twitter":        func(o provider.Options) *pintle.OAuth { return provider.Twitter(provider.TwitterOptions{Options: o}) },
	"twitter-oauth1": provider.TwitterOAuth1,
	"typetalk":       provider.Typetalk,
	"uber":           provider.Uber,
	"united-effects": provider.UnitedEffects,
	"vercel":         provider.Vercel,
	"vipps":          provider.Vipps,
	"vk":             func(o provider.Options) *pintle.OAuth { return provider.VK(provider.VKOptions{Options: o}) },
	"vk-id":          provider.VKID,
	"webex":          func(o provider.Options) *pintle.OAuth { return provider.Webex(provider.WebexOptions{Options: o}) },
	"wechat":         func(o provider.Options) *pintle.OAuth { return provider.WeChat(provider.WeChatOptions{Options: o}) },
	"wecom": func(o provider.Options) *pintle.OAuth {
		return provider.WeCom(provider.WeComOptions{Options: o, AgentID: "1000002"})
	},
	"wepay":     provider.WePay,
	"wikimedia": provider.Wikimedia,
	"wordpress": provider.WordPress,
	"workos":    func(o provider.Options) *pintle.OAuth { return provider.WorkOS(provider.WorkOSOptions{Options: o}) },
	"xero":      provider.Xero,
	"yahoo":     provider.Yahoo,
	"yammer":    provider.Yammer,
	"yandex":    provider.Yandex,
	"zitadel":   provider.ZITADEL,
	"zoho":      func(o provider.Options) *pintle.OAuth { return provider.Zoho(provider.ZohoOptions{Options: o}) },
	"zoom":      provider.Zoom,
}
