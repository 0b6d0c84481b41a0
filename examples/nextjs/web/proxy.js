import { auth } from './auth.js'

export const proxy = auth((request) => {
  if (request.auth) return
  const page = new URL('/api/auth/signin', request.nextUrl.origin)
  page.searchParams.set('callbackUrl', request.nextUrl.href)
  return Response.redirect(page)
})

export const config = { matcher: '/members' }
