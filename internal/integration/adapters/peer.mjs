// The database side of an application: one adapter with @auth/core.
//
//   node peer.mjs ADAPTER '{"dialect", "url", "variant"}'
//
// Answers each line {"id", "call", "args"} on standard input with a line
// {"id", "value"} or {"id", "error"}, not always in their order. A time is
// {"$date": text}, so that a text that looks like one stays a text, and what
// is undefined {"$undefined": true}.
import { createInterface } from 'node:readline'
import { Auth } from '@auth/core'

const [adapterName, settings] = process.argv.slice(2)
const { adapter, account } = await (await import(`./${adapterName}.mjs`)).open(JSON.parse(settings))

// session returns the session to a browser with its cookie. Each request
// extends the session.
async function session(token, maxAge) {
  const response = await Auth(
    new Request('http://app.example.test/auth/session', { headers: { cookie: `authjs.session-token=${token}` } }),
    {
      adapter,
      basePath: '/auth',
      providers: [],
      secret: 'a secret that is long enough for both',
      session: { strategy: 'database', maxAge, updateAge: 0 },
      trustHost: true,
    },
  )
  return response.json()
}

const calls = { ...adapter, account, session }

function plain(value) {
  if (value === undefined) return { $undefined: true }
  if (value instanceof Date) return { $date: value.toISOString() }
  if (typeof value === 'bigint') return { $bigint: String(value) }
  if (Array.isArray(value)) return value.map(plain)
  if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]))
  return value
}

const revive = (_, value) => (typeof value?.$date === 'string' ? new Date(value.$date) : value)

async function answer(line) {
  const { id, call, args } = JSON.parse(line, revive)
  let said
  try {
    said = { id, value: plain(await calls[call](...args)) }
  } catch (error) {
    said = { id, error: String(error.stack ?? error) }
  }
  process.stdout.write(`${JSON.stringify(said)}\n`)
}

process.stdout.write(`${JSON.stringify({ id: 0, value: Object.keys(calls) })}\n`)
for await (const line of createInterface({ input: process.stdin })) answer(line)
// Nothing is left to do, but connections would keep the process.
process.exit(0)
