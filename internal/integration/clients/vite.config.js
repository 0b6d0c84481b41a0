import { fileURLToPath } from 'node:url'

const file = (path) => fileURLToPath(new URL(path, import.meta.url))
const pages = ['next-auth-5', 'next-auth-4', 'pintle', 'solid', 'svelte']

export default {
  root: file('pages'),
  // next-auth reads its base path from the environment of the build.
  define: { 'process.env': {} },
  resolve: {
    // What SvelteKit makes up for an application at the root of its site.
    alias: { '$app/paths': file('pages/svelte-paths.js') },
  },
  build: {
    emptyOutDir: true,
    rolldownOptions: {
      input: pages.map((page) => file(`pages/${page}.html`)),
      // Served as its own build made it.
      external: ['/pintle.js'],
    },
  },
  logLevel: 'error',
}
