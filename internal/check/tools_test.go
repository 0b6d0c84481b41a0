package main

import "testing"

func TestAnExampleThatIsNotRunIsNotDead(t *testing.T) {
	for line, dropped := range map[string]bool{
		"smtp/example_test.go:14:6: unreachable func: ExampleNew":                   true,
		"store/sqlstore/example_test.go:14:6: unreachable func: Example":            true,
		"store/sqlstore/example_test.go:51:6: unreachable func: ExampleStore_Sweep": true,
		"smtp/example_test.go:14:6: unreachable func: Examples":                     false,
		"smtp/example_test.go:14:6: unreachable func: helper":                       false,
		"internal/query/parse.go:14:6: unreachable func: ExampleOf":                 false,
		"internal/query/parse.go:14:6: unreachable func: Escape":                    false,
	} {
		const other = "internal/lru/lru.go:1:1: unreachable func: Len"
		want := other
		if !dropped {
			want = line + "\n" + other
		}
		if got := withoutExamples(line + "\n" + other + "\n"); got != want {
			t.Errorf("left of %q is %q", line, got)
		}
	}
	if got := withoutExamples(""); got != "" {
		t.Errorf("left of nothing is %q", got)
	}
}
