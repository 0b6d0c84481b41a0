package main

import (
	"slices"
	"testing"
)

func TestSupportedReleasesAreTheLastOfTwo(t *testing.T) {
	versions := "golang.org/toolchain v0.0.1-go1.25.9.linux-amd64 v0.0.1-go1.26.0.linux-amd64 v0.0.1-go1.26.11.linux-amd64 " +
		"v0.0.1-go1.26.2.linux-amd64 v0.0.1-go1.27.0.linux-amd64 v0.0.1-go1.27.4.darwin-arm64 v0.0.1-go1.28rc1.linux-amd64"
	if got, want := supported(versions, "linux-amd64"), []goRelease{{26, 11}, {27, 0}}; !slices.Equal(got, want) {
		t.Errorf("supported releases are %v, want %v", got, want)
	}
}
