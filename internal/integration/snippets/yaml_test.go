package snippets_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// The probes of an orchestrator ask for paths that the program of the same guide has mounted, and
// wait for longer than its handler.
func TestTheProbesOfAGuideAreThoseOfItsProgram(t *testing.T) {
	program := map[string]string{}
	for _, s := range snippets(t, "go") {
		program[s.file] += s.code
	}
	seen := 0
	for _, s := range snippets(t, "yaml") {
		var probes map[string]struct {
			Get struct {
				Path string `yaml:"path"`
				Port int    `yaml:"port"`
			} `yaml:"httpGet"`
			Period  int `yaml:"periodSeconds"`
			Timeout int `yaml:"timeoutSeconds"`
		}
		if err := yaml.UnmarshalWithOptions([]byte(s.code), &probes, yaml.DisallowUnknownField()); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		for name, probe := range probes {
			seen++
			if !strings.Contains(program[s.file], `mux.Handle("`+probe.Get.Path+`", health.Handler(`) {
				t.Errorf("%s: the %s asks for %q, which no program of the guide serves", s, name, probe.Get.Path)
			}
			if name == "readinessProbe" && probe.Timeout <= 2 {
				t.Errorf("%s: the %s waits for %d seconds, and the handler for 2", s, name, probe.Timeout)
			}
		}
	}
	if seen < 2 {
		t.Errorf("the guides have %d probes", seen)
	}
}
