//go:build !race

package pintle_test

const raceEnabled = false
