import { startAuthentication, startRegistration } from '@simplewebauthn/browser'

/** Asks for options and answers them, without sending the answer. */
globalThis.answer = async (parameters) => {
  const reply = await fetch(`/auth/webauthn-options/passkey?${new URLSearchParams(parameters)}`)
  if (!reply.ok) throw new Error(await reply.text())
  const { action, options } = await reply.json()
  const data = await (action === 'register' ? startRegistration(options) : startAuthentication(options))
  return { action, data: JSON.stringify(data) }
}

/** Sends an answer and returns where the server says to go. */
globalThis.send = async (form) => {
  const reply = await fetch('/auth/callback/passkey', {
    method: 'POST',
    headers: { 'X-Auth-Return-Redirect': '1' },
    body: new URLSearchParams(form),
  })
  return (await reply.json()).url
}
