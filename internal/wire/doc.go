// Package wire writes and reads JSON as it goes between this library and Auth.js,
// its browser clients and the tables it shares: members in a fixed order, texts
// that may be absent or null, times and ids as JavaScript has them.
package wire
