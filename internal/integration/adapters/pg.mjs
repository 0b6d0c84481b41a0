// @auth/pg-adapter on node-postgres.
import { readFileSync } from 'node:fs'
import PostgresAdapter from '@auth/pg-adapter'
import pg from 'pg'

export async function open({ url }) {
  const pool = new pg.Pool({ connectionString: url })
  // The tables of its documentation.
  await pool.query(readFileSync(new URL('../sqlstore/testdata/pg-postgresql.sql', import.meta.url), 'utf8'))
  return {
    adapter: PostgresAdapter(pool),
    account: async (provider, id) => (await pool.query('SELECT * FROM accounts WHERE provider = $1 AND "providerAccountId" = $2', [provider, id])).rows[0],
  }
}
