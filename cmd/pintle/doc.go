// Command pintle helps to set an application up.
//
//	pintle secret                        a fresh AUTH_SECRET for .env
//	pintle providers                     the catalogue of package provider
//	pintle providers search WORD         … where a word occurs
//	pintle providers show ID [-url URL]  what to register, and which variables to set
//
// It reads no configuration and makes no request.
package main
