// @auth/prisma-adapter with the clients that Prisma generates of the schemas in
// this folder, whose tables its schema engine makes.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { PrismaAdapter } from '@auth/prisma-adapter'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg'

const require = createRequire(import.meta.url)

const drivers = {
  postgresql: async (url) => new (await import('@prisma/adapter-pg')).PrismaPg({ connectionString: url }),
  mysql: async (url) => new (await import('@prisma/adapter-mariadb')).PrismaMariaDb(url),
  sqlite: async (url, variant) => new (await import('@prisma/adapter-libsql')).PrismaLibSql({ url: `file:${url}`, timeout: 5000 }, { timestampFormat: variant }),
}

// tables returns the statements that "prisma migrate diff" prints. Its engine is
// otherwise a program that Prisma's installer downloads.
async function tables(dialect, driver) {
  // It has no MySQL in it yet. These are the statements that Prisma's program
  // prints.
  if (dialect === 'mysql') return readFileSync(new URL('../sqlstore/testdata/prisma-mysql.sql', import.meta.url), 'utf8')
  const binary = new URL('schema_engine_bg.wasm', import.meta.resolve('@prisma/schema-engine-wasm'))
  const { instance } = await WebAssembly.instantiate(readFileSync(binary), { './schema_engine_bg.js': engine })
  engine.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  const path = `prisma/${dialect}.prisma`
  const files = [{ path, content: readFileSync(new URL(path, import.meta.url), 'utf8') }]
  const migrations = await engine.SchemaEngine.new({ datamodels: [[path, files[0].content]] }, () => {}, bindMigrationAwareSqlAdapterFactory(driver))
  const filters = { externalTables: [], externalEnums: [] }
  return (await migrations.diff({ from: { tag: 'empty' }, to: { tag: 'schemaDatamodel', files }, script: true, exitCode: null, filters })).stdout
}

export async function open({ dialect, url, variant }) {
  const driver = await drivers[dialect](url, variant)
  const connection = await driver.connect()
  for (const sql of (await tables(dialect, driver)).split(';\n')) {
    if (sql.trim()) await connection.executeRaw({ sql, args: [], argTypes: [] })
  }
  await connection.dispose()
  const { PrismaClient } = require(`./generated/${dialect}`)
  const db = new PrismaClient({ adapter: driver })
  return {
    adapter: PrismaAdapter(db),
    account: (provider, providerAccountId) => db.account.findUnique({ where: { provider_providerAccountId: { provider, providerAccountId } } }),
  }
}
