package address

import (
	"strings"
	"testing"
)

// RPT-69, RPX-113: a domain has one spelling.
func TestTheDomainOfAnAddressHasOneSpelling(t *testing.T) {
	long := strings.Repeat("a", 63)
	for typed, want := range map[string]string{
		"a@corp.example":          "corp.example",
		"a@CORP.example":          "corp.example",
		"a@sub.corp.example":      "sub.corp.example",
		"a@\uff23orp.example":     "corp.example", // full-width C
		"a@corp\uff0eexample":     "corp.example", // full-width dot, which is a dot in the normal form
		"a@xn--bcher-kva.example": "xn--bcher-kva.example",
		"a@b\u00fccher.example":   "xn--bcher-kva.example",
		"a@B\u00dcCHER.example":   "xn--bcher-kva.example",
		"a@\u4ed6\u4eec\u4e3a\u4ec0\u4e48\u4e0d\u8bf4\u4e2d\u6587.example": "xn--ihqwcrb4cv8a8dqg056pqjye.example",
		"a@3\u5e74b\u7d44\u91d1\u516b\u5148\u751f.example":                 "xn--3b-ww4c5e180e575a65lsy2b.example",
		"a@" + long + ".example":                                           long + ".example",
		"a@a\uff20corp.example":                                            "", // a second @
		"a@b@corp.example":                                                 "",
		"a@corp.example.":                                                  "",
		"a@.corp.example":                                                  "",
		"a@corp..example":                                                  "",
		"a@corp\u3002example":                                              "", // an ideographic full stop
		"a@-corp.example":                                                  "",
		"a@corp_.example":                                                  "",
		"a@corp.example\x00":                                               "",
		"a@" + long + "a.example":                                          "",
		"a@" + strings.Repeat("\u00fc", 60) + ".example":                   "",
		"a@" + strings.Repeat(long+".", 4) + "example":                     "",
		"@corp.example":                                                    "",
		"corp.example":                                                     "",
		"":                                                                 "",
		"a@" + strings.Repeat("x", 10<<10):                                 "",
	} {
		got, err := Domain(typed)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Domain(%.40q) = %q, %v, want %q", typed, got, err, want)
		}
	}
}
