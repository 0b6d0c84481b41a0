// Answers, on one line each, the calls on standard input:
// {"method", "args"}, with times as {"$date": "…"}.
import { createInterface } from 'node:readline'
import { XataAdapter } from '@auth/xata-adapter'
import { buildClient } from '@xata.io/client'
import { readFileSync } from 'node:fs'

const { origin, apiKey, schema } = JSON.parse(readFileSync(process.argv[2], 'utf8'))

// The client accepts only addresses of the service.
const service = 'https://workspace.us-east-1.xata.sh'
const XataClient = buildClient()
const client = new XataClient(
  {
    databaseURL: `${service}/db/app`,
    apiKey,
    branch: 'main',
    fetch: (url, init) => fetch(url.replace(service, origin), init)
  },
  schema.tables
)
const adapter = XataAdapter(client)

const revive = (_, value) => (value?.$date ? new Date(value.$date) : value)

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line, revive)
  let answer
  try {
    answer = { result: (await adapter[method](...args)) ?? null }
  } catch (error) {
    answer = { error: `${error.name}: ${error.message}` }
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
