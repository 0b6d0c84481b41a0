import { leave, submit, type Routes } from "./request.js"
import type { Sessions } from "./session.js"

export interface SignOutOptions {
  /** Where to go afterwards, on this site. The default is this page. */
  redirectTo?: string

  /** False stays on this page and returns the result. */
  redirect?: boolean
}

export interface SignOutResult {
  /** Whether the session ended. If not, the user is still signed in and can try again. */
  ok: boolean

  /** Where the browser would have gone. */
  url: string
}

export async function signOut(
  routes: Routes,
  sessions: Sessions<unknown>,
  { redirect = true, redirectTo = location.href }: SignOutOptions,
): Promise<SignOutResult> {
  const url = await submit(routes, "signout", { callbackUrl: redirectTo })
  // Read it before this page is left, to tell the other tabs that it is over.
  await sessions.read()
  if (redirect) leave(url)
  return { ok: url.searchParams.get("error") !== "SignOutError", url: url.href }
}
