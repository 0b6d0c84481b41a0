import { passkeys, type Passkeys } from "./passkey.js"
import { routes } from "./request.js"
import { sessions, type DefaultSession, type Listener, type SessionShape } from "./session.js"
import { providers, signIn, type Provider, type SignInOptions, type SignInResult } from "./signin.js"
import { signOut, type SignOutOptions, type SignOutResult } from "./signout.js"

export interface Options {
  /** The path below which the server has its routes, without a slash at its end. The default is "/auth". */
  basePath?: string
}

/**
 * The sign-in routes of this site. Every function rejects with a RequestError
 * when the server fails, and with a TypeError when it cannot be reached: neither
 * means that nobody is signed in.
 */
export interface Client<S extends SessionShape = DefaultSession> {
  /** Reads the session; null when nobody is signed in. */
  getSession(): Promise<S | null>

  /**
   * Calls listener with the session, and again whenever it is another one: by
   * this page, in another tab, or because the server says so when the page is
   * looked at again. It returns a function that ends that.
   */
  onChange(listener: Listener<S>): () => void

  /** Hands data to the server's callbacks and returns the session as it is then. */
  update(data?: unknown): Promise<S | null>

  /** Signs in with a provider. Without an id it goes to the sign-in page. */
  signIn(id?: string, options?: SignInOptions): Promise<SignInResult>

  /** Signs out, here and in every tab, and tells whether that worked. */
  signOut(options?: SignOutOptions): Promise<SignOutResult>

  /** Creates passkeys and signs in with them. */
  passkey: Passkeys

  /** The ways to sign in, by id. */
  providers(): Promise<Record<string, Provider>>
}

/** Returns a client for the routes of this site. It makes no request yet. */
export function connect<S extends SessionShape = DefaultSession>({ basePath = "/auth" }: Options = {}): Client<S> {
  const to = routes(basePath)
  const known = sessions<S>(to)
  return {
    getSession: known.read,
    onChange: known.subscribe,
    update: (data) => known.take(to.post("session", { data })),
    signIn: (id, options = {}) => signIn(to, known, id, options),
    signOut: (options = {}) => signOut(to, known, options),
    passkey: passkeys(to, known),
    providers: () => providers(to),
  }
}
