// An OpenID provider on loopback, with its own pages for sign-in and consent.
// It prints its issuer, and then serves until it is ended.
//
//	node idp.mjs REDIRECT_URI
import http from 'node:http'
import Provider from 'oidc-provider'

const server = http.createServer()
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'app', client_secret: 'the secret of the app', redirect_uris: [process.argv[2]],
      grant_types: ['authorization_code'], response_types: ['code'],
    }],
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key for the cookies of this run'] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, name: 'Ada Lovelace', email: `${sub}@example.com`, email_verified: true }) }),
  })
  server.on('request', provider.callback())
  console.log(`issuer ${issuer}`)
})
