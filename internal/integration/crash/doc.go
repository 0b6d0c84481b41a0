// Package crash tests a server that dies in the middle of its work: a process is
// killed while people sign in, and the records it leaves in the database must be
// complete.
package crash
