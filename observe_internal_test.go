package pintle

import (
	"os"
	"regexp"
	"testing"
)

// TM-02. Each value of an attribute costs the operator of a metric, and hosts make codes of any text.
func TestAnObserverSeesTheCodesOfThisPackageOnly(t *testing.T) {
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`Code = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 50 {
		t.Errorf("errors.go has %d codes", len(codes))
	}
	for _, match := range codes {
		if code := Code(match[1]); code.bounded() != code {
			t.Errorf("an observer sees %q for %q", code.bounded(), code)
		}
	}
	for _, code := range []Code{"ada@example.com", "", "access_denied"} {
		if seen := code.bounded(); seen != "other" {
			t.Errorf("an observer sees %q for %q", seen, code)
		}
	}
}
