// Answers, on one line each, the requests on standard input: {"method", "args"}
// is a call of the adapter for the database the command line names. A date is
// {"$date": "2026-01-02T03:04:05.678Z"} in both directions.
import { createInterface } from 'node:readline'
import { MongoDBAdapter } from '@auth/mongodb-adapter'
import { MongoClient } from 'mongodb'

const [url, databaseName] = process.argv.slice(2)
const client = new MongoClient(url)
const adapter = MongoDBAdapter(client, { databaseName })

const read = (name, value) => (value?.$date ? new Date(value.$date) : value)

function written(value) {
  if (value instanceof Date) return { $date: value.toISOString() }
  if (value === null || typeof value !== 'object' || value.toHexString) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, written(member)]))
}

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line, read)
  let answer
  try {
    answer = { value: written((await adapter[method](...args)) ?? null) }
  } catch (error) {
    answer = { error: error.message }
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
await client.close()
