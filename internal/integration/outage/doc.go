// Package outage stops databases of a running site and checks the responses to its
// users: an error in time, no user signed out, and service as before when the
// database is back.
package outage
