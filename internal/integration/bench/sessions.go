package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/token"
)

const (
	cookieName = "authjs.session-token"
	chunkSize  = 3936
	maxAge     = 30 * 24 * time.Hour
)

// sessions are kept in one of the ways to be measured.
type sessions struct {
	strategy pintle.SessionStrategy
	store    pintle.Store
	db       *sql.DB // nil in memory and in tokens
	seed     func(ctx context.Context, n, sample, pad int) (cookies []string, err error)
}

func openSessions(mode string) (*sessions, error) {
	switch mode {
	case "jwt":
		return &sessions{strategy: pintle.StrategyJWT, seed: seedTokens}, nil
	case "memory":
		return stored(memstore.New()), nil
	case "sqlite", "sqlite-by-hand":
		return openSQLite(os.Getenv("BENCH_SQLITE"))
	case "pg", "pg-by-hand":
		return openPostgreSQL(os.Getenv("BENCH_PG"))
	}
	return nil, fmt.Errorf("unknown BENCH_MODE %q", mode)
}

func seedTokens(_ context.Context, n, sample, pad int) ([]string, error) {
	codec, err := token.New(cookieName, os.Getenv("AUTH_SECRET"))
	if err != nil {
		return nil, err
	}
	var cookies []string
	for i := range min(n, sample) {
		u := person(i, pad)
		sealed, err := codec.Encode(struct {
			Name    string `json:"name"`
			Email   string `json:"email"`
			Picture string `json:"picture"`
			Sub     string `json:"sub"`
		}{u.Name, u.Email, u.Image, u.ID}, maxAge)
		if err != nil {
			return nil, err
		}
		cookies = append(cookies, cookieHeader(sealed))
	}
	return cookies, nil
}

// cookieHeader cuts a token as browsers are sent it.
func cookieHeader(sealed string) string {
	if len(sealed) <= chunkSize {
		return cookieName + "=" + sealed
	}
	var parts []string
	for i := 0; len(sealed) > 0; i++ {
		size := min(chunkSize, len(sealed))
		parts = append(parts, fmt.Sprintf("%s.%d=%s", cookieName, i, sealed[:size]))
		sealed = sealed[size:]
	}
	return strings.Join(parts, "; ")
}
