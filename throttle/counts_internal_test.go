package throttle

import (
	"fmt"
	"testing"
	"time"
)

// Names come from requests, so an attacker can invent any number of them.
func TestCountsAreEvicted(t *testing.T) {
	var c counts
	l := Limit{Burst: 1, Every: time.Hour}
	for i := range maxCounts + 1000 {
		if i%1000 == 0 && (c.take("in use", l) == 0) != (i == 0) {
			t.Fatalf("after %d others the one in use is forgotten", i)
		}
		c.take(fmt.Sprint(i), l)
	}
	if c.take("0", l) != 0 {
		t.Error("the oldest is not forgotten")
	}
}
