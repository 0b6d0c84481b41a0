// @auth/d1-adapter on a file of SQLite, with the tables of its migration.
import { D1Adapter, up } from '@auth/d1-adapter'
import Database from 'libsql'

// d1 has the part of Cloudflare's interface that the adapter uses. As there, an
// undefined parameter is an error and results are asynchronous.
// https://developers.cloudflare.com/d1/worker-api/prepared-statements/
function d1(file) {
  const db = new Database(file, { timeout: 5000 })
  const bound = (statement, parameters) => {
    if (parameters.includes(undefined)) throw new TypeError('D1_TYPE_ERROR: undefined')
    return {
      bind: (...values) => bound(statement, values),
      run: async () => (statement.reader ? { success: true, results: statement.all(...parameters) } : { success: true, results: [], meta: statement.run(...parameters) }),
      first: async () => (statement.reader ? statement.get(...parameters) : void statement.run(...parameters)) ?? null,
    }
  }
  return { prepare: (text) => bound(db.prepare(text), []) }
}

export async function open({ url }) {
  const db = d1(url)
  await up(db)
  return {
    adapter: D1Adapter(db),
    account: (provider, id) => db.prepare('SELECT * FROM accounts WHERE provider = ? AND providerAccountId = ?').bind(provider, id).first(),
  }
}
