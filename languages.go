package pintle

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
)

// A language is one in which the pages can be shown.
type language struct {
	tag   string // in lower case
	pages *page.Pages
}

// checkTheme makes the built-in pages in every language, which checks the theme
// and the texts.
func (s *settings) checkTheme() *Error {
	s.languages = nil
	var errs []error
	add := func(option string, texts *pages.Texts) {
		pages, err := page.New(page.Theme(s.Theme), page.Texts(*texts))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", option, err))
			return
		}
		s.languages = append(s.languages, language{strings.ToLower(pages.Lang()), pages})
	}
	add("Config.Theme and Config.Texts", &s.Texts)
	for i := range s.Languages {
		option := fmt.Sprintf("Config.Languages[%d]", i)
		if s.Languages[i].Lang == "" {
			errs = append(errs, fmt.Errorf("%s has no Lang, by which a request finds it", option))
			continue
		}
		add(option, &s.Languages[i])
	}
	for i, l := range s.languages {
		if slices.ContainsFunc(s.languages[:i], func(other language) bool { return other.tag == l.tag }) {
			errs = append(errs, fmt.Errorf("Config.Texts and Config.Languages have the language %q twice; Config.Texts without Lang is \"en\"", l.tag))
		}
	}
	if err := errors.Join(errs...); err != nil {
		pages, _ := page.New(page.Theme{}, page.Texts{}) // the defaults are sound
		s.languages = []language{{pages: pages}}
		return fail(CodeConfiguration, err)
	}
	return nil
}

// pagesFor returns the pages in the language of a request.
func (s *settings) pagesFor(r *http.Request) *page.Pages {
	if len(s.languages) > 1 {
		if s.Language != nil {
			if l := s.language(s.Language(r)); l != nil {
				return l.pages
			}
		}
		for _, tag := range acceptedLanguages(r.Header["Accept-Language"]) {
			if l := s.language(tag); l != nil {
				return l.pages
			}
		}
	}
	return s.languages[0].pages
}

// language returns the language for a tag: that of the tag, or else of a
// beginning of it, or else one that begins with it, so that "de-AT" finds "de",
// and "pt" finds "pt-br".
//
// https://www.rfc-editor.org/rfc/rfc4647#section-3.4
func (s *settings) language(tag string) *language {
	tag = strings.ToLower(tag)
	if tag == "" {
		return nil
	}
	for part := tag; part != ""; {
		for i := range s.languages {
			if s.languages[i].tag == part {
				return &s.languages[i]
			}
		}
		part = part[:max(strings.LastIndexByte(part, '-'), 0)]
	}
	for i := range s.languages {
		if strings.HasPrefix(s.languages[i].tag, tag+"-") {
			return &s.languages[i]
		}
	}
	return nil
}

// maxAccepted is more languages than a browser asks for. Further ones are ignored.
const maxAccepted = 32

// acceptedLanguages returns the languages in the header Accept-Language, the
// preferred one first.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4
func acceptedLanguages(lines []string) []string {
	type weighted struct {
		tag    string
		weight float64
	}
	var all []weighted
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, ",") {
			tag, parameter, _ := strings.Cut(entry, ";")
			w := weighted{strings.TrimSpace(tag), 1}
			if q, ok := strings.CutPrefix(strings.ReplaceAll(parameter, " ", ""), "q="); ok {
				w.weight, _ = strconv.ParseFloat(q, 64) // what is no number is not wanted
			}
			if w.weight > 0 && w.tag != "*" && len(all) < maxAccepted {
				all = append(all, w)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b weighted) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	var tags []string
	for _, w := range all {
		tags = append(tags, w.tag)
	}
	return tags
}
