package main

import (
	"fmt"

	"github.com/pintleauth/pintle"
)

func (e *entry) builtin() (pintle.Provider, error) {
	return nil, fmt.Errorf("unknown built-in provider %q", e.ID)
}
