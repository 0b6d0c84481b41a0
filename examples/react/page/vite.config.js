export default {
  // next-auth looks for its base path in the environment of the build, which a
  // browser does not have. Its default, /api/auth, is where config.go puts Pintle.
  define: { 'process.env': {} },
  // npm run dev serves the page at localhost:5173 and forwards other requests to Pintle. With a
  // text in the place of the object, Vite would change the Host header.
  server: { proxy: { '/api': { target: 'http://127.0.0.1:3000' } } },
  build: {
    assetsInlineLimit: 0, // the policy of site.go lets nothing inline run
    modulePreload: false,
    // One name for ever: what is built is in the repository, for people with Go alone.
    rolldownOptions: { output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' } },
  },
  logLevel: 'error',
}
