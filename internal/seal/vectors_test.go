package seal_test

// secret is the one all vectors were made with.
const secret = "0123456789abcdef0123456789abcdef"

const sessionSalt = "authjs.session-token"

// keyVectors are what the secret becomes under each salt of the protocol. The
// 32-byte key is the first half of the 64-byte key.
var keyVectors = []struct {
	salt   string
	key    string // hex
	kid    string
	kidGCM string // unknown where empty
}{
	{
		"authjs.session-token",
		"4efa9fd285d4a49f0b0bf752d5b944a60e8884e86cec3c036b79ccf479c2d12fba514fed042805b8d2ae44787afe8e3d676d6bd9149c166e8f56a61ae6984ee8",
		"jl2BLFi5eD9Tpl7lbou2-rLXUzU7D1Wluzb_OV7sXan9mkCo9LxMXONS_6HuRNkpELELmzLMHiS4-TC2W-E65g",
		"rczBriBxoHxI6PMq077ECfGzXOy3f3_u47nx9EIBfKc",
	},
	{
		"__Secure-authjs.session-token",
		"a58afe99ee500ec27165f83c5f41fe2f40120fbed26e576ae88a31824be1984760043c92def84b1c77851bf5f8f1e2f4b723661863f32ebfac858be6ff074d5e",
		"o30A5vpibj3eldZFnzPpDnF9vyBtQoGHeLFfH-rnzScby22EKM48vqhV1UD3HCKEzCVLDQVHeEM3edUbkruPqQ",
		"9CRPZqXNhBdIRPwRtWdiJeFxCpBWPSMMwW0i148T8ZI",
	},
	{
		"authjs.pkce.code_verifier",
		"723dc3ddb4ce4163a0f2387f8019be32ee8efb5a5f37f90593cff099e10814060297688bee8a743db45c7d5d8fdb08e8c0a519168a37d9dcb382308d3c6791dd",
		"ANBTFN6-BAMa6vj9wmiD-P-UjaVyoTCGIzy-0ABkNNGBcMQBSArtEvRG0fo40xTpRNOl3ERh-4vkWQzUz9tgiw",
		"",
	},
	{
		"encodedState",
		"9ad51fb59db5eb32de66d908de318551450cef8ba4dac6cfc9efcc6cbbfb189b299f70b66bf24de3112c04ea8e18e17bfb74f4d2f9dc5d66d62f07062d038f06",
		"TVmz8ug1viwiQXM83AIQ_hLPPP0VIheY7wdVoO6600Ohll7YqaaRaHVvieFO1PsUJk80rfaeXipGxxDSmFyhNg",
		"",
	},
	{
		"encodedWebauthnChallenge",
		"0d94b78e689fedcced9bfdd1cb5153786a4ef037826928bd88493f21163116e0999f47054a1d3ceaf633e3f021dcc38d37fb29500bf1a2460c279941c5573f16",
		"yHV9HvvjM3BdDMtgJOscJAsM1nVDrQx_mx8wH-Nh_V0o-HxAa-JpkLAY-NTYSiboSATBAjQzGdKYVfwHZTPPPA",
		"",
	},
}

