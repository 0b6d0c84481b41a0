import { useActionState } from 'react'
import { signIn } from 'next-auth/react'

export function Guest() {
  const [problem, enter] = useActionState(async (_, form) => {
    const { error } = await signIn('credentials', { ...Object.fromEntries(form), redirect: false })
    if (error) return error === 'CredentialsSignin' ? 'Wrong name or password.' : 'That did not work. Try again.'
  })
  return (
    <main>
      <h1>Hello, guest</h1>
      <form action={enter}>
        <label>Name <input name="username" autoComplete="username" required /></label>
        <label>Password <input name="password" type="password" autoComplete="current-password" required /></label>
        <button>Sign in</button>
        <p role="alert">{problem}</p>
      </form>
      <button onClick={() => signIn('local')}>Sign in with the local identity provider</button>
    </main>
  )
}
