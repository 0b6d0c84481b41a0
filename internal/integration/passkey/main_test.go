package passkey_test

import (
	"fmt"
	"os"
	"testing"
)

// bundleParent is a folder that lives as long as the tests.
var bundleParent string

func TestMain(m *testing.M) {
	var err error
	if bundleParent, err = os.MkdirTemp("", "pintle-passkey"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(bundleParent)
	os.Exit(code)
}
