// @auth/supabase-adapter, whose client uses HTTP, on PostgreSQL. The server
// below takes the place of Supabase's PostgREST.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { SupabaseAdapter } from '@auth/supabase-adapter'
import pg from 'pg'

// The client requires a class that Node.js 20 does not have, and that these tests
// do not use.
globalThis.WebSocket ??= class {}

const name = pg.escapeIdentifier

// statement translates a request like PostgREST: the database itself turns
// JSON into rows and rows into JSON.
// https://docs.postgrest.org/en/stable/references/api/tables_views.html
function statement({ method, url, headers }, body) {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const schema = headers[method === 'GET' ? 'accept-profile' : 'content-profile']
  const table = `${name(schema)}.${name(pathname.split('/').at(-1))}`
  const select = searchParams.get('select') ?? '*'
  searchParams.delete('select')

  const values = body ? [body] : []
  const conditions = [...searchParams].map(([column, filter]) => {
    if (!filter.startsWith('eq.')) throw new Error(`the filter ${filter} is unknown here`)
    return `t.${name(column)} = $${values.push(filter.slice('eq.'.length))}`
  })
  const where = conditions.length ? `WHERE ${conditions.join(' AND ')}` : ''
  const columns = body ? Object.keys(JSON.parse(body)).map(name).join(', ') : ''
  const owner = `jsonb_build_object('users', (SELECT to_jsonb(u) FROM ${name(schema)}.users u WHERE u.id = t."userId"))`
  const row = { '*': 'to_jsonb(t)', '*,users(*)': `to_jsonb(t) || ${owner}`, 'users(*)': owner }[select]
  switch (method) {
    case 'GET':
      return { text: `SELECT ${row} AS row FROM ${table} t ${where}`, values }
    case 'POST':
      return { text: `INSERT INTO ${table} AS t (${columns}) SELECT ${columns} FROM json_populate_record(NULL::${table}, $1) RETURNING ${row} AS row`, values }
    case 'PATCH':
      return { text: `UPDATE ${table} t SET (${columns}) = (SELECT ${columns} FROM json_populate_record(NULL::${table}, $1)) ${where} RETURNING ${row} AS row`, values }
    case 'DELETE':
      return { text: `DELETE FROM ${table} t ${where} RETURNING ${row} AS row`, values }
  }
}

async function serve(pool) {
  const server = createServer(async (request, response) => {
    const answer = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body))
    try {
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += chunk
      const rows = (await pool.query(statement(request, body))).rows.map(({ row }) => row)
      if (!request.headers.accept?.includes('vnd.pgrst.object')) answer(200, rows)
      else if (rows.length === 1) answer(200, rows[0])
      else answer(406, { code: 'PGRST116', details: `The result contains ${rows.length} rows`, hint: null, message: 'Cannot coerce the result to a single JSON object' })
    } catch ({ code, message }) {
      answer(code === '23505' ? 409 : 400, { code, details: null, hint: null, message })
    }
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${server.address().port}`
}

export async function open({ url }) {
  const pool = new pg.Pool({ connectionString: url })
  // The tables of its documentation.
  await pool.query(readFileSync(new URL('../sqlstore/testdata/supabase-postgresql.sql', import.meta.url), 'utf8'))
  return {
    adapter: SupabaseAdapter({ url: await serve(pool), secret: 'the key of the service role' }),
    account: async (provider, id) => (await pool.query('SELECT * FROM next_auth.accounts WHERE provider = $1 AND "providerAccountId" = $2', [provider, id])).rows[0],
  }
}
