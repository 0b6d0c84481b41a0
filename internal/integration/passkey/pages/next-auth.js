import { __NEXTAUTH } from 'next-auth/react'
import { signIn } from 'next-auth/webauthn'

// What an application that mounts the routes elsewhere gives its SessionProvider.
__NEXTAUTH.basePath = '/auth'

// The published function, as it is.
globalThis.signIn = (options) => signIn('passkey', { redirect: false, ...options })
