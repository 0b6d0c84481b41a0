/**
 * The account of a user, for pages of a site that Pintle serves with package
 * account. Load it where it is needed:
 *
 *     const { connectAccount } = await import("@pintleauth/client/account")
 *     const account = connectAccount()
 *     const changed = await account.password.change(current, chosen)
 *     if (changed.error) …
 *
 * @module
 */
import { credential, type CeremonyOptions } from "./passkey.js"
import { RequestError } from "./request.js"

export { RequestError } from "./request.js"

export interface AccountOptions {
  /** The path below which the server has its routes, without a slash at its end. The default is "/auth". */
  basePath?: string
}

/** What was rejected. The codes are in the guide "Sign-up, passwords, second factors". */
export interface Failure {
  error: string

  /** The codes of the fields, by their names. */
  fields?: Record<string, string>

  /** The least length of a password, with the codes about one. */
  min?: number
}

/** What was done, and where a form would lead. */
export interface Done {
  error?: undefined
  next: string
}

/** What was read. */
export type Read<T> = (T & { error?: undefined }) | Failure

export type Result = Done | Failure

/**
 * The user has to confirm first (RFC 9470). Send the browser to url, which comes
 * back to this page, or use the functions of confirm with the error.
 */
export class StepUpError extends Error {
  override name = "StepUpError"

  constructor(
    /** What the proofs have to reach, the weakest first. */
    readonly acrValues: string[],

    /** How old they may be, in seconds. */
    readonly maxAge: number | undefined,

    /** The page on which the user confirms. */
    readonly url: string,
  ) {
    super(`confirm at ${url}`)
  }
}

/** Times are in ISO 8601, and null if they are not known. */
export interface Me {
  user: { id: string; name: string | null; email: string | null; emailVerified: string | null; image: string | null }
  session: { authTime: string | null; started: string | null; amr: string[]; acr: string | null; fresh: boolean }
  password: { set: boolean; changed: string | null }
  factors: Factor[]
  recoveryLeft: number
  required: boolean
  rememberedDevices: RememberedDevice[]
  pending: { address?: string; addressChange?: true; deletion?: string }
  accounts?: LinkedAccount[]
  passkeys?: PasskeyEntry[]
  devices: Device[]
}

export interface Factor {
  id: string
  kind: string
  name: string
  created: string | null
  lastUsed: string | null
}

export interface RememberedDevice {
  id: string
  name: string
  created: string | null
  expires: string | null
  current: boolean
}

export interface Profile {
  name: string | null
  image: string | null
  pictures: { id: string; provider: string; image: string }[]
}

export interface LinkedAccount {
  provider: string
  providerAccountId: string
  type: string
}

export interface PasskeyEntry {
  id: string
  name: string
  created: string | null
  lastUsed: string | null
  backedUp: boolean
}

export interface Device {
  handle: string
  name: string | null
  created: string | null
  lastUsed: string | null
  expires: string | null
  current: boolean
}

/** Something that happened to the account. */
export interface Activity {
  id: string
  at: string
  kind: string
  outcome: string
  count: number
  actor?: string
  provider?: string
  methods?: string
  device?: string
  network?: string
}

/** A key for an authenticator app. confirmTotp takes key; uri is for a QR code. */
export interface TotpKey {
  key: string
  secret: string
  uri: string
}

/** The ways to prove something, the strongest first. */
export interface Methods {
  methods: string[]

  /** Whether a code was mailed, for the method "mail". */
  sent?: boolean

  /** Whether this browser may be remembered. */
  remember?: boolean
}

/** What a sign-in waits for that needs a second factor: one of a mailed code, an app, and codes that are to be saved. */
export interface Enrolment {
  /** The address to which a code is mailed, and whether it was. Then sendCode and prove are next. */
  email?: string
  sent?: boolean

  /** A new key for an authenticator app. Then confirmTotp is next. */
  key?: string
  secret?: string
  uri?: string

