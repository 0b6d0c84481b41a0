// An OpenID provider on loopback that tells the application when a session ends. It prints
// its issuer, and then serves until it is ended.
//
//	node idp.mjs ORIGIN_OF_THE_APPLICATION
import http from 'node:http'
import Provider from 'oidc-provider'

const app = process.argv[2]
const server = http.createServer()
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'app', client_secret: 'the secret of the app', redirect_uris: [`${app}/auth/callback/sso`],
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
      post_logout_redirect_uris: [`${app}/auth/signout/sso`],
      backchannel_logout_uri: `${app}/auth/backchannel-logout/sso`, backchannel_logout_session_required: true,
    }],
    // Its own client refuses loopback, where the application of the test is.
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    features: { backchannelLogout: { enabled: true }, revocation: { enabled: true } },
    rotateRefreshToken: true,
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key for the cookies of this run'] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, name: 'Ada Lovelace', email: `${sub}@example.com`, email_verified: true }) }),
  })
  for (const event of ['backchannel.success', 'backchannel.error']) {
    provider.on(event, (ctx, err) => console.log(event, err instanceof Error ? err.message : ''))
  }
  server.on('request', provider.callback())
  console.log(`issuer ${issuer}`)
})
