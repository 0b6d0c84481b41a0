// Package authtest is an identity provider and a mailbox that run inside a
// test, or inside a quickstart that should work with no account anywhere, and
// one-line sign-in for the tests of an application.
//
// # Somebody signed in
//
// A test that needs somebody to be signed in says so in one line, whatever the
// ways to sign in are, and wherever sessions are kept:
//
//	r := httptest.NewRequest("GET", "http://localhost/account", nil)
//	authtest.SignIn(t, cfg, r, &pintle.User{Name: "Kim"})
//
// [SignIn] is for tests that call a handler, [HTTPClient] for tests that start a
// server, [Cookies] for tests that drive a browser and [StorageState] for those
// of Playwright. [SignInWith] goes the whole way, to the provider or the mailbox
// below and back. docs/testing.md is a guide with whole tests.
//
// # The provider
//
// [Start] gives a test a provider that speaks OAuth 2.0, OpenID Connect and
// OAuth 1.0a on a loopback address and lets anybody in:
//
//	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
//	idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim", Email: "kim@example.com"})
//	cfg.Providers = []pintle.Provider{idp.OIDC("acme")} // or idp.OAuth2, idp.OAuth1
//
// Any other application is configured with its Issuer, any client id and secret,
// and a redirect URI on this machine.
//
// Outside a test, use [NewIdentityProvider] and [IdentityProvider.Listen].
// Without AutoConsent the browser sees a page on which one picks who to be.
//
// It is strict about everything the standards ask of a client: exact redirect
// URIs, PKCE with S256, codes that work once, within a minute and for one
// client, refresh tokens that rotate, client authentication in all its forms,
// OAuth 1.0a signatures. What the client sent can be looked at with
// [IdentityProvider.Requests].
//
// # Misbehaviour
//
// Applications are mostly broken into when the other side does not behave, so
// the provider can be told not to. [IdentityProvider.Break] takes a [Fault],
// or an [Outage] of one endpoint:
//
//	idp.Break(authtest.IDTokenWrongAudience)
//	idp.Break(authtest.At(authtest.TokenEndpoint, authtest.Hangs))
//	defer idp.Repair()
//
// What no fault describes, a [Tamper] function can do.
//
// # The tests of the OpenID Foundation
//
// The conformance suite for relying parties acts as a provider too. These
// faults put an application in the situation of its tests; "reject" means that
// no session may come of it.
//
//	oidcc-client-test                                  none                                      accept
//	oidcc-client-test-client-secret-basic              none, Client.AuthMethod                   accept
//	oidcc-client-test-nonce-invalid                    IDTokenWrongNonce                         reject
//	oidcc-client-test-invalid-iss                      IDTokenWrongIssuer                        reject
//	oidcc-client-test-missing-sub                      IDTokenWithoutSubject                     reject
//	oidcc-client-test-invalid-aud                      IDTokenWrongAudience                      reject
//	oidcc-client-test-missing-aud                      IDTokenWithoutAudience                    reject
//	oidcc-client-test-missing-iat                      IDTokenWithoutIssuedAt                    reject
//	oidcc-client-test-invalid-athash                   IDTokenWrongAccessHash                    reject
//	oidcc-client-test-kid-absent-single-jwks           IDTokenWithoutKeyID                       accept
//	oidcc-client-test-kid-absent-multiple-jwks         IDTokenWithoutKeyID, JWKSSeveralKeys      either
//	oidcc-client-test-idtoken-sig-rs256                none                                      accept
//	oidcc-client-test-idtoken-sig-none                 IDTokenUnsigned                           either
//	oidcc-client-test-invalid-sig-rs256                IDTokenWrongSignature                     reject
//	oidcc-client-test-invalid-sig-es256                IDTokenWrongSignature, Options.Algorithm  reject
//	oidcc-client-test-invalid-sig-hs256                IDTokenHS256PublicKey                     reject
//	oidcc-client-test-userinfo-invalid-sub             UserInfoWrongSubject                      reject
//	oidcc-client-test-userinfo-bearer-header           none                                      accept
//	oidcc-client-test-userinfo-bearer-body             none                                      accept
//	oidcc-client-test-userinfo-signed                  UserInfoSigned                            verify or reject
//	oidcc-client-test-scope-userinfo-claims            none, Person.Claims                       accept
//	oidcc-client-test-aggregated-claims                UserInfoAggregatedClaims                  accept, ignore them
//	oidcc-client-test-distributed-claims               UserInfoDistributedClaims                 accept, ignore them
//	oidcc-client-test-form-post-error                  ResponseLoginRequired                     reject
//	oidcc-client-test-discovery-openid-config          none                                      accept
//	oidcc-client-test-discovery-jwks-uri-keys          none                                      accept
//	oidcc-client-test-discovery-issuer-mismatch        DiscoveryForeignIssuer                    reject
//	oidcc-client-test-signing-key-rotation-just-before-signing  KeysRotateBeforeSigning          accept
//	oidcc-client-test-signing-key-rotation             IdentityProvider.RotateKeys               accept
//	oidcc-client-test-refresh-token                    none, scope offline_access                accept
//	oidcc-client-test-refresh-token-invalid-issuer     RefreshedIDTokenWrongIssuer               reject
//	oidcc-client-test-refresh-token-invalid-sub        RefreshedIDTokenWrongSubject              reject
//	oidcc-client-test-rp-init-logout                   none                                      accept
//	oidcc-client-test-rp-init-logout-no-state          LogoutWithoutState                        accept
//	oidcc-client-test-rp-init-logout-other-state       LogoutWrongState                          accept, do not trust it
//
// Response mode form_post is used when the client asks for it. The suite's
// tests of back-channel logout, of dynamic registration and of the implicit
// and hybrid flows have no counterpart here.
//
// # The mailbox
//
// [StartMailbox] gives a test a mail server that takes everything, and finds
// the link in it:
//
//	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
//	// Configure the application to send mail through box.Addr.
//	m, err := box.Wait(ctx, "kim@example.com")
//	// Visit m.Links()[0].
//
// It speaks SMTP with STARTTLS and AUTH PLAIN when asked to, and has a
// [MailFault] for what mail servers do to their clients. An application whose
// mail does not go by SMTP can hand it to [Mailbox.Deliver], and a provider of
// Pintle to [Mailbox.Send].
//
// # Safety
//
// A provider that believes everybody must not be reachable by anybody, so
// Listen refuses addresses other machines can reach. Neither type belongs into
// a program that serves real users. The package does not import testing.
package authtest
