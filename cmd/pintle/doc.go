// Command pintle helps to set an application up.
//
//	pintle secret                        a fresh AUTH_SECRET for .env
//	pintle providers                     the catalogue of package provider
//	pintle providers search WORD         … where a word occurs
//	pintle providers show ID [-url URL]  what to register, and which variables to set
//	pintle migrate [URL]                 make the tables of package sqlstore, or bring them up to date
//	pintle doctor [-layout NAME] [URL]   what about a database makes a store slow or unsafe, and how to repair it
//	pintle token [-cookie NAME]          what the session token on standard input says
//
// A database is named by a URL that begins with postgres:, mysql: or sqlite:, or
// by the variable DATABASE_URL. A layout is named like the adapter of Auth.js
// whose tables are there: pg, neon, supabase, d1, drizzle, prisma, kysely or
// typeorm; without one they are those of pintle migrate. The doctor changes
// nothing, and fails when something is wrong.
//
// A token is opened with AUTH_SECRET. It may be a whole Cookie header.
package main
