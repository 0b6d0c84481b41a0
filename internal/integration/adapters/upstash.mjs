// @auth/upstash-redis-adapter, whose client uses HTTP, on a Redis server. The
// server below takes the place of Upstash's HTTP interface.
import { createServer } from 'node:http'
import { UpstashRedisAdapter } from '@auth/upstash-redis-adapter'
import { Redis as Upstash } from '@upstash/redis'
import { Redis } from 'ioredis'

// Commands are arrays, on the path /pipeline arrays of them. Texts come back in
// base64 if the client requests that.
// https://upstash.com/docs/redis/features/restapi
async function bridge(redis) {
  const token = 'the token of the REST API'
  const encode = (value, encoding) => {
    if (typeof value === 'string' && value !== 'OK' && encoding === 'base64') return Buffer.from(value).toString('base64')
    return Array.isArray(value) ? value.map((v) => encode(v, encoding)) : value
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const run = async ([name, ...args]) => {
      try {
        return { result: encode(await redis.call(name, ...args), request.headers['upstash-encoding']) }
      } catch (error) {
        return { error: error.message }
      }
    }
    const known = request.headers.authorization === `Bearer ${token}`
    const asked = JSON.parse(body)
    const said = !known ? { error: 'Unauthorized' } : request.url === '/pipeline' ? await Promise.all(asked.map(run)) : await run(asked)
    response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return { url: `http://127.0.0.1:${server.address().port}`, token }
}

export async function open({ url }) {
  const redis = new Redis(url)
  const client = new Upstash({ ...(await bridge(redis)), enableTelemetry: false })
  return {
    adapter: UpstashRedisAdapter(client),
    account: (provider, id) => client.get(`user:account:${provider}:${id}`),
  }
}
