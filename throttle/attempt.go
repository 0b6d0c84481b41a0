package throttle

import "time"

// An attempt counts somewhere.
type attempt struct {
	counts *counts
	name   string
	limit  Limit
}

// take counts an attempt everywhere, or nowhere and returns how long to wait.
func take(all ...attempt) (counted []attempt, wait time.Duration) {
	for i, a := range all {
		if wait := a.counts.take(a.name, a.limit); wait > 0 {
			giveBack(all[:i])
			return nil, wait
		}
	}
	return all, 0
}

func giveBack(counted []attempt) {
	for _, a := range counted {
		a.counts.giveBack(a.name, a.limit)
	}
}

// unless is the limit, or none.
func (l Limit) unless(free bool) Limit {
	if free {
		l.Burst = -1
	}
	return l
}
