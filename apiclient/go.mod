module github.com/pintleauth/pintle/apiclient

go 1.26.0

require (
	github.com/pintleauth/pintle v0.1.0
	golang.org/x/oauth2 v0.37.0
)

require (
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
