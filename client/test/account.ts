// Compiled and never run: code that the types accept, and code that they reject.
import { connectAccount, RequestError, StepUpError, type Account, type Me } from "../src/account.js"

export async function promises(): Promise<void> {
  const account: Account = connectAccount({ basePath: "/api/auth" })
  const me = await account.me()
  // @ts-expect-error it may be a failure
  me.user
  if (me.error === undefined) {
    const user: Me["user"] = me.user
    // @ts-expect-error the store may have no passkeys
    me.passkeys.length
    void [user.email, me.passkeys?.length, me.pending.deletion]
  }
  const changed = await account.password.change("", "").catch((e: unknown) => {
    if (e instanceof StepUpError) return account.confirm.methods(e)
    if (e instanceof RequestError) return undefined
    throw e
  })
  if (changed?.error) void changed.fields?.["password"]
  const done = await account.devices.end("handle")
  const next: string = done.error === undefined ? done.next : done.error
  const profile = await account.profile.read()
  if (profile.error === undefined && profile.pictures[0]) await account.profile.update({ image: profile.pictures[0].id })
  await account.profile.update({ image: "remove" })
  // @ts-expect-error a picture has an id, and no address to choose
  if (profile.error === undefined) await account.profile.update({ image: profile.pictures[0]?.url })
  // @ts-expect-error a file, and not its name
  await account.profile.upload("me.png")
  await account.profile.upload(new Blob())
  const key = await account.factors.addTotp()
  if (key.error === undefined) await account.factors.confirmTotp(key.key, "123456", "Phone")
  const codes = await account.factors.newRecoveryCodes()
  const due = await account.enrolment.read()
  // @ts-expect-error there may be no key yet
  if (due.error === undefined) await account.enrolment.confirmTotp(due.key, "123456")
  if (due.error === undefined && due.key) await account.enrolment.confirmTotp(due.key, "123456")
  await account.password.replace("")
  const file = await account.exportData()
  const { ok } = { ok: file.error === undefined && file.file.size > 0 }
  void [next, codes.error === undefined ? codes.codes : codes.error, ok, await account.passkey.add(), await account.activity.page()]
}
