// An OpenID provider on loopback that requires the FAPI 2.0 Security Profile, with nonces in
// every DPoP proof. It reads the keys of its client from the application. It prints its issuer,
// and then serves until it is ended.
//
//	node idp.mjs ORIGIN_OF_THE_APPLICATION
import crypto from 'node:crypto'
import http from 'node:http'
import Provider from 'oidc-provider'

const app = process.argv[2]
const { privateKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' })
const server = http.createServer()
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'app', redirect_uris: [`${app}/auth/callback/sso`], jwks_uri: `${app}/auth/jwks`,
      token_endpoint_auth_method: 'private_key_jwt', id_token_signed_response_alg: 'ES256', dpop_bound_access_tokens: true,
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
    }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'one' }] },
    // Its own client refuses loopback, where the application of the test is.
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    features: {
      fapi: { enabled: true, profile: '2.0' },
      dPoP: { enabled: true, nonceSecret: crypto.randomBytes(32), requireNonce: () => true },
      pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true },
      revocation: { enabled: true },
    },
    issueRefreshToken: (ctx, client) => client.grantTypeAllowed('refresh_token'),
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key for the cookies of this run'] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, name: 'Ada Lovelace', email: `${sub}@example.com`, email_verified: true }) }),
  })
  for (const event of ['server_error', 'grant.error', 'pushed_authorization_request.error', 'authorization.error', 'userinfo.error', 'revocation.error']) {
    provider.on(event, (ctx, err) => console.log('error', event, err instanceof Error ? `${err.message}: ${err.error_detail ?? err.error_description ?? ''}` : ''))
  }
  server.on('request', provider.callback())
  console.log(`issuer ${issuer}`)
})
