package page

// A coloredMark is the sign of a provider whose rules ask for its own colours. It stands on
// white in light and dark pages alike, which these rules allow.
type coloredMark struct {
	// Box is the attribute viewBox.
	Box   string
	Parts []coloredPart
}

// A coloredPart is a path of one colour.
type coloredPart struct{ Fill, Path string }

// coloredMarks are the marks in colours by the ids of their providers. Where they come from is
// in LICENSES.md. The rules:
//
//   - Google: the four colours on white, never in one colour.
//     https://developers.google.com/identity/branding-guidelines
//   - Microsoft: the four squares.
//     https://learn.microsoft.com/entra/identity-platform/howto-add-branding-in-apps
//   - Facebook: white on Facebook blue, #0866FF.
//     https://about.meta.com/brand/resources/facebook/logo/
//
// Apple asks for black or white, which the mark in one colour is.
// https://developer.apple.com/design/human-interface-guidelines/sign-in-with-apple
var coloredMarks = map[string]*coloredMark{
	"google": {Box: "0 0 48 48", Parts: []coloredPart{
		{"#ea4335", "M24 9.5c3.54 0 6.71 1.22 9.21 3.6l6.85-6.85C35.9 2.38 30.47 0 24 0 14.62 0 6.51 5.38 2.56 13.22l7.98 6.19C12.43 13.72 17.74 9.5 24 9.5z"},
		{"#4285f4", "M46.98 24.55c0-1.57-.15-3.09-.38-4.55H24v9.02h12.94c-.58 2.96-2.26 5.48-4.78 7.18l7.73 6c4.51-4.18 7.09-10.36 7.09-17.65z"},
		{"#fbbc05", "M10.53 28.59c-.48-1.45-.76-2.99-.76-4.59s.27-3.14.76-4.59l-7.98-6.19C.92 16.46 0 20.12 0 24c0 3.88.92 7.54 2.56 10.78l7.97-6.19z"},
		{"#34a853", "M24 48c6.48 0 11.93-2.13 15.89-5.81l-7.73-6c-2.15 1.45-4.92 2.3-8.16 2.3-6.26 0-11.57-4.22-13.47-9.91l-7.98 6.19C6.51 42.62 14.62 48 24 48z"},
	}},
	"facebook":           {Box: "0 0 24 24", Parts: []coloredPart{{"#0866ff", "M9.101 23.691v-7.98H6.627v-3.667h2.474v-1.58c0-4.085 1.848-5.978 5.858-5.978.401 0 .955.042 1.468.103a8.68 8.68 0 0 1 1.141.195v3.325a8.623 8.623 0 0 0-.653-.036 26.805 26.805 0 0 0-.733-.009c-.707 0-1.259.096-1.675.309a1.686 1.686 0 0 0-.679.622c-.258.42-.374.995-.374 1.752v1.297h3.919l-.386 2.103-.287 1.564h-3.246v8.245C19.396 23.238 24 18.179 24 12.044c0-6.627-5.373-12-12-12s-12 5.373-12 12c0 5.628 3.874 10.35 9.101 11.647Z"}}},
	"microsoft-entra-id": microsoftMark,
	"azure-ad":           microsoftMark,
}

var microsoftMark = &coloredMark{Box: "0 0 21 21", Parts: []coloredPart{
	{"#f25022", "M1 1h9v9H1z"}, {"#7fba00", "M11 1h9v9h-9z"}, {"#00a4ef", "M1 11h9v9H1z"}, {"#ffb900", "M11 11h9v9h-9z"},
}}
