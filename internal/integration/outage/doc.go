// Package outage takes databases away from a running site and looks at what its
// visitors get: an error inside their time, nobody signed out, and everything
// as before when the database is back.
package outage
