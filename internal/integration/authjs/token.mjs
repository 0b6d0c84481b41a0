// Answers, on one line each, the requests on standard input:
// {"op": "encode" | "decode", "salt", "secret", "token"?, "claims"?, "maxAge"?}
import { createInterface } from 'node:readline'
import { decode, encode } from '@auth/core/jwt'

for await (const line of createInterface({ input: process.stdin })) {
  const { op, salt, secret, token, claims, maxAge } = JSON.parse(line)
  let answer
  try {
    answer = op === 'encode' ? { token: await encode({ salt, secret, token: claims, maxAge }) } : { claims: await decode({ salt, secret, token }) }
  } catch (error) {
    answer = { error: error.name }
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
