const right = { username: 'mary', email: 'mary@example.com', password: 'ammonite and belemnite' }
const wrong = { ...right, password: 'the moving finger writes' }

// Notes what came of a call where drawing the page anew does not lose it.
const report = (call) => async () => {
  const notes = document.documentElement.dataset
  delete notes.result
  const result = await call().catch((error) => ({ thrown: String(error) }))
  notes.result = JSON.stringify(result ?? null)
}

/** What a person can do on every page, with the functions of one client. */
export const buttons = ({ signIn, signOut, update }) => ({
  'Wrong password': report(() => signIn('credentials', { ...wrong, redirect: false })),
  'Password': report(() => signIn('credentials', { ...right, redirect: false })),
  'Password, then welcome': report(() => signIn('credentials', { ...right, callbackUrl: '/welcome' })),
  'Identity provider': report(() => signIn('idp')),
  'Rename': report(() => update({ name: 'Mary of <Lyme> & Regis' })),
  'Sign out': report(() => signOut({ redirect: false })),
  'Sign out and reload': report(() => signOut()),
})
