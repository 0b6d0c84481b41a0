package docs_test

import (
	"slices"
	"strings"
	"testing"
)

// modules are those of the plans of the OpenID Foundation for relying parties.
//
// https://openid.net/certification/connect_rp_testing/
// https://openid.net/certification/certification-fapi_rp_testing/
var modules = map[string]string{
	"## OpenID Connect": `(the plain one) -client-secret-basic -idtoken-sig-rs256 -scope-userinfo-claims -kid-absent-single-jwks
		-userinfo-bearer-header -discovery-openid-config -discovery-jwks-uri-keys -signing-key-rotation
		-signing-key-rotation-just-before-signing -refresh-token -nonce-invalid -invalid-iss -missing-sub -invalid-aud -missing-aud
		-missing-iat -invalid-athash -invalid-sig-rs256 -invalid-sig-es256 -invalid-sig-hs256 -userinfo-invalid-sub
		-discovery-issuer-mismatch -refresh-token-invalid-issuer -refresh-token-invalid-sub -form-post-error -idtoken-sig-none
		-kid-absent-multiple-jwks -userinfo-signed -aggregated-claims -distributed-claims -userinfo-bearer-body -rp-init-logout
		-rp-init-logout-no-state -rp-init-logout-other-state -rp-backchannel-rpinitlogout -rp-backchannel-rpinitlogout-alg-none
		-rp-backchannel-rpinitlogout-wrong-alg -rp-backchannel-rpinitlogout-wrong-iss -rp-backchannel-rpinitlogout-wrong-aud
		-rp-backchannel-rpinitlogout-no-event -rp-backchannel-rpinitlogout-wrong-event -rp-backchannel-rpinitlogout-with-nonce
		-3rd-party-init-login -mtls-endpoint-aliases -rp-frontchannel-rpinitlogout -rp-frontchannel-opinitlogout -session-management
		-nonce-unless-code-flow -missing-athash -missing-chash -invalid-chash -dynamic-registration -discovery-webfinger-*
		-request-uri-signed-*`,
	"## FAPI 2.0 Security Profile": `happy-path happy-path-no-dpop-nonce client-refresh-token-test token-type-case-insensitivity
		rs-dpop-auth-scheme-case-insensitivity valid-aud-as-array invalid-aud invalid-missing-aud invalid-secondary-aud invalid-iss
		invalid-missing-iss invalid-expired-exp invalid-missing-exp invalid-nonce invalid-missing-nonce invalid-null-alg
		invalid-alternate-alg ensure-authorization-response-with-invalid-state-fails
		ensure-authorization-response-with-invalid-missing-state-fails invalid-authorization-response-iss
		remove-authorization-response-iss discovery-issuer-mismatch ensure-jarm-signature-is-not-none ensure-jarm-with-invalid-sig-fails
		ensure-jarm-with-invalid-iss-fails ensure-jarm-with-invalid-aud-fails ensure-jarm-with-expired-exp-fails
		ensure-jarm-without-iss-fails ensure-jarm-without-aud-fails ensure-jarm-without-exp-fails invalid-openbanking-intent-id`,
}

// Each module has a row, with a test that exists or with the reason for which there is none.
func TestEachModuleOfTheConformanceSuiteHasARow(t *testing.T) {
	functions := testFunctions(t)
	text := read(t, "docs/openid-conformance.md")
	for section, names := range modules {
		_, table, found := strings.Cut(text, "\n"+section+"\n")
		table, _, _ = strings.Cut(table, "\n## ")
		if !found {
			t.Fatalf("there is no section %q", section)
		}
		var rows []string
		for line := range strings.Lines(table) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			if !strings.HasPrefix(line, "| ") || len(cells) != 3 || strings.HasPrefix(line, "| Module ") || strings.HasPrefix(line, "| ---") {
				continue
			}
			for name := range strings.SplitSeq(cells[0], ", ") {
				rows = append(rows, strings.Trim(name, "` "))
			}
			tests := strings.TrimSpace(cells[2])
			if unsupported := strings.HasPrefix(strings.TrimSpace(cells[1]), "Not supported: "); (tests == "") != unsupported {
				t.Errorf("the row needs a test, or a reason and no test: %s", line)
			}
			for name := range strings.SplitSeq(tests, ", ") {
				if name != "" && functions[strings.Trim(name, "`")] == nil {
					t.Errorf("%s does not exist", name)
				}
			}
		}
		owed := strings.Fields(strings.Replace(names, "(the plain one)", "", 1))
		if section == "## OpenID Connect" {
			owed = append(owed, "(the plain one)")
		}
		times := map[string]int{}
		for _, name := range rows {
			times[name]++
		}
		for _, name := range owed {
			if times[name] != 1 {
				t.Errorf("%s has %d rows in the section %q", name, times[name], section)
			}
		}
		for _, name := range rows {
			if !slices.Contains(owed, name) {
				t.Errorf("%s is no module of the plans", name)
			}
		}
	}
}

// A guide of what surrounds a sign-in with a provider leads to a program that a test runs: an
// Example with its output, or one of examples.
func TestEachGuideOfProvidersLeadsToAProgramThatRuns(t *testing.T) {
	for guide, program := range map[string]string{
		"single-sign-out.md": "example_singlesignout_test.go",
		"tokens.md":          "apiclient/example_test.go",
		"native-apps.md":     "examples/jsonapi",
		"one-tap.md":         "example_idtoken_test.go",
		"enterprise-sso.md":  "examples/customers",
		"fapi.md":            "example_fapi_test.go",
	} {
		if !strings.Contains(read(t, "docs/"+guide), "](../"+program+")") {
			t.Errorf("%s does not lead to %s", guide, program)
		}
		if strings.HasSuffix(program, ".go") {
			if !strings.Contains(read(t, program), "\t// Output:") {
				t.Errorf("%s is not run", program)
			}
		} else if !slices.ContainsFunc(files(t, "_test.go"), func(file string) bool { return strings.HasPrefix(file, program+"/") }) {
			t.Errorf("%s has no test", program)
		}
	}
}
