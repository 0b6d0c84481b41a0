/**
 * Sessions and sign-in for pages of a site that Pintle, or any server with the
 * routes of Auth.js, serves.
 *
 *     const auth = connect()
 *     auth.onChange((session) => { … })
 *     await auth.signIn("github")
 *
 * @module
 */
export { connect, type Client, type Options } from "./client.js"
export type { PasskeyOptions, Passkeys } from "./passkey.js"
export { RequestError } from "./request.js"
export type { DefaultSession, SessionShape } from "./session.js"
export type { Provider, SignInOptions, SignInResult } from "./signin.js"
export type { SignOutOptions, SignOutResult } from "./signout.js"
