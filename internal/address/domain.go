package address

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a domain name.
//
// https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4
const (
	maxDomain = 253
	maxLabel  = 63
)

// Domain returns the domain of what a user typed as an address, or a provider reports as
// one: in lower case, with the labels of an internationalised name in ASCII. It fails for
// what is not one address, and for a domain that no host can have, such as one that ends
// with a dot: a second spelling of a domain would pass for another one.
func Domain(typed string) (string, error) {
	whole, err := Normalize(typed)
	if err != nil {
		return "", err
	}
	_, domain, _ := strings.Cut(whole, "@")
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		ascii, ok := toASCII(label)
		if !ok {
			return "", errors.New("the domain of the address is not a name of a host")
		}
		labels[i] = ascii
	}
	if domain = strings.Join(labels, "."); len(domain) > maxDomain {
		return "", errors.New("the domain of the address is too long")
	}
	return domain, nil
}

// toASCII returns a label in ASCII.
//
// https://www.rfc-editor.org/rfc/rfc5890#section-2.3.2.1
func toASCII(label string) (string, bool) {
	if strings.IndexFunc(label, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		if len(label) > maxDomain || strings.ContainsFunc(label, isNoLetter) {
			return "", false // it would be longer still in ASCII, or its dots have other forms
		}
		label = "xn--" + punycode([]rune(label))
	}
	if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' ||
		strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", false
	}
	return label, true
}

func isNoLetter(r rune) bool { return r != '-' && !unicode.In(r, unicode.L, unicode.M, unicode.N) }

// punycode encodes a label. Two labels never have the same code.
//
// https://www.rfc-editor.org/rfc/rfc3492#section-6.3
func punycode(label []rune) string {
	const base, least, most, firstBias, first = 36, 1, 26, 72, 128
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	var out []byte
	for _, r := range label {
		if r < utf8.RuneSelf {
			out = append(out, byte(r)) //nolint:gosec // it is ASCII
		}
	}
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := first, 0, firstBias
	for handled := basic; handled < len(label); {
		next := int(utf8.MaxRune)
		for _, r := range label {
			if int(r) >= n {
				next = min(next, int(r))
			}
		}
		delta += (next - n) * (handled + 1)
		n = next
		for _, r := range label {
			if int(r) < n {
				delta++
			}
			if int(r) != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, least), most)
				if q < t {
					break
				}
				out = append(out, digits[t+(q-t)%(base-t)])
				q = (q - t) / (base - t)
			}
			out = append(out, digits[q])
			bias = adapt(delta, handled+1, handled == basic)
			delta = 0
			handled++
		}
		delta++
		n++
	}
	return string(out)
}

// adapt returns the next bias.
//
// https://www.rfc-editor.org/rfc/rfc3492#section-6.1
func adapt(delta, points int, isFirst bool) int {
	const base, least, most, skew, damp = 36, 1, 26, 38, 700
	if isFirst {
		delta /= damp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for delta > (base-least)*most/2 {
		delta /= base - least
		k += base
	}
	return k + (base-least+1)*delta/(delta+skew)
}
