import { createRoot } from 'react-dom/client'
import { SessionProvider, useSession } from 'next-auth/react'
import { Member } from './member.jsx'
import { Stranger } from './stranger.jsx'
import './style.css'

function Page() {
  const { data: session, status, update } = useSession()
  if (status === 'loading') return null
  return session ? <Member session={session} update={update} /> : <Stranger />
}

createRoot(document.body).render(
  <SessionProvider>
    <Page />
  </SessionProvider>,
)
