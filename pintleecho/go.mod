module github.com/pintleauth/pintle/pintleecho

go 1.26.0

require (
	github.com/labstack/echo/v5 v5.3.1
	github.com/pintleauth/pintle v0.1.0
)

require (
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
