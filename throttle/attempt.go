package throttle

import "time"

// An attempt counts somewhere.
type attempt struct {
	counts *counts
	name   string
	limit  Limit
}

// take counts an attempt everywhere and returns zero; or it counts nothing, and
// returns the place that refuses the attempt and how long to wait there.
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
