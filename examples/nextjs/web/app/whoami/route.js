import { getToken } from 'next-auth/jwt'

// For scripts and other servers: who is asking, without asking Pintle.
export async function GET(req) {
  const token = await getToken({ req, secret: process.env.AUTH_SECRET })
  return token ? Response.json({ id: token.sub, name: token.name }) : new Response('Unauthorized', { status: 401 })
}
