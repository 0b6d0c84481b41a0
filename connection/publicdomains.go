package connection

import "slices"

// publicDomains are domains of mail services that are open to everyone. An operator who
// was let prove one would be found by the addresses of all its users.
var publicDomains = []string{
	"163.com", "126.com", "aol.com", "fastmail.com", "free.fr", "freenet.de", "gmail.com", "gmx.at", "gmx.ch", "gmx.com",
	"gmx.de", "gmx.net", "googlemail.com", "hey.com", "hotmail.co.uk", "hotmail.com", "hotmail.de", "hotmail.fr", "icloud.com",
	"libero.it", "live.com", "mac.com", "mail.com", "mail.ru", "mailbox.org", "me.com", "msn.com", "naver.com", "orange.fr",
	"outlook.com", "outlook.de", "outlook.fr", "pm.me", "posteo.de", "proton.me", "protonmail.com", "qq.com", "rediffmail.com",
	"t-online.de", "tuta.com", "tutanota.com", "uol.com.br", "web.de", "yahoo.co.jp", "yahoo.co.uk", "yahoo.com", "yahoo.de",
	"yahoo.fr", "yandex.com", "yandex.ru", "ymail.com", "zoho.com",
}

// IsPublic reports whether a domain is one of a public mail service, at which addresses
// prove nothing about an organisation.
func (c *Config) IsPublic(domain string) bool {
	return slices.Contains(publicDomains, domain) || slices.Contains(c.PublicDomains, domain)
}