// tokenVectors were sealed by Auth.js.
var tokenVectors = []struct {
	name, salt, token string
	claims            map[string]any // a part of them
}{
	{
		"T1", "authjs.session-token",
		"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIiwia2lkIjoiamwyQkxGaTVlRDlUcGw3bGJvdTItckxYVXpVN0QxV2x1emJfT1Y3c1hhbjlta0NvOUx4TVhPTlNfNkh1Uk5rcEVMRUxtekxNSGlTNC1UQzJXLUU2NWcifQ..WU_TWZz00l-5oYzluWkcCA.IJBsETA9_up3vBp6cAkmJO9olQ-z9A7UK_ONYDhkXtpO41W76R2cRB9tfMQ8cScunwxFEoRvmn7VUmY7nzq35Ro29m7dV72gMqt_U0IeluaeEhuDMAa2JXDnER4y6AACsIHTkoKMN8eo6fncuyzHAeyF44T5q5p75IhLSMqATRSW-5ALdaWcb2zndtN7JF5m1VZCke3Rta48kYkixWLU7g.udqxbVyCJYP65s195TCp77BYHbwD1MenKUmu7NrNHxc",
		map[string]any{
			"name": "Ann", "email": "ann@example.test", "picture": nil, "sub": "42",
			"iat": 1795197406.0, "exp": 4002717406.0, "jti": "6b6b2025-17dd-4e3a-bb54-854cd7ea90c3",
		},
	},
	{
		"T2", "__Secure-authjs.session-token",
		"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIiwia2lkIjoibzMwQTV2cGliajNlbGRaRm56UHBEbkY5dnlCdFFvR0hlTEZmSC1ybnpTY2J5MjJFS000OHZxaFYxVUQzSENLRXpDVkxEUVZIZUVNM2VkVWJrcnVQcVEifQ..P09CqgH0ti4IIeX8fYqC5w.66AoD6a0WR9Yo4PlGKZZD3NPmoOyNr32S_vlfHTY4CTWMLDljyCFGaC8-oNNCfDwa2NSgBeiNsLY-lzq4WoUlmWL_xq2ohjXLFzANQvaYDoD6_szVf6Ii5k9ld7wI1JGPfuR6vg1Te6zTNnE2pCXvA.hLFjqrMhGOHQN7Sdfxnt9bYuae2nPe1BZDLKo72Klvo",
		map[string]any{"name": "Ann", "sub": "42"},
	},
	{
		"T3", "authjs.pkce.code_verifier",
		"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIiwia2lkIjoiQU5CVEZONi1CQU1hNnZqOXdtaUQtUC1VamFWeW9UQ0dJenktMEFCa05OR0JjTVFCU0FydEV2UkcwZm80MHhUcFJOT2wzRVJoLTR2a1dRelV6OXRnaXcifQ..-uF4yE-uARN83T5iXrLcYA.pWvYbwBze8V0d0JQkYdGSZD8jdn-IKHJq5p6CU7UpPFtCqQsYFcHKI0ubWma8ietEWl_CDGmlUAlliDbDmbGTdmBh8PsY6iEptzLJ5l98McqnXYhwk0BxqVgRfmgA00a4z-CpeX6WmjhVcssrPhwZq7kQiMDv4ETCCLT-HLD7KG7HG6vUeMt8Mgdimo8hACUPcdg7wLg1-9HoRwq8Y9Nrg.MY6hz3RzplEDIwFK2BRkHm4EjiI4wXg0aA665TGn0E8",
		map[string]any{"value": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "provider": "github"},
	},
	{
		"T4", "encodedState",
		"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIiwia2lkIjoiVFZtejh1ZzF2aXdpUVhNODNBSVFfaExQUFAwVkloZVk3d2RWb082NjAwT2hsbDdZcWFhUmFIVnZpZUZPMVBzVUprODByZmFlWGlwR3h4RFNtRnloTmcifQ..FNySavBIKA2OuJ4il_4EBg.9qNCOqcV3NDO2u5zvgQQBGwKX0C1ijENca0NaoVj1zlcUfeMWfICWaJSwXMz-CpzssFYtE0MgPHg16YPtdymDWsNM0qciXizvRxXJA-7E5YGfW_AX2IuTnjkuqT6IiKJPffWeSooCPmorQ5aD8vozL3Nsk5X2EBkTDZBTE6ccX524N9nZ6Kmr_QcpyaCsrG7J8JTQ-IBOIgJ0CmWyE4rmw.tv-HGGFhB663mXYyKL78TyIKqKBJXTpeD0I1mvdRB6I",
		map[string]any{"origin": "https://preview.example.test/auth/callback/github", "random": "r4nd0m"},
	},
	{
		"T5 without kid", "authjs.session-token",
		"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..YjNXC0yTfICqJpJu.Lg9qra0cXj-D79kup7qqFxmJrnu3QXgAjQ.xfy4alzJ_bF_Ok-9mNsW3Q",
		map[string]any{"sub": "42", "name": "Ann"},
	},
	{
		"T5 with kid", "authjs.session-token",
		"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoicmN6QnJpQnhvSHhJNlBNcTA3N0VDZkd6WE95M2YzX3U0N254OUVJQmZLYyJ9..AIHk8Pl0lCg4kq5d.OTa8YNHU29qcwCumbYig9ffhPLUMQBiZsw.ZTWF_KfrdRfb4a8xmgEvJg",
		map[string]any{"sub": "42", "name": "Ann"},
	},
}
