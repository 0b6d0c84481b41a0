import { SessionProvider } from 'next-auth/react'
import { auth } from '../../auth.js'
import { Visitor } from './visitor.jsx'

// Written on the server, which has read the cookie that Pintle set.
export default async function Members() {
  const session = await auth()
  return (
    <SessionProvider session={session}>
      <h1>Hello from the server, {session?.user?.name ?? 'stranger'}</h1>
      <Visitor />
    </SessionProvider>
  )
}
