import { SessionProvider } from 'next-auth/react'
import { auth } from '../../auth.js'
import { Profile } from './profile.jsx'

// Rendered on the server, which has read the cookie that Pintle set.
export default async function Members() {
  const session = await auth()
  return (
    <SessionProvider session={session}>
      <h1>Hello from the server, {session?.user?.name ?? 'guest'}</h1>
      <Profile />
    </SessionProvider>
  )
}
