'use client'
import { signOut, useSession } from 'next-auth/react'

export function Profile() {
  const { data, status, update } = useSession()
  return (
    <main>
      <p id="status">{status}</p>
      <pre id="session">{JSON.stringify(data, null, 2)}</pre>
      <form action={(form) => update({ name: form.get('name') })}>
        <label>Another name <input name="name" maxLength="60" required /></label>
        <button>Rename</button>
      </form>
      <button onClick={() => signOut({ redirectTo: '/' })}>Sign out</button>
    </main>
  )
}
