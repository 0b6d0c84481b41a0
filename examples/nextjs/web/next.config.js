import { fileURLToPath } from 'node:url'

export default {
  // The routes are Pintle's, at the address of this application.
  rewrites: async () => [{ source: '/api/auth/:path*', destination: `${process.env.PINTLE_URL}/api/auth/:path*` }],
  // Other applications of the repository have lock files above this one.
  turbopack: { root: fileURLToPath(new URL('.', import.meta.url)) },
}
