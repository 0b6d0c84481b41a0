// Command pintle helps to set an application up.
//
//	pintle secret                        a fresh AUTH_SECRET for .env
//	pintle providers                     the catalogue of package provider
//	pintle providers search WORD         … where a word occurs
//	pintle providers show ID [-url URL]  what to register, and which variables to set
//	pintle migrate [URL]                 make the tables of package sqlstore, or bring them up to date
//	pintle migrate -own [URL]            … also beside tables of Auth.js
//	pintle migrate -layout NAME -accounts [URL]
//	                                     make the tables of package account beside those of Auth.js
//	pintle activity [-user ID] [-kind KIND] [-since TIME] [-json] [URL]
//	                                     what happened to the accounts of users
//	pintle reseal [-layout NAME] [-tenant NAME] [URL]
//	                                     seal the secrets of authenticator apps with the first secret
//	pintle sweep [-batch N] [-pause DURATION] [URL]
//	                                     remove what has expired
//	pintle users COMMAND                 list, make and change users; pintle users help lists the commands
//	pintle doctor                        faults of the environment and the servers it names
//	pintle doctor [-layout NAME] URL     faults of a database
//	pintle token [-cookie NAME] [-tenant NAME]
//	                                     the claims of the session token on standard input
//	pintle version                       which version this is
//
// A database is named by a URL that begins with postgres:, mysql: or sqlite:, as the last
// argument or with -database, or by the variable DATABASE_URL. The commands about one user
// take -database or the variable. A layout has the name of the adapter of Auth.js
// that made the tables: pg, neon, supabase, d1, drizzle, prisma, kysely or
// typeorm; without one they are those of pintle migrate. The options -table,
// -column and -extra describe the application's changes to the layout.
//
// Sweeping takes a URL that begins with redis:, rediss: or mongodb: as well. A database in
// MongoDB is the one in the path of the URL. Sessions, mail links and most else in Redis expire
// by themselves: there, the command removes the rows of users whom Auth.js has deleted.
//
// The doctor examines the secret (AUTH_SECRET), the address (AUTH_URL), the
// providers (AUTH_…_ID, AUTH_…_ISSUER: metadata and clock), the mail server
// (SMTP_URL) and the database (DATABASE_URL), as far as the environment names
// them. It changes nothing, does not sign in, and exits with status 1 if it finds
// a problem.
//
// The secrets of authenticator apps are sealed with the secrets of the environment: the
// first of AUTH_SECRET_3, AUTH_SECRET_2, AUTH_SECRET_1 and AUTH_SECRET that is set seals, and
// each opens. The doctor counts those that only another one opens; -tenant names the tenants.
//
// Users of another system come with "pintle users import -from SYSTEM FILE". The pepper of
// Devise is DEVISE_PEPPER. The status is 0 if every user of the file is stored, 1 if the
// import has stopped and is to be run again, and 3 if the file was read to its end and users
// were refused.
//
// A token is opened with AUTH_SECRET. The input may be a whole Cookie header. The
// name of a tenant is the key of a configuration of pintle.NewFunc, or its Tenant.
package main
