import { auth } from '../auth.js'

export default async function Home() {
  const session = await auth()
  return (
    <main>
      <h1>{session ? `${session.user.name} is here` : 'You are not signed in'}</h1>
      <a href="/members">Members</a>
    </main>
  )
}
