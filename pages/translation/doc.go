// Package translation has the words of Pintle's pages and mails in fifteen languages
// besides English. Each function returns the complete texts of one:
//
//	Languages: []pages.Texts{translation.German(), translation.French()},
//
// A program has only the languages that it names. The texts are new at each call, so a host
// may change any of them before it hands them to pintle.New. They address the reader in the
// form that software in the language uses, which is the formal one where there is a choice
// (Italian and Polish software says "tu" and "ty").
//
// A number may stand for one thing or for many, and languages have up to six forms for that.
// The texts put the number where the form does not depend on it, as in "Codes left: 1".
package translation

import "github.com/pintleauth/pintle/pages"

// English returns the texts in English. Only Lang and Dir are set, because empty texts are
// English. It is for Config.Languages of a site whose Config.Texts are in another language.
func English() pages.Texts { return pages.Texts{Lang: "en", Dir: "ltr"} }

// All returns the texts in all languages but English, which Config.Texts has unless it sets
// Lang. All languages take about 800 KB of a program.
func All() []pages.Texts {
	return []pages.Texts{
		Arabic(), SimplifiedChinese(), Dutch(), French(), German(), Hindi(), Italian(), Japanese(), Korean(), Polish(), Portuguese(),
		Russian(), Spanish(), Turkish(), Ukrainian(),
	}
}
