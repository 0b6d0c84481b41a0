import { submit, type Routes } from "./request.js"
import type { Sessions } from "./session.js"
import { finish, type SignInOptions, type SignInResult } from "./signin.js"

export interface PasskeyOptions extends Pick<SignInOptions, "redirect" | "redirectTo" | "fields"> {
  /** The id of the provider. The default is "passkey". */
  provider?: string

  /**
   * Waits until the user chooses a passkey in the autofill list of a field whose
   * autocomplete attribute has the word "webauthn".
   */
  autofill?: boolean
}

/**
 * Passkeys. A ceremony that begins ends the one before it. Functions reject with
 * the DOMException of the browser if the user cancels (NotAllowedError), with a
 * TypeError if there is no autofill, and with a RequestError if the server does
 * not offer the ceremony.
 */
export interface Passkeys {
  /** Creates a passkey for the signed-in user, or for a new user with the address in fields. */
  register(options?: Omit<PasskeyOptions, "autofill">): Promise<SignInResult>

  /** Signs in with a passkey. */
  signIn(options?: PasskeyOptions): Promise<SignInResult>
}

// The JSON is that of version 9 of @simplewebauthn/browser, which servers of this
// contract expect: base64url, but for user ids, which are text.
interface Descriptor {
  id: string
}

/** What a ceremony takes from the server. */
export interface CeremonyOptions {
  challenge: string
  user?: { id: string }
  allowCredentials?: Descriptor[]
  excludeCredentials?: Descriptor[]
}

const toBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replace(/[-_]/g, (c) => (c === "-" ? "+" : "/"))), (c) => c.charCodeAt(0))

const toText = (buffer: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/[+/=]/g, (c) => (c === "+" ? "-" : c === "/" ? "_" : ""))

const descriptors = (list?: Descriptor[]) => list?.map((d) => ({ ...d, id: toBytes(d.id) }))

export function passkeys(routes: Routes, sessions: Sessions<unknown>): Passkeys {
  let running: AbortController | undefined
  let requested: Promise<unknown> | undefined

  const ceremony = async (
    action: "register" | "authenticate",
    { provider = "passkey", autofill, fields, redirect, redirectTo = location.href }: PasskeyOptions = {},
  ): Promise<SignInResult> => {
    // A browser runs one ceremony at a time, and the cookie has one challenge.
    running?.abort()
    const { signal } = (running = new AbortController())
    if (autofill && !(await window.PublicKeyCredential?.isConditionalMediationAvailable?.()))
      throw new TypeError("no autofill")
    const query = new URLSearchParams({ ...fields, action })
    // Each response replaces the challenge in the cookie. The next request waits
    // for the response before it, so that the cookie has the last challenge.
    await requested?.catch(() => {})
    signal.throwIfAborted()
    requested = routes.get(`webauthn-options/${provider}?${query}`)
    const { options } = (await requested) as { options: CeremonyOptions }
    const data = await credential(action, options, { signal, ...(autofill && { mediation: "conditional" }) })
    const url = await submit(routes, `callback/${provider}`, { action, data, callbackUrl: redirectTo })
    return finish(sessions, url, redirect)
  }

  return {
    register: (options) => ceremony("register", options),
    signIn: (options) => ceremony("authenticate", options),
  }
}

/** Runs a ceremony with the options of the server, and returns the answer as the server takes it. */
export async function credential(
  action: "register" | "authenticate",
  options: CeremonyOptions,
  request?: { signal: AbortSignal; mediation?: "conditional" },
): Promise<string> {
  const { user } = options
  const made = await navigator.credentials[action === "register" ? "create" : "get"]({
    ...request,
    publicKey: {
      ...options,
      challenge: toBytes(options.challenge),
      user: user && { ...user, id: new TextEncoder().encode(user.id) },
      allowCredentials: descriptors(options.allowCredentials),
      excludeCredentials: descriptors(options.excludeCredentials),
    },
  } as unknown as CredentialCreationOptions & CredentialRequestOptions)
  return JSON.stringify(describe(made as PublicKeyCredential))
}

function describe(credential: PublicKeyCredential) {
  const from = credential.response as unknown as Record<string, unknown> & { getTransports?(): string[] }
  const response: Record<string, unknown> = { transports: from.getTransports?.() }
  for (const name in from) {
    const value = from[name]
    if (value instanceof ArrayBuffer) response[name] = name === "userHandle" ? new TextDecoder().decode(value) : toText(value)
  }
  return {
    id: credential.id,
    rawId: credential.id,
    type: credential.type,
    response,
    clientExtensionResults: credential.getClientExtensionResults(),
  }
}
