package provider

import (
	"net/url"

	"github.com/pintleauth/pintle"
)

// leaving has the end session endpoint of a provider receive parameters of other names than
// those of the standard, unless the host changes them itself. path is that of the endpoint
// on the issuer where the metadata need not have it, or "". Another endpoint that the host
// chose is that of the standard.
func leaving(p *pintle.OAuth, path string, rename func(q url.Values) error) *pintle.OAuth {
	return completing(p, func(own *pintle.OAuth) error {
		switch {
		case !own.EndSessionAtProvider || own.Quirks.EndSession != nil || path != "" && own.EndSession.URL != "":
			return nil
		case path != "":
			at, err := url.JoinPath(own.Issuer, path)
			if err != nil {
				return err
			}
			own.EndSession.URL = at
		}
		own.Quirks.EndSession = func(u *url.URL) error {
			q := u.Query()
			err := rename(q)
			u.RawQuery = q.Encode()
			return err
		}
		return nil
	})
}

// take returns a parameter, and removes it.
func take(q url.Values, name string) string {
	value := q.Get(name)
	q.Del(name)
	return value
}
