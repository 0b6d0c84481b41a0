// Package services starts the real servers that tests speak to: PostgreSQL,
// MariaDB, Redis and a Redis Cluster, a server of MongoDB's protocol, an OpenLDAP
// directory, Chromium.
//
// Every server listens on a free loopback port, keeps its files in a temporary
// directory and ends with the test that asked for it. Databases come from one
// server for the whole test binary, because making a PostgreSQL or MariaDB data
// directory takes seconds; a package that uses them says so once:
//
//	func TestMain(m *testing.M) { os.Exit(services.Run(m)) }
//
//	func TestStore(t *testing.T) {
//		db := services.PostgreSQLDatabase(t) // empty, and this test's alone
//		...
//	}
//
// A test that takes its server down asks for a server of its own instead:
//
//	s := services.PostgreSQL(t)
//	s.Stop(t)
//	// ... the store reports an error, nobody is signed in ...
//	s.Start(t)
//
// A missing program fails the test and names the Debian package to install. It
// never skips it: a store nobody tested looks the same as one that passed.
//
// Servers that refuse to run as root run as the account their package created.
// Only Unix systems are supported.
package services
