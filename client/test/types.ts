// Compiled and never run: code that the types accept, and code that they reject.
import { connect, RequestError, type DefaultSession } from "../src/index.js"

interface Session extends DefaultSession {
  role: "member" | "admin"
}

export async function promises(): Promise<void> {
  const auth = connect<Session>({ basePath: "/api/auth" })
  const session = await auth.getSession()
  // @ts-expect-error the browser may be signed out
  session.role
  const role: "member" | "admin" | undefined = session?.role
  const email: string | null | undefined = (await connect().getSession())?.user?.email
  const stop: () => void = auth.onChange((s) => s?.role)
  // @ts-expect-error no session of this application has it
  auth.onChange((s) => s?.roles)
  const { ok, error, code } = await auth.signIn("password", { fields: { email: "", password: "" }, redirect: false })
  // @ts-expect-error fields are texts
  await auth.signIn("password", { fields: { age: 7 } })
  // @ts-expect-error sessions end
  connect<{ role: string }>()
  await auth.update({ name: "Mary" }).catch((e: unknown) => e instanceof RequestError && e.status === 400)
  const out = await auth.signOut({ redirectTo: "/", redirect: false })
  const next: string = out.ok ? "/" : out.url
  const made = await auth.passkey.register({ fields: { email: "mary@example.com" }, redirect: false })
  void [made.ok, await auth.passkey.signIn({ autofill: true, provider: "webauthn" })]
  // @ts-expect-error register has no autofill
  await auth.passkey.register({ autofill: true })
  void [role, email, stop, ok, error, code, next]
}
