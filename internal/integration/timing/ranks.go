package timing

import (
	"cmp"
	"math"
	"slices"
)

// rankTest compares two samples by the test of Mann and Whitney. auc is the chance that a
// value of a is greater than one of b, where equal values count half. p is the chance of
// an auc at least as far from 0.5 if both are of one distribution, two-sided, by the
// normal approximation with the correction for ties.
//
// https://doi.org/10.1214/aoms/1177730491
func rankTest(a, b []float64) (auc, p float64) {
	type value struct {
		v   float64
		ofA bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, v := range a {
		all = append(all, value{v, true})
	}
	for _, v := range b {
		all = append(all, value{v, false})
	}
	slices.SortFunc(all, func(x, y value) int { return cmp.Compare(x.v, y.v) })
	var ranksOfA, ties float64
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].v == all[i].v {
			end++
		}
		rank := float64(i+1+end) / 2 // the mean of the ranks i+1 to end
		for _, v := range all[i:end] {
			if v.ofA {
				ranksOfA += rank
			}
		}
		t := float64(end - i)
		ties += t*t*t - t
		i = end
	}
	m, n := float64(len(a)), float64(len(b))
	u := ranksOfA - m*(m+1)/2
	variance := m * n / 12 * (m + n + 1 - ties/((m+n)*(m+n-1)))
	if variance <= 0 {
		return 0.5, 1
	}
	z := math.Abs(u-m*n/2) / math.Sqrt(variance)
	return u / (m * n), math.Erfc(z / math.Sqrt2)
}

// median returns the middle of a sample.
func median(sample []float64) float64 {
	sorted := slices.Sorted(slices.Values(sample))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
