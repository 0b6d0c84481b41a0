package pintle

import "testing"

// What is bound by a hash has borders: a part of one text is not that of the next.
func TestAHashOfTextsHasTheirBorders(t *testing.T) {
	seen := map[string][]string{}
	for _, texts := range [][]string{{"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}, {"", "abc"}, {"a", "b", "c"}} {
		hash := hashOf(texts...)
		if before, twice := seen[hash]; twice {
			t.Errorf("%q and %q have one hash", before, texts)
		}
		seen[hash] = texts
	}
}
