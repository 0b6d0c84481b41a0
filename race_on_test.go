//go:build race

package pintle_test

const raceEnabled = true
