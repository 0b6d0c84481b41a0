import type { Routes } from "./request.js"

/** What every session has. Applications give a type of their own to connect. */
export interface SessionShape {
  /** When the session ends unless it is used, in ISO 8601. */
  expires: string
}

/** The session a server shows when its application does not say otherwise. */
export interface DefaultSession extends SessionShape {
  user?: { id?: string; name?: string | null; email?: string | null; image?: string | null }
}

export type Listener<S> = (session: S | null) => void

/** What is known of the session in this tab. */
export interface Sessions<S> {
  /** Reads the session. */
  read(): Promise<S | null>

  /** Takes the answer of a request for the session. */
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
  let asked = 0
  let answered = 0

  // The name is that of next-auth/react, too.
  const open = (): BroadcastChannel => (channel ??= new BroadcastChannel("next-auth"))

  const take = async (request: Promise<unknown>, announce = true): Promise<S | null> => {
    const turn = ++asked
    const session = (await request) as S | null
    // Answers may overtake each other.
    if (turn > answered) {
      answered = turn
      saw(session, announce)
    }
    return session
  }

  const saw = (session: S | null, announce: boolean): void => {
    // The end moves with every read. It is nothing to tell anybody.
    const text = JSON.stringify(session && { ...session, expires: 0 })
    known = session
    // Only the tab that finds a change by itself announces it, so that tabs do
    // not ask for the session in turns.
    if (remember(text) && announce) open().postMessage(message)
    if (text === shown) return
    shown = text
    for (const listener of [...listeners]) listener(session)
  }

  const read = (announce?: boolean): Promise<S | null> => take(routes.get("session"), announce)

  // Nobody waits for these. Without an answer the last one stands.
  const heard = (): void => void read(false).catch(() => {})
  const looked = (): void => {
    if (document.visibilityState === "visible") read().catch(() => {})
  }

  return {
    read,
    take,
    subscribe(listener) {
      // A function of its own, so that one listener can be given twice.
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
 * whether the tab saw another one last: somebody came back from a provider or a
 * mail, or pressed a button of a plain form. What is kept is a fingerprint,
 * because browsers may write this storage to disk.
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
