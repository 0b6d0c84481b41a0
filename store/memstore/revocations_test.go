package memstore_test

import (
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/storetest"
)

func TestRevocationsKeepEveryPromise(t *testing.T) {
	storetest.RunRevocation(t, func(*testing.T) pintle.RevocationStore { return &memstore.Revocations{} })
}
