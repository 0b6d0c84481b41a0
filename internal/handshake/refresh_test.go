package handshake_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRefresh(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	tokens, err := p.Refresh(t.Context(), "refresh-1", "sub-alice")
	if err != nil {
		t.Fatal(err)
	}
	if tokens["access_token"] != "access-5d41402a" || tokens["expires_at"] == nil {
		t.Errorf("tokens = %v", tokens)
	}
	if d := cmp.Diff(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"refresh-1"}}, o.last(t, "/token").form); d != "" {
		t.Errorf("request (-want +got):\n%s", d)
	}

	o.tokens = func(m map[string]any) { delete(m, "id_token") }
	if _, err := p.Refresh(t.Context(), "refresh-1", "sub-alice"); err != nil {
		t.Errorf("without an ID token: %v", err)
	}
	o.tokens = nil

	tests := []struct {
		name string
		lie  func(*op)
		want string
	}{
		{"RP-15 for another user", func(o *op) { o.claims = func(m map[string]any) { m["sub"] = "sub-bob" } }, "sub is not that"},
		{"RP-15 of another issuer", func(o *op) { o.claims = func(m map[string]any) { m["iss"] = "https://evil.example" } }, "issued by"},
		{"RP-15 for another client", func(o *op) { o.claims = func(m map[string]any) { m["aud"] = "client-2" } }, "id token"},
		{"signed by an unknown key", func(o *op) { o.key = otherKey() }, "id token"},
		{"BCP-14 rejected", func(o *op) {
			o.answer["/token"] = saying(400, "application/json", `{"error":"invalid_grant","error_description":"refresh-1 is spent"}`)
		}, "invalid_grant"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			tt.lie(o)
			tokens, err := o.provider().Refresh(t.Context(), "refresh-1", "sub-alice")
			wantError(t, err, tt.want)
			if tokens != nil || strings.Contains(err.Error(), "refresh-1") {
				t.Errorf("Refresh = %v, %v", tokens, err)
			}
		})
	}
	_, err = p.Refresh(t.Context(), "", "")
	wantError(t, err, "refresh token is missing")
}
