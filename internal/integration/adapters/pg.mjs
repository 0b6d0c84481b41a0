// @auth/pg-adapter and @auth/neon-adapter on node-postgres, which has the
// interface of Neon's own client.
import { readFileSync } from 'node:fs'
import NeonAdapter from '@auth/neon-adapter'
import PostgresAdapter from '@auth/pg-adapter'
import pg from 'pg'

export async function open({ url, variant }) {
  const pool = new pg.Pool({ connectionString: url })
  // The tables of their documentation.
  await pool.query(readFileSync(new URL('../sqlstore/testdata/pg-postgresql.sql', import.meta.url), 'utf8'))
  return {
    adapter: variant === 'neon' ? NeonAdapter(pool) : PostgresAdapter(pool),
    account: async (provider, id) => (await pool.query('SELECT * FROM accounts WHERE provider = $1 AND "providerAccountId" = $2', [provider, id])).rows[0],
  }
}
