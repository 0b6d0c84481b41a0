import type { Routes } from "./request.js"

/** The members of every session. Applications pass their own type to connect. */
export interface SessionShape {
  /** When the session ends unless it is used, in ISO 8601. */
  expires: string
}

/** The session of a server whose application does not change it. */
export interface DefaultSession extends SessionShape {
  user?: { id?: string; name?: string | null; email?: string | null; image?: string | null }
}

export type Listener<S> = (session: S | null) => void

/** The session in this tab. */
export interface Sessions<S> {
  /** Reads the session. */
  read(): Promise<S | null>

  /** Takes the response to a request for the session. */
  take(request: Promise<unknown>): Promise<S | null>

  /** Calls listener with the session, and whenever it is another one. */
  subscribe(listener: Listener<S>): () => void
}

// next-auth/react sends this message: pages with either client follow each other.
const message = { event: "session", data: { trigger: "getSession" } }

export function sessions<S extends SessionShape>(routes: Routes): Sessions<S> {
  const listeners = new Set<Listener<S>>()
  let channel: BroadcastChannel | undefined
  let known: S | null | undefined
  let shown: string | undefined
  let turns = 0
  let latest = 0

  // The name is that of next-auth/react, too.
  const open = (): BroadcastChannel => (channel ??= new BroadcastChannel("next-auth"))

  const take = async (request: Promise<unknown>, announce = true): Promise<S | null> => {
    const turn = ++turns
    const session = (await request) as S | null
    // Responses may arrive in another order.
    if (turn > latest) {
      latest = turn
      saw(session, announce)
    }
    return session
  }

  const saw = (session: S | null, announce: boolean): void => {
    // The expiry moves with every read. Listeners are not called for that.
    const text = JSON.stringify(session && { ...session, expires: 0 })
    known = session
    // Only the tab that finds a change by itself announces it, so that tabs do
    // not request the session in turns.
    if (remember(text) && announce) open().postMessage(message)
    if (text === shown) return
    shown = text
    for (const listener of [...listeners]) listener(session)
  }

  const read = (announce?: boolean): Promise<S | null> => take(routes.get("session"), announce)

  // No caller waits for these. Without a response the last session is kept.
  const heard = (): void => void read(false).catch(() => {})
  const looked = (): void => {
    if (document.visibilityState === "visible") read().catch(() => {})
  }

  return {
    read,
    take,
    subscribe(listener) {
      // A new function, so that one listener can be added twice.
      const own: Listener<S> = (session) => listener(session)
      listeners.add(own)
      if (listeners.size > 1) {
        if (known !== undefined) own(known)
      } else {
        known = shown = undefined // it may have changed unnoticed
        open().onmessage = heard
        document.addEventListener("visibilitychange", looked)
        read().catch(() => {})
      }
      return () => {
        if (!listeners.delete(own) || listeners.size) return
        channel?.close()
        channel = undefined
        document.removeEventListener("visibilitychange", looked)
      }
    },
  }
}

/**
 * Remembers what the session looks like across the pages of a tab, and reports
 * whether the tab saw another one last: after a redirect from a provider, a mail
 * link or a plain form. It stores a fingerprint, because browsers may write this
 * storage to disk.
 */
function remember(text: string): boolean {
  let print = 0
  if (text !== "null") for (const c of text) print = (Math.imul(print, 31) + c.codePointAt(0)!) | 0
  try {
    const before = sessionStorage.pintle ?? 0
    sessionStorage.pintle = print
    return before != print // storage has made it a text
  } catch {
    return true // storage is forbidden, so everything is news
  }
}
