import NextAuth from 'next-auth'

// No providers and no routes: this side only reads sessions. AUTH_SECRET is
// the secret of the Pintle server.
export const { auth } = NextAuth({ providers: [], trustHost: true })
