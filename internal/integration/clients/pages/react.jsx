import { createRoot } from 'react-dom/client'
import { buttons } from './buttons.js'

// The whole page: the result of the hook, and a button for each action.
function Page({ auth }) {
  const { data, status, update } = auth.useSession()
  return (
    <main>
      <h1>{document.title}</h1>
      <p id="status">{status}</p>
      <pre id="session">{JSON.stringify(data, null, 2)}</pre>
      {Object.entries(buttons({ ...auth, update })).map(([label, press]) => (
        <button key={label} onClick={press}>{label}</button>
      ))}
    </main>
  )
}

export function show(auth) {
  createRoot(document.body).render(
    <auth.SessionProvider>
      <Page auth={auth} />
    </auth.SessionProvider>,
  )
}
