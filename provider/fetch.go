package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle/internal/handshake"
)

// get asks a service about the person with the access token of a token response
// and returns the JSON value it answers with.
func get(ctx context.Context, c *http.Client, url string, tokens map[string]any) (any, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	accessToken, _ := tokens["access_token"].(string)
	req.Header.Set("Authorization", "Bearer "+accessToken)
	return handshake.Fetch(c, req)
}
