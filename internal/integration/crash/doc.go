// Package crash tests what is left when a server dies in the middle of its
// work: a process is killed while people sign in, and what it leaves in the
// database must be whole.
package crash
