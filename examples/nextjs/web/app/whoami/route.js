import { getToken } from 'next-auth/jwt'

// For scripts and other servers: the user of the token, without a request to Pintle.
export async function GET(req) {
  const token = await getToken({ req, secret: process.env.AUTH_SECRET })
  return token ? Response.json({ id: token.sub, name: token.name }) : new Response('Unauthorized', { status: 401 })
}
