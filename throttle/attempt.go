package throttle

import "time"

// An attempt is to be counted under a name, with a limit.
type attempt struct {
	counts *counts
	name   string
	limit  Limit
}

// take counts all attempts and returns zero. If one is beyond its limit, it counts
// none of them, and returns the counts that reject it and how long to wait.
func take(all []attempt) (refusing *counts, wait time.Duration) {
	for i, a := range all {
		if wait := a.counts.take(a.name, a.limit); wait > 0 {
			giveBack(all[:i])
			return a.counts, wait
		}
	}
	return nil, 0
}

func giveBack(counted []attempt) {
	for _, a := range counted {
		a.counts.giveBack(a.name, a.limit)
	}
}
