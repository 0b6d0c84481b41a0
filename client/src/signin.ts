import { leave, submit, type Routes } from "./request.js"
import type { Sessions } from "./session.js"

/** A provider, as the providers route returns it. */
export interface Provider {
  id: string
  name: string
  type: string
  signinUrl: string
  callbackUrl: string
}

export interface SignInOptions {
  /** Where to go in the end, on this site. The default is this page. */
  redirectTo?: string

  /** False stays on this page and returns the result. */
  redirect?: boolean

  /** The fields of the provider's form: email, or those of a credentials provider. */
  fields?: Record<string, string>

  /** Added to the address of the provider: prompt, login_hint, … */
  params?: Record<string, string>
}

export interface SignInResult {
  /** False if the sign-in failed. With mails and other sites the sign-in is not complete yet. */
  ok: boolean

  /** The error code of the error pages, such as "CredentialsSignin". */
  error?: string

  /** The application's code for wrong credentials. */
  code?: string

  /** Where the browser would have gone. */
  url: string
}

export const providers = (routes: Routes): Promise<Record<string, Provider>> =>
  routes.get("providers") as Promise<Record<string, Provider>>

export async function signIn(
  routes: Routes,
  sessions: Sessions<unknown>,
  id: string | undefined,
  { redirect, redirectTo = location.href, fields, params }: SignInOptions,
): Promise<SignInResult> {
  if (id === undefined) {
    const page = new URL(`${routes.base}/signin?${new URLSearchParams({ callbackUrl: redirectTo })}`, location.href)
    return finish(sessions, page, true)
  }
  const provider = (await providers(routes))[id]
  if (!provider) throw new TypeError(`no provider has the id "${id}"`)
  const route = provider.type === "credentials" ? "callback" : "signin"
  const query = new URLSearchParams(params)
  return finish(sessions, await submit(routes, `${route}/${id}?${query}`, { ...fields, callbackUrl: redirectTo }), redirect)
}

/** Ends a sign-in with the URL in the response of the server. */
export async function finish(sessions: Sessions<unknown>, url: URL, redirect = true): Promise<SignInResult> {
  // The parameters of a provider's address are the provider's.
  const query = url.origin === location.origin ? url.searchParams : new URLSearchParams()
  const error = query.get("error")
  const code = query.get("code")
  if (redirect) leave(url)
  else if (!error) await sessions.read()
  return { ok: !error, url: url.href, ...(error && { error }), ...(error && code && { code }) }
}
