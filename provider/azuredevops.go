package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// AzureDevOps signs users in with their Azure DevOps account.
//
// Register the callback URL /auth/callback/azure-devops. Variables:
// AUTH_AZURE_DEVOPS_ID and AUTH_AZURE_DEVOPS_SECRET.
//
// https://learn.microsoft.com/azure/devops/integrate/get-started/authentication/azure-devops-oauth
//
// Deprecated: Azure DevOps has accepted no registrations since April 2025 and ends
// OAuth during 2026; use [MicrosoftEntraID].
func AzureDevOps(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "azure-devops", Name: "Azure DevOps",
		Authorization: endpoint("https://app.vssps.visualstudio.com/oauth2/authorize", "response_type", "Assertion", "scope", "vso.profile"),
		Token:         endpoint("https://app.vssps.visualstudio.com/oauth2/token"),
		UserInfo: endpoint("https://app.vssps.visualstudio.com/_apis/profile/profiles/me",
			"details", "true", "coreAttributes", "Avatar", "api-version", "6.0"),
		Checks:     []oauth.Check{oauth.CheckState},
		ClientAuth: "client_secret_post",
		Profile: claims{id: "id", name: "displayName", email: "emailAddress", picture: func(p pintle.Profile) (any, error) {
			if _, err := find(p, "coreAttributes!.Avatar!.value!"); err != nil {
				return nil, err
			}
			return template("data:image/jpeg;base64,{coreAttributes.Avatar.value.value}")(p)
		}}.user,
		Quirks: oauth.Quirks{TokenRequest: azureAssertions},
	})
}

// azureAssertions turns a code into the assertion of a grant, and the secret
// into that of a client.
func azureAssertions(r *oauth.TokenRequest) error {
	assertion := r.Form.Get("code")
	if assertion == "" {
		assertion = r.Form.Get("refresh_token")
	} else {
		r.Form.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
	}
	r.Form.Set("assertion", assertion)
	r.Form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	r.Form.Set("client_assertion", r.Form.Get("client_secret"))
	for _, name := range []string{"code", "refresh_token", "client_id", "client_secret"} {
		r.Form.Del(name)
	}
	return nil
}
