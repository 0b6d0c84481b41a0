// Package authtest has an identity provider and a mailbox that run inside a test,
// or inside a quickstart that needs no account with a service, and one-line
// sign-in for the tests of an application.
//
// # A signed-in user
//
// A test that needs a signed-in user needs one line, with any providers and any
// store of sessions:
//
//	r := httptest.NewRequest("GET", "http://localhost/account", nil)
//	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
//
// [SignIn] is for tests that call a handler, [HTTPClient] for tests that start a
// server, [Cookies] for tests that drive a browser and [StorageState] for those
// of Playwright. [SignInWith] performs a whole sign-in, through the provider or the
// mailbox below. docs/testing.md is a guide with whole tests.
//
// # The provider
//
// [Start] starts a provider of OAuth 2.0, OpenID Connect and OAuth 1.0a on a
// loopback address, at which every person can sign in:
//
//	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
//	idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim", Email: "kim@example.com"})
//	cfg.Providers = []pintle.Provider{idp.OIDC("acme")} // or idp.OAuth2, idp.OAuth1
//
// Any other application is configured with its Issuer, any client id and secret,
// and a redirect URI on this machine.
//
// Outside a test, use [NewIdentityProvider] and [IdentityProvider.Listen].
// Without AutoConsent the browser shows a page to pick a person.
//
// It enforces all rules of the standards for clients: exact redirect URIs, PKCE
// with S256, codes that work once, within a minute and for one client, refresh
// tokens that rotate, client authentication in all its forms, OAuth 1.0a
// signatures. [IdentityProvider.Requests] returns the requests of the client.
//
// # Misbehaviour
//
// Most attacks on an application use input that an honest provider does not send,
// so the provider can misbehave. [IdentityProvider.Break] takes a [Fault], or an
// [Outage] of one endpoint:
//
//	idp.Break(authtest.IDTokenWrongAudience)
//	idp.Break(authtest.At(authtest.TokenEndpoint, authtest.Hangs))
//	defer idp.Repair()
//
// For misbehaviour that no fault describes there is [Tamper].
//
// # The tests of the OpenID Foundation
//
// The conformance suite for relying parties acts as a provider too. These
// faults put an application in the situation of its tests; "reject" means that
// the sign-in must not make a session.
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
// Response mode form_post is used if the client requests it. The suite's tests of
// back-channel logout, of dynamic registration and of the implicit and hybrid
// flows have no counterpart here.
//
// # The mailbox
//
// [StartMailbox] starts a mail server that accepts every mail, and finds the links
// in them:
//
//	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
//	// Configure the application to send mail through box.Addr.
//	m, err := box.Wait(ctx, "kim@example.com")
//	// Visit m.Links()[0].
//
// It supports SMTP, with STARTTLS and AUTH PLAIN if the options request them, and
// has a [MailFault] for each common fault of mail servers. An application whose
// mail does not go by SMTP can pass it to [Mailbox.Deliver], and a provider of
// Pintle to [Mailbox.Send].
//
// # Safety
//
// The provider does not verify its users and must not be reachable by other
// machines, so Listen rejects addresses that they can reach. Neither type belongs
// into a program that serves real users. The package does not import testing.
package authtest
