package main

import (
	"fmt"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/provider"
)

// builtin is a provider of the catalogue with the overrides of the contract.
func (e *entry) builtin() (pintle.Provider, error) {
	o := provider.Options{ClientID: e.ClientID, ClientSecret: e.ClientSecret}
	var p *pintle.OAuth
	switch e.ID {
	case "twitter":
		p = provider.Twitter(provider.TwitterOptions{Options: o})
	case "vk":
		p = provider.VK(provider.VKOptions{Options: o})
		// The contract has the code challenge of the reference, which the
		// service itself rejects: the catalogue does not send it.
		p.Checks = []oauth.Check{oauth.CheckPKCE}
	default:
		return nil, fmt.Errorf("unknown built-in provider %q", e.ID)
	}
	if e.Token.URL != "" {
		p.Token = e.Token.pintle()
	}
	if e.Userinfo.URL != "" {
		p.UserInfo = e.Userinfo.pintle()
	}
	return p, nil
}
