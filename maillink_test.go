package pintle_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/pintleauth/pintle"
)

// W-38: without the check of form tokens no browser has one, and no link
// records which browser requested it. A link that another site opens always
// asks first.
func TestWithoutFormTokensNoBrowserAskedForALink(t *testing.T) {
	s, _ := mailSite(t, pintle.StrategyJWT, func(s *site, _ *pintle.Email) { s.DangerouslySkipCSRFCheck = true })
	mallory, victim := s.browser(), s.browser()
	mallory.postForm("/auth/signin/email", url.Values{"email": {"mallory@example.com"}}).want(http.StatusFound)
	victim.get(s.lastMail().URL, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Accept", "text/html").want(http.StatusOK)
	if who := victim.sub(); who != "" {
		t.Errorf("W-38 the visitor is signed in as %q without having been asked", who)
	}
}
