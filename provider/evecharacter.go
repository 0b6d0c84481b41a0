package provider

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
)

// eveCharacter reads the access token, which is a JWT, into the members that the
// former verification endpoint returned. Its signature need not be verified: the
// token came from the token endpoint over TLS.
func eveCharacter(_ context.Context, _ *http.Client, tokens map[string]any) (map[string]any, error) {
	var claims struct{ Sub, Name, Owner string }
	parts := strings.Split(pintle.Profile(tokens).Text("access_token"), ".")
	if len(parts) != 3 {
		return nil, errors.New("the access token is not a JWT")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return nil, errors.New("the access token is not a JWT")
	}
	id, ok := strings.CutPrefix(claims.Sub, "CHARACTER:EVE:")
	if !ok || strings.Trim(id, "0123456789") != "" {
		return nil, errors.New("the access token is not of a character")
	}
	profile := map[string]any{"CharacterID": id, "CharacterName": claims.Name, "CharacterOwnerHash": claims.Owner, "Host": "images.evetech.net"}
	if _, err := accountID(id); err == nil && claims.Owner != "" {
		profile["Account"] = id + "@" + claims.Owner
	}
	return profile, nil
}

func evePicture(p pintle.Profile) (any, error) {
	if p.Text("Host") != "" {
		return template("https://{Host}/characters/{CharacterID}/portrait?size=128")(p)
	}
	return template("https://image.eveonline.com/Character/{CharacterID}_128.jpg")(p)
}
