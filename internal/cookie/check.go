package cookie

import (
	"errors"
	"fmt"
	"strings"
)

// Browsers ignore an attribute whose value is longer than this.
//
// https://www.rfc-editor.org/rfc/rfc6265bis#section-5.6
const maxAttribute = 1024

// Check reports what would make a browser reject or misread a cookie with this
// name and these attributes, or let text of the configuration break out of its
// Set-Cookie line. It joins all faults into one error.
func Check(name string, a Attributes) error {
	return errors.Join(
		checkName(name),
		checkDomain(name, a.Domain),
		checkPath(name, a.Path),
		checkWords(name, a),
		checkPrefix(name, a),
	)
}

// checkName requires a name to be a token of RFC 9110.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2
func checkName(name string) error {
	if name == "" {
		return errors.New("cookie: name is empty")
	}
	for i := range len(name) {
		if !isToken(name[i]) {
			return fmt.Errorf("cookie: name %q has the character %q; use letters, digits, '-', '_' and '.'", name, name[i])
		}
	}
	return nil
}

func isToken(c byte) bool {
	return isAlnum(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func checkDomain(name, domain string) error {
	if domain == "" {
		return nil
	}
	bad := fmt.Errorf("cookie: %s: domain %q is not a host name such as example.com", name, domain)
	if len(domain) > 254 {
		return bad
	}
	for label := range strings.SplitSeq(strings.TrimPrefix(domain, "."), ".") {
		if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return bad
		}
		for i := range len(label) {
			if !isAlnum(label[i]) && label[i] != '-' {
				return bad
			}
		}
	}
	return nil
}

// checkPath also requires the leading slash: without it a browser falls back to
// the directory of the request, and the cookie is then missing elsewhere.
func checkPath(name, path string) error {
	if path == "" {
		return nil
	}
	if path[0] != '/' || len(path) > maxAttribute {
		return fmt.Errorf("cookie: %s: path %q must start with '/' and have at most %d bytes", name, path, maxAttribute)
	}
	for i := range len(path) {
		if c := path[i]; c < ' ' || c > '~' || c == ';' || c == '<' {
			return fmt.Errorf("cookie: %s: path %q has the character %q; percent-encode it", name, path, c)
		}
	}
	return nil
}

func checkWords(name string, a Attributes) error {
	var errs []error
	if _, ok := spelling(a.SameSite, "Strict", "Lax", "None", ""); !ok {
		errs = append(errs, fmt.Errorf("cookie: %s: SameSite is %q; use Strict, Lax or None", name, a.SameSite))
	}
	if _, ok := spelling(a.Priority, "Low", "Medium", "High", ""); !ok {
		errs = append(errs, fmt.Errorf("cookie: %s: Priority is %q; use Low, Medium or High", name, a.Priority))
	}
	if strings.EqualFold(a.SameSite, "None") && !a.Secure {
		errs = append(errs, fmt.Errorf("cookie: %s: SameSite=None needs Secure, or browsers drop the cookie", name))
	}
	if a.Partitioned && !a.Secure {
		errs = append(errs, fmt.Errorf("cookie: %s: Partitioned needs Secure, or browsers drop the cookie", name))
	}
	return errors.Join(errs...)
}

// checkPrefix compares without regard to case, as browsers do, so that a
// prefix in another spelling does not slip through.
//
// https://www.rfc-editor.org/rfc/rfc6265bis#section-4.1.3
func checkPrefix(name string, a Attributes) error {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(lower, "__host-"):
		if !a.Secure || a.Path != "/" || a.Domain != "" {
			return fmt.Errorf("cookie: %s: the prefix __Host- needs Secure, the path / and no domain", name)
		}
	case strings.HasPrefix(lower, "__secure-"):
		if !a.Secure {
			return fmt.Errorf("cookie: %s: the prefix __Secure- needs Secure", name)
		}
	}
	return nil
}
