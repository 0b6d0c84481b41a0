package origin

import (
	"errors"
	"fmt"
	"strings"
)

// ErrTarget is matched by the errors about a redirect target that is no URL.
var ErrTarget = errors.New("not a path or an absolute URL")

// maxRest bounds what follows the origin in the target of a redirect, before
// and after percent-encoding. Anything longer would be refused as a Location
// or a cookie somewhere on its way.
const maxRest = 8 << 10

// Redirect returns the URL to which the browser is redirected: target if it is
// a path or a URL on base, else base itself. The result is base
// alone or base followed by a path, normalised as browsers do and made of
// printable ASCII, so that it is safe in a header and every client reads it
// alike.
//
// A target with a user name is never on base, whatever its host: it only
// serves to deceive. Nor is one whose path is longer than 8 KiB.
// A target that is neither a path nor an absolute URL, or has a line break
// or null byte in it, is an error matching [ErrTarget].
//
// base is an [Origin].
func Redirect(target, base string) (string, error) {
	if strings.ContainsAny(target, "\r\n\x00") {
		return "", fmt.Errorf("redirect: target has a line break or null byte: %w", ErrTarget)
	}
	rest, local, err := localRest(target, base)
	if err != nil {
		return "", err
	}
	if !local || rest == "" {
		return base, nil
	}
	if rest = normalRest(rest); len(rest) > maxRest {
		return base, nil
	}
	return base + rest, nil
}

// Verbatim decides as [Redirect] does and returns the text Auth.js keeps in the
// callback-url cookie: an accepted target as it was written, a path with base
// before it. It is for that cookie alone. What it returns may hold anything,
// and has to pass [Redirect] on its way to a header.
func Verbatim(target, base string) (string, error) {
	_, local, err := localRest(target, base)
	switch {
	case err != nil:
		return "", err
	case !local:
		return base, nil
	case strings.HasPrefix(target, "/"):
		return base + target, nil
	}
	return target, nil
}

// localRest returns what follows the host of a target on base, as written.
func localRest(target, base string) (rest string, local bool, err error) {
	if len(target) > maxRest+len("https://")+maxHost {
		return "", false, nil
	}
	rest, local, err = cutOrigin(target, base)
	if len(rest) > maxRest {
		return "", false, nil
	}
	return rest, local, err
}

func cutOrigin(target, base string) (rest string, local bool, err error) {
	// Two slashes at the start are no exception: base is put before them.
	if strings.HasPrefix(target, "/") {
		return target, true, nil
	}
	// The usual case, without parsing: base, then a path.
	if after, ok := strings.CutPrefix(target, base); ok && base != "" && (after == "" || after[0] == '/') {
		return after, true, nil
	}
	u, err := parseURL(target)
	if err != nil {
		return "", false, fmt.Errorf("redirect: %w: %w", ErrTarget, err)
	}
	// Only a web URL has an origin, so this refuses every other scheme.
	if u.userinfo || u.origin != Origin(base) {
		return "", false, nil
	}
	if u.rest == "" {
		return "/", true, nil
	}
	return u.rest, true, nil
}

// Allowed reports whether raw may stand where a callback URL is expected: as a
// path, or as an absolute http or https URL of any origin.
func Allowed(raw string) bool {
	if strings.HasPrefix(raw, "/") {
		return true
	}
	u, err := parseURL(raw)
	return err == nil && u.web()
}
