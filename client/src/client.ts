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
 * if the server fails, and with a TypeError if it cannot be reached: neither
 * means that the browser is signed out.
 */
export interface Client<S extends SessionShape = DefaultSession> {
  /** Reads the session; null if the browser is signed out. */
  getSession(): Promise<S | null>

  /**
   * Calls listener with the session, and again whenever it changes: by this
   * page, in another tab, or on the server, which is found when the page
   * becomes visible again. It returns a function that ends that.
   */
  onChange(listener: Listener<S>): () => void

  /** Sends data to the server's callbacks and returns the changed session. */
  update(data?: unknown): Promise<S | null>

  /** Signs in with a provider. Without an id it goes to the sign-in page. */
  signIn(id?: string, options?: SignInOptions): Promise<SignInResult>

  /** Signs out, here and in every tab, and reports whether that worked. */
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
