import { useEffect, useState } from 'react'
import { signOut } from 'next-auth/react'

export function Member({ session, update }) {
  const [greeting, setGreeting] = useState()
  useEffect(() => {
    // The cookie goes along by itself: the page never holds the session's token.
    fetch('/api/greeting').then((answer) => answer.json()).then(setGreeting)
  }, [session.user.name])
  return (
    <main>
      <h1>Hello, {session.user.name}</h1>
      <p id="greeting">{greeting?.text}</p>
      <form action={(form) => update({ name: form.get('name') })}>
        <label>Another name <input name="name" maxLength="60" required /></label>
        <button>Rename</button>
      </form>
      <button onClick={() => signOut({ redirect: false })}>Sign out</button>
    </main>
  )
}
