package browser_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe is the program that checks a page for barriers. Installed by "npm ci" in this folder.
//
// https://github.com/dequelabs/axe-core
const axe = "node_modules/axe-core/axe.min.js"

// axeRun runs the rules of WCAG 2.2, levels A and AA, and those of good practice. The rule
// of the size of targets is off unless it is asked for.
const axeRun = `axe.run(document, {
	preload: false,
	resultTypes: ["violations", "incomplete", "passes"],
	runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]},
	rules: {"target-size": {enabled: true}},
}).then(({passes, violations, incomplete}) => {
	const found = (list) => list.map((rule) => ({
		rule: rule.id,
		help: rule.help,
		places: rule.nodes.map((node) => node.html.slice(0, 200) + ": " + [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ")),
	}));
	return {passed: passes.map((rule) => rule.id), violations: found(violations), unsure: found(incomplete)};
})`

// An axeResult is what axe has found. What it is unsure of needs a person to look at it.
type axeResult struct {
	Passed             []string
	Violations, Unsure []axeFinding
}

type axeFinding struct {
	Rule, Help string
	Places     []string
}

func (f axeFinding) String() string {
	return fmt.Sprintf("%s (%s): %s", f.Rule, f.Help, strings.Join(f.Places, "\n\t"))
}

// examine runs axe on the page as it is shown now.
func (v *browserUser) examine() axeResult {
	v.t.Helper()
	if read(v, chromedp.Evaluate[string]("typeof window.axe")) == "undefined" {
		source, err := os.ReadFile(axe)
		if err != nil {
			v.t.Fatalf("%v: scripts/setup installs what it needs", err)
		}
		v.do("load axe", chromedp.Evaluate[chromedp.Void](string(source)+"\n;undefined"))
	}
	return read(v, chromedp.Evaluate[axeResult](axeRun, chromedp.EvalAwaitPromise))
}

// axeViews are the windows in which every page is examined: both widths and both colour
// schemes, which do not depend on one another.
var axeViews = []axeView{{320, "dark"}, {1280, "light"}}

type axeView struct {
	width  int64
	scheme string
}

// hasNoBarrier examines the page in each view.
func (v *browserUser) hasNoBarrier(what string) {
	v.t.Helper()
	v.hasNoBarrierIn(what, axeViews, "color-contrast")
}

// hasNoBarrierIn examines the page in some views. Each page has what the rules are about, and
// those of rules.
func (v *browserUser) hasNoBarrierIn(what string, views []axeView, rules ...string) {
	v.t.Helper()
	rules = append(rules, "page-has-heading-one", "landmark-one-main", "html-has-lang", "document-title")
	for _, view := range views {
		v.emulate(view.width, view.scheme)
		found := v.examine()
		for _, problem := range slices.Concat(found.Violations, found.Unsure) {
			v.t.Errorf("%s, %d pixels wide and %s: %s", what, view.width, view.scheme, problem)
		}
		for _, rule := range rules {
			if !slices.Contains(found.Passed, rule) {
				v.t.Errorf("%s: axe did not apply the rule %s, but %q", what, rule, found.Passed)
			}
		}
	}
}

// What the checks of this package rest on: axe runs here, and finds what is wrong.
func TestAxeFindsTheBarriersOfAPage(t *testing.T) {
	s := newAccountSite(t, "memory", "database")
	v := newBrowserUser(t)
	v.open(s.url + "/auth/account/sign-up")
	v.hasNoBarrier("the page as it is")
	v.do("spoil it", chromedp.Evaluate[chromedp.Void](`{
		document.querySelector("label").remove();
		document.querySelector("h1").style.color = "#eee";
		for (const text of ["a", "b"]) {
			const small = document.createElement("button");
			small.textContent = text;
			small.style.cssText = "inline-size: 9px; block-size: 9px; min-block-size: 0; padding: 0";
			document.querySelector("form").append(small);
		}
		document.documentElement.removeAttribute("lang");
	}; undefined`))
	v.emulate(320, "light")
	var rules []string
	for _, problem := range v.examine().Violations {
		rules = append(rules, problem.Rule)
	}
	for _, want := range []string{"label", "color-contrast", "target-size", "html-has-lang"} {
		if !slices.Contains(rules, want) {
			t.Errorf("axe does not find a page that breaks the rule %s: it finds %q", want, rules)
		}
	}
}
