// Package signincost counts what a complete sign-in costs in PostgreSQL: its statements, and
// its round trips.
package signincost
