package passkey_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// bundleParent is a folder that lives as long as the tests.
var bundleParent string

func TestMain(m *testing.M) {
	var err error
	if bundleParent, err = os.MkdirTemp("", "pintle-passkey"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := services.Run(m)
	_ = os.RemoveAll(bundleParent)
	os.Exit(code)
}
