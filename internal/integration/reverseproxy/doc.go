// Package reverseproxy signs users in through nginx and Caddy, with the configurations of
// the guide for production.
package reverseproxy
