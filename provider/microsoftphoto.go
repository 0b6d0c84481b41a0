package provider

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/oauth"
)

// microsoftPhoto adds the picture of the user as a data URI. If there is no
// picture, or no permission to read it, the user signs in without one.
//
// https://learn.microsoft.com/graph/api/profilephoto-get
func microsoftPhoto(size int) func(context.Context, *http.Client, *oauth.Answer) error {
	if size == 0 {
		size = 48
	}
	return func(ctx context.Context, c *http.Client, a *oauth.Answer) error {
		if !slices.Contains([]int{48, 64, 96, 120, 240, 360, 432, 504, 648}, size) {
			return nil
		}
		photo := endpoint(fmt.Sprintf("https://graph.microsoft.com/v1.0/me/photos/%[1]dx%[1]d/$value", size))
		req, err := apiRequest{endpoint: photo}.bearer(a.Tokens).request(ctx)
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return nil // no picture
		}
		defer func() { _ = resp.Body.Close() }() // nothing to do about it: the body is read
		picture, err := io.ReadAll(resp.Body)
		kind := resp.Header.Get("Content-Type")
		if err == nil && resp.StatusCode == http.StatusOK && (kind == "" || strings.HasPrefix(kind, "image/")) {
			a.Profile["photo"] = "data:image/jpeg;base64, " + base64.StdEncoding.EncodeToString(picture)
		}
		return nil
	}
}

// microsoftVerified reports whether the tenant has proven to own the domain of
// the address, or the user of a personal account the address. The claim email
// alone proves nothing: any tenant can issue it for any address.
//
// The claim is documented as a boolean and has been seen as the text "1".
//
// https://learn.microsoft.com/entra/identity-platform/optional-claims-reference
// https://learn.microsoft.com/entra/identity-platform/migrate-off-email-claim-authorization
func microsoftVerified(p pintle.Profile) bool {
	return p["xms_edov"] == true || p["xms_edov"] == "true" || p["xms_edov"] == "1"
}

// microsoftError turns an error in place of tokens into one that the sign-in page
// shows: often the user can solve it.
func microsoftError(r *oauth.TokenResponse) error {
	code, _ := r.Body["error"].(string)
	if code == "" {
		return nil
	}
	description, _ := r.Body["error_description"].(string)
	return &handshake.ResponseError{Code: code, Description: description}
}
