import { createRoot } from 'react-dom/client'
import { SessionProvider, useSession } from 'next-auth/react'
import { Member } from './member.jsx'
import { Guest } from './guest.jsx'
import './style.css'

function Page() {
  const { data: session, status, update } = useSession()
  if (status === 'loading') return null
  return session ? <Member session={session} update={update} /> : <Guest />
}

createRoot(document.body).render(
  <SessionProvider>
    <Page />
  </SessionProvider>,
)
