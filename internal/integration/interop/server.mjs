// An application with Auth.js: @auth/express on the tables of
// @auth/pg-adapter. It reads the configuration file that the Pintle server
// beside it reads, and prints its address.
import { readFileSync } from 'node:fs'
import express from 'express'
import pg from 'pg'
import { ExpressAuth, getSession } from '@auth/express'
import Credentials from '@auth/express/providers/credentials'
import Nodemailer from '@auth/express/providers/nodemailer'
import PostgresAdapter from '@auth/pg-adapter'

const settings = JSON.parse(readFileSync(process.env.CONFORMANCE_CONFIG, 'utf8'))

const kinds = {
  oidc: ({ kind, ...rest }) => ({ type: 'oidc', ...rest }),
  email: ({ id, name }) => ({
    ...Nodemailer({ from: settings.email.from, server: { host: settings.email.host, port: settings.email.port, ignoreTLS: true } }),
    id,
    name,
  }),
  credentials: ({ id, name, users }) => ({
    ...Credentials({
      credentials: { username: {}, password: {} },
      authorize: ({ username, password }) => users.find((u) => u.username === username && u.password === password)?.user ?? null,
    }),
    id,
    name,
  }),
}

const config = {
  secret: settings.secret,
  trustHost: settings.trustHost,
  session: settings.session,
  adapter: PostgresAdapter(new pg.Pool({ connectionString: settings.adapter.url })),
  providers: settings.providers.map((p) => kinds[p.kind](p)),
  callbacks: {
    // What the Pintle server calls mergeUpdate and exposeId.
    jwt({ token, trigger, session }) {
      const name = trigger === 'update' ? session?.user?.name : undefined
      return typeof name === 'string' ? { ...token, name, edited: true } : token
    },
    session({ session: { user, expires }, token }) {
      const { name, email, image } = user
      return { user: { name, email, image, id: token?.sub ?? user.id }, expires }
    },
  },
      // Errors are part of the test.
  logger: { error: ({ name, message, cause }) => console.error(name, message, cause?.err ?? ''), warn() {}, debug() {} },
}

const app = express()
app.set('trust proxy', true)
app.use('/auth/*', ExpressAuth(config))
app.get('/__conformance/session', async (req, res) => res.json(await getSession(req, config)))
const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
