import { getToken } from 'next-auth/jwt'

export async function GET(req) {
  return Response.json(await getToken({ req, secret: process.env.AUTH_SECRET }))
}
