// @auth/drizzle-adapter with its default tables, which drizzle-kit makes.
import { DrizzleAdapter } from '@auth/drizzle-adapter'
import * as kit from 'drizzle-kit/api'
import { and, eq } from 'drizzle-orm'

// The package has its default tables in files that it does not export. Those
// that the application adds are in the other tables too.
const tables = async (dialect, own) => (await import(`./node_modules/@auth/drizzle-adapter/lib/${dialect}.js`)).defineTables(own)

// renamed is the example in the documentation of layouts.
async function renamed() {
  const { pgTable, text, timestamp } = await import('drizzle-orm/pg-core')
  const usersTable = pgTable('app_user', {
    id: text('id')
      .primaryKey()
      .$defaultFn(() => crypto.randomUUID()),
    name: text('name'),
    email: text('email').unique(),
    emailVerified: timestamp('verified', { mode: 'date' }),
    image: text('image'),
    role: text('role'),
  })
  return { usersTable }
}

async function postgresql(url, variant) {
  const { drizzle } = await import('drizzle-orm/node-postgres')
  const schema = await tables('pg', variant === 'renamed' ? await renamed() : undefined)
  const db = drizzle(url)
  const statements = await kit.generateMigration(kit.generateDrizzleJson({}), kit.generateDrizzleJson({ ...schema }))
  for (const statement of statements) await db.execute(statement)
  return { db, schema }
}

async function mysql(url) {
  const { drizzle } = await import('drizzle-orm/mysql2')
  const schema = await tables('mysql')
  const db = drizzle(url)
  const statements = await kit.generateMySQLMigration(await kit.generateMySQLDrizzleJson({}), await kit.generateMySQLDrizzleJson({ ...schema }))
  for (const statement of statements) await db.execute(statement)
  return { db, schema }
}

async function sqlite(url) {
  const { drizzle } = await import('drizzle-orm/libsql')
  const schema = await tables('sqlite')
  const db = drizzle({ connection: { url: `file:${url}`, timeout: 5000 } })
  const statements = await kit.generateSQLiteMigration(await kit.generateSQLiteDrizzleJson({}), await kit.generateSQLiteDrizzleJson({ ...schema }))
  for (const statement of statements) await db.run(statement)
  return { db, schema }
}

export async function open({ dialect, url, variant }) {
  const { db, schema } = await { postgresql, mysql, sqlite }[dialect](url, variant)
  const accounts = schema.accountsTable
  return {
    adapter: variant ? DrizzleAdapter(db, schema) : DrizzleAdapter(db),
    account: async (provider, id) => (await db.select().from(accounts).where(and(eq(accounts.provider, provider), eq(accounts.providerAccountId, id))))[0],
  }
}
