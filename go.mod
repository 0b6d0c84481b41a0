module github.com/pintleauth/pintle

go 1.26.0

require (
	github.com/go-jose/go-jose/v4 v4.1.8
	github.com/google/go-cmp v0.7.0
	golang.org/x/crypto v0.58.0
	golang.org/x/sync v0.24.0
	golang.org/x/text v0.43.0
	rsc.io/qr v0.2.0
)

require golang.org/x/sys v0.49.0 // indirect
