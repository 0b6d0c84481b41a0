// @auth/typeorm-adapter with its default entities, whose tables TypeORM makes.
import { TypeORMAdapter, entities, getManager } from '@auth/typeorm-adapter'
import Database from 'libsql'

const kinds = {
  postgresql: (url) => ({ type: 'postgres', url }),
  mysql: (url, variant) => ({ type: variant || 'mysql', url }),
  // libsql has the interface of better-sqlite3, and comes with its binary.
  sqlite: (url) => ({ type: 'better-sqlite3', driver: Database, database: url, timeout: 5000 }),
}

export async function open({ dialect, url, variant }) {
  const dataSource = { ...kinds[dialect](url, variant), synchronize: true }
  const manager = await getManager({ dataSource, entities })
  return {
    adapter: TypeORMAdapter(dataSource),
    account: (provider, providerAccountId) => manager.findOne(entities.AccountEntity, { where: { provider, providerAccountId } }),
  }
}
