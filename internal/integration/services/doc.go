// Package services starts real servers for tests: PostgreSQL, MariaDB, Redis and a
// Redis Cluster, a server of MongoDB's protocol, an OpenLDAP directory, nginx, Caddy,
// Chromium.
//
// Every server listens on a free loopback port, keeps its files in a temporary
// directory and ends with the test that started it. Databases come from one server
// for the whole test binary, because making a PostgreSQL or MariaDB data directory
// takes seconds; a package that uses them declares that once:
//
//	func TestMain(m *testing.M) { os.Exit(services.Run(m)) }
//
//	func TestStore(t *testing.T) {
//		db := services.PostgreSQLDatabase(t) // empty, and this test's alone
//		...
//	}
//
// A test that stops its server starts a separate one instead:
//
//	s := services.PostgreSQL(t)
//	s.Stop(t)
//	// ... the store reports an error, no user is signed in ...
//	s.Start(t)
//
// A missing program fails the test, with the name of the Debian package to install.
// It never skips the test: an untested store would look like one that passed.
//
// Servers that do not run as root run as the account their package created.
// Only Unix systems are supported.
package services