  /** How many recovery codes the user of a passkey has. Then newRecoveryCodes is next. */
  recoveryLeft?: number

  /** The codes that saveRecoveryCodes stores. */
  codes?: string[]
}

type Fields = Record<string, string | boolean>

/** The functions of the account of a user. */
export type Account = ReturnType<typeof connectAccount>

/**
 * Returns the functions of the account. Each resolves with what was done, or with
 * a Failure, by error. They reject with a StepUpError if the user has to confirm
 * first, with a RequestError if the server fails, and with a TypeError if it
 * cannot be reached.
 */
export function connectAccount({ basePath = "/auth" }: AccountOptions = {}) {
  let token: Promise<string> | undefined

  const newToken = async (): Promise<string> => {
    const url = `${basePath}/csrf`
    const response = await fetch(url)
    if (!response.ok) throw new RequestError(url, response.status)
    return ((await response.json()) as { csrfToken: string }).csrfToken
  }

  const answer = async <T>(url: string, init: RequestInit): Promise<Read<T>> => judge<T>(url, await fetch(url, init))

  const judge = async <T>(url: string, response: Response): Promise<Read<T>> => {
    const failed = new RequestError(url, response.status)
    const body = (await response.json().catch(() => Promise.reject(failed))) as Read<T> & {
      acr_values?: string
      max_age?: number
      url?: string
    }
    if (response.status === 401 && body.acr_values !== undefined)
      throw new StepUpError(body.acr_values.split(" "), body.max_age, body.url ?? `${basePath}/account/confirm`)
    if (response.status >= 500 || (!response.ok && !body.error)) throw failed
    return body
  }

  const headers = { Accept: "application/json" }
  const read = <T>(route: string): Promise<Read<T>> => answer<T>(`${basePath}/account/${route}`, { headers })

  // The form token is requested once. A request that failed is forgotten, so that the next
  // call requests the token again.
  const formToken = (): Promise<string> =>
    (token ??= newToken().catch((e: unknown) => {
      token = undefined
      throw e
    }))

  // The cookie that belongs to the form token may have been deleted since: then the form is
  // sent once more, with another token.
  const sendForm = async <T>(
    route: string,
    form: (csrfToken: string) => RequestInit,
    take: (url: string, response: Response) => Promise<Read<T>>,
  ): Promise<Read<T>> => {
    const url = `${basePath}/account/${route}`
    for (let again = false; ; again = true) {
      const response = await fetch(url, { method: "POST", ...form(await formToken()) })
      const result = await take(url, response)
      if (result.error !== "csrf" || again) return result
      token = undefined
    }
  }
  const asJSON = (fields: Fields) => (csrfToken: string) => ({
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ ...fields, csrfToken }),
  })
  const post = (route: string, fields: Fields = {}): Promise<Result> => sendForm<{ next: string }>(route, asJSON(fields), judge)

  // The browser writes the Content-Type, which has the boundary of the parts.
  const withFile = (name: string, file: Blob) => (csrfToken: string) => {
    const body = new FormData()
    body.set("csrfToken", csrfToken)
    body.set(name, file)
    return { headers, body }
  }

  const ceremony = async (
    action: "register" | "authenticate",
    route: string,
    send: (data: string) => Promise<Result>,
  ): Promise<Result> => {
    const begun = await answer<{ options: CeremonyOptions }>(`${basePath}/${route}`, { headers })
    return begun.error === undefined ? send(await credential(action, begun.options)) : begun
  }

  const query = (demand?: StepUpError): URLSearchParams =>
    demand ? new URL(demand.url, location.href).searchParams : new URLSearchParams()
  const demanded = (demand?: StepUpError): Record<string, string> => {
    const values: Record<string, string> = {}
    for (const [name, value] of query(demand)) values[name] = value
    return values
  }

  return {
    /** The whole account of the signed-in user. */
    me: () => read<Me>("me"),

    signUp: {
      /** Mails a code. fields are those of the application. */
      begin: (email: string, fields: Fields = {}) => post("sign-up", { ...fields, email }),
      /** Takes the code. */
      verify: (code: string) => post("sign-up-sent", { code }),
      /** Chooses the password, and signs in. */
      finish: (password: string, fields: Fields = {}) => post("sign-up-finish", { ...fields, password }),
    },

    password: {
      /** Mails a link for a new password. */
      forgot: (email: string) => post("forgot", { email }),
      /** Takes the new password on the page of that link; code is one of the second factor. */
      reset: (password: string, code = "") => post("reset", { password, ...(code && { code }) }),
      /** The same with a passkey in place of the code. */
      resetByPasskey: (password: string) =>
        ceremony("authenticate", "account/reset-options", (data) => post("reset", { password, method: "passkey", data })),
      change: (current: string, password: string) => post("password", { current, password }),
      /** Sets the first one. */
      set: (password: string) => post("password", { password }),
      remove: () => post("password", { remove: true }),
      /** Chooses another password, at a sign-in that waits for it. */
      replace: (password: string) => post("must-change", { password }),
    },

    address: {
      /** Mails a code to the new address. */
      begin: (email: string) => post("address", { email }),
      finish: (code: string) => post("address-finish", { code }),
      cancel: () => post("address-cancel"),
      /** Mails the code by which the user proves the address that the account has, once more if it was mailed. */
      sendCode: () => post("prove", { again: true }),
      /** Takes that code. */
      prove: (code: string) => post("prove", { code }),
    },

    profile: {
      /** The name, the picture, and the pictures of linked accounts that the user can choose. */
      read: () => read<Profile>("profile"),
      /** Changes the name, removes the picture, or takes that of a linked account by its id. */
      update: (fields: { name?: string; image?: string }) => post("profile", fields),
      /** Uploads a picture: at most 1 MiB of PNG, JPEG, GIF or WebP. The server needs Options.Pictures. */
      upload: (file: Blob) => sendForm<{ next: string }>("picture", withFile("picture", file), judge),
    },

    factors: {
      /** A new key for an authenticator app. */
      addTotp: () => read<TotpKey>("totp"),
      /** Adds the app that shows code. The first one has recovery codes: newRecoveryCodes reads them. */
      confirmTotp: (key: string, code: string, name = "") => post("totp", { key, code, name }),
      rename: (id: string, name: string) => post("factor", { id, name, action: "rename" }),
      remove: (id: string) => post("factor", { id, action: "remove" }),
      /** Makes recovery codes, or reads those that wait; they count once saveRecoveryCodes was called. */
      async newRecoveryCodes(): Promise<Read<{ codes: string[] }>> {
        const waiting = await read<{ codes?: string[] }>("recovery-codes")
        if (waiting.error !== undefined) return waiting
        if (waiting.codes) return { codes: waiting.codes }
        const made = await post("recovery-codes", { new: true })
        return made.error === undefined ? read<{ codes: string[] }>("recovery-codes") : made
      },
      saveRecoveryCodes: () => post("recovery-codes", { saved: true }),
      /** Has a browser asked again, or all of them. */
      forget: (id?: string) => post("remembered", id === undefined ? { all: true } : { id }),
    },

    passkey: {
      /** Creates a passkey for the signed-in user. provider is the id of the provider of passkeys. */
      async add(provider = "passkey"): Promise<Result> {
        return ceremony("register", `webauthn-options/${provider}?action=register`, async (data) => {
          const csrfToken = await formToken()
          const url = `${basePath}/callback/${provider}`
          const response = await fetch(url, {
            method: "POST",
            headers: { "X-Auth-Return-Redirect": "1" },
            body: new URLSearchParams({ action: "register", data, csrfToken, callbackUrl: location.href }),
          })
          if (!response.ok) throw new RequestError(url, response.status)
          const next = new URL(((await response.json()) as { url: string }).url, location.href)
          if (next.pathname === `${basePath}/account/confirm`)
            throw new StepUpError((next.searchParams.get("acr_values") ?? "").split(" "), undefined, next.href)
          if (next.pathname === `${basePath}/account/prove`) return { error: "address_unproved" }
          const error = next.searchParams.get("error")
          return error === null ? { next: next.href } : { error }
        })
      },
      rename: (id: string, name: string) => post("passkey", { id, name, action: "rename" }),
      remove: (id: string) => post("passkey", { id, action: "remove" }),
    },

    accounts: {
      unlink: (provider: string, id: string) => post("unlink", { provider, id }),
    },

    /** The second factor of a sign-in that waits in this browser. */
    secondFactor: {
      methods: () => read<Methods>("second-factor"),
      verify: (code: string, { method = "", remember = false } = {}) =>
        post("second-factor", { code, ...(method && { method }), ...(remember && { remember }) }),
      /** Mails a code, if "mail" is among the methods. */
      mail: () => post("second-factor", { method: "mail", again: true }),
      passkey: () =>
        ceremony("authenticate", "account/second-factor-options", (data) => post("second-factor", { method: "passkey", data })),
    },

    /** The first second factor, at a sign-in that waits for it. read says what the next step is. */
    enrolment: {
      read: () => read<Enrolment>("enrol"),
      /** Mails the code that comes before the factor, once more if it was mailed. */
      sendCode: () => post("enrol", { again: true }),
      /** Takes that code. */
      prove: (code: string) => post("enrol", { code }),
      /** Takes a code of the app. The recovery codes are next. */
      confirmTotp: (key: string, code: string, name = "") => post("enrol", { key, code, name }),
      /** Makes recovery codes for a passkey. */
      newRecoveryCodes: () => post("enrol", { new: true }),
      /** Adds the factor, and goes on with the sign-in. */
      saveRecoveryCodes: () => post("enrol", { saved: true }),
    },

    /** The confirmation that a StepUpError asks for. Repeat what was rejected afterwards. */
    confirm: {
      methods: (demand?: StepUpError) => read<Methods & { confirmed: boolean }>(`confirm?${query(demand)}`),
      /** method is one of methods; value is the password or the code. */
      verify: (method: string, value: string, demand?: StepUpError) =>
        post("confirm", { ...demanded(demand), method, [method === "password" ? "password" : "code"]: value }),
      mail: (demand?: StepUpError) => post("confirm", { ...demanded(demand), method: "mail", again: true }),
      passkey: (demand?: StepUpError) =>
        ceremony("authenticate", `account/confirm-options?${query(demand)}`, (data) =>
          post("confirm", { ...demanded(demand), method: "passkey", data }),
        ),
    },

    devices: {
      /** At most 100; next is from for the further ones. */
      list: (from = 0) => read<{ devices: Device[]; next?: number }>(`devices?from=${from}`),
      end: (handle: string) => post("end-devices", { handle }),
      endOthers: () => post("end-devices", { others: true }),
      /** Signs out everywhere, here too. */
      endAll: () => post("end-devices", { all: true }),
    },

    activity: {
      /** What happened to the account, the newest first; next is the cursor of the further ones. */
      page: (cursor = "") => read<{ activity: Activity[]; next: string | null }>(`activity?${new URLSearchParams({ cursor })}`),
    },

    /** What is stored about the user, as a file. */
    exportData: () =>
      sendForm<{ file: Blob }>("export", asJSON({}), async (url, response) =>
        response.ok ? { file: await response.blob() } : judge<{ file: Blob }>(url, response),
      ),

    deletion: {
      begin: () => post("delete", { confirmed: true }),
      /** Keeps the account, at a sign-in that waits for it. */
      keep: () => post("keep"),
    },
  }
}
