'use client'
import { signOut, useSession } from 'next-auth/react'

export function Visitor() {
  const { data, status, update } = useSession()
  return (
    <main>
      <p id="status">{status}</p>
      <pre id="session">{JSON.stringify(data, null, 2)}</pre>
      <button onClick={() => update({ name: 'Mary of <Lyme> & Regis' })}>Rename</button>
      <button onClick={() => signOut({ redirectTo: '/' })}>Sign out</button>
    </main>
  )
}
