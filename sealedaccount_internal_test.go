package pintle

import (
	"bytes"
	"testing"
)

func TestPlacesOfSealedTokensDiffer(t *testing.T) {
	seen := map[string]*Account{}
	for _, a := range []*Account{
		{Provider: "a b", ProviderAccountID: "c"},
		{Provider: "a", ProviderAccountID: "b c"},
		{Provider: "a", ProviderAccountID: "b 1:c"},
		{Provider: "a 1:b", ProviderAccountID: "c"},
	} {
		for _, column := range a.secretColumns() {
			place := string(a.place(column.name))
			if other := seen[place]; other != nil {
				t.Errorf("SA-L16 the %s of %+v has a place of %+v", column.name, a, other)
			}
			seen[place] = a
			if !bytes.Equal([]byte(place), a.place(column.name)) || len(place) != 16 {
				t.Errorf("the place of %+v is not stable", a)
			}
		}
	}
}
