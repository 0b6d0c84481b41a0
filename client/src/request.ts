/** A route responded with an error status, or not with JSON. */
export class RequestError extends Error {
  override name = "RequestError"

  constructor(
    readonly url: string,
    readonly status: number,
  ) {
    super(`${url}: status ${status}`)
  }
}

/** The routes below one base path. */
export interface Routes {
  /** The path below which they are. */
  readonly base: string

  /** Reads JSON. */
  get(route: string): Promise<unknown>

  /** Posts JSON or a form, with the form token, and reads JSON. */
  post(route: string, body: URLSearchParams | { data: unknown }): Promise<unknown>
}

export function routes(base: string): Routes {
  const request = async (route: string, init?: RequestInit): Promise<unknown> => {
    const url = `${base}/${route}`
    const response = await fetch(url, init)
    // A failure must not be taken for "signed out".
    const failed = new RequestError(url, response.status)
    if (!response.ok) throw failed
    return response.json().catch(() => Promise.reject(failed))
  }

  return {
    base,
    get: request,
    async post(route, body) {
      // Requested each time: its cookie may have been deleted.
      const { csrfToken } = (await request("csrf")) as { csrfToken: string }
      const headers: Record<string, string> = { "X-Auth-Return-Redirect": "1" }
      let sent: BodyInit
      if (body instanceof URLSearchParams) {
        body.set("csrfToken", csrfToken)
        sent = body // fetch names the media type
      } else {
        headers["Content-Type"] = "application/json"
        sent = JSON.stringify({ ...body, csrfToken })
      }
      return request(route, { method: "POST", headers, body: sent })
    },
  }
}

/** Posts a form and returns the URL in the response, to which the browser must go. */
export async function submit(routes: Routes, route: string, fields: Record<string, string>): Promise<URL> {
  const { url } = (await routes.post(route, new URLSearchParams(fields))) as { url: string }
  return new URL(url, location.href)
}

/** Goes to a URL, also when only the fragment differs from this page's. */
export function leave(url: URL): void {
  location.assign(url)
  if (url.hash) location.reload()
}
