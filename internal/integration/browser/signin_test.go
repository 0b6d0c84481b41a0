package browser_test

import (
	"os"
	"testing"
)

// eachKind runs a test with the sessions in the database and in a cookie.
func eachKind(t *testing.T, test func(t *testing.T, sessions string)) {
	for _, sessions := range []string{"database", "token"} {
		t.Run("sessions in a "+sessions, func(t *testing.T) { test(t, sessions) })
	}
}

func TestAUserSignsInByPasswordAndOutAgain(t *testing.T) {
	eachKind(t, func(t *testing.T, sessions string) {
		q := startQuickstart(t, sessions)
		journey(newBrowserUser(t), q)
	})
}

func TestEverythingWorksWithoutJavaScript(t *testing.T) {
	q := startQuickstart(t, "database")
	journey(newBrowserUser(t).withoutScripts(), q)
}

// journey goes from the protected page through the sign-in page back to it,
// changes the session, and signs out.
func journey(v *browserUser, q *quickstart) {
	v.t.Helper()
	v.open(q.url)
	v.sees("You are not signed in", "mary@example.com")
	v.press("page for members")
	v.isAt("/auth/signin")
	v.fill("Email", "Mary@Example.com") // users write their address in any case
	v.fill("Password", "ammonite and belemnite")
	v.press("Sign in with password")

	v.isAt("/account")
	v.sees("Mary Anning", "mary@example.com", `"name": "Mary Anning"`)

	v.fill("Display name", "Mary of <Lyme> & Regis")
	v.press("Save")
	v.isAt("/account")
	v.sees("Mary of <Lyme> & Regis")
	v.open(q.url)
	v.sees("Hello, Mary of <Lyme> & Regis")

	v.press("Sign out")
	v.isAt("/")
	v.sees("You are not signed in")
	v.open(q.url + "/account")
	v.isAt("/auth/signin")
}

func TestAUserSignsInThroughTheIdentityProvider(t *testing.T) {
	eachKind(t, func(t *testing.T, sessions string) {
		q := startQuickstart(t, sessions)
		v := newBrowserUser(t)
		v.open(q.url + "/account")
		v.press("Sign in with Local identity provider")
		v.sees("Sign in to Pintle quickstart", "Choose who to be")
		v.press("Grace Hopper")
		v.isAt("/account")
		v.sees("Grace Hopper", "grace@example.com")

		v.press("Sign out")
		v.press("Sign in")
		v.press("Sign in with Local identity provider")
		v.press("Do not sign in")
		v.isAt("/auth/signin")
		v.sees("That did not work.")
		if v.session(q.url) != nil {
			t.Error("a user who denied consent is signed in")
		}
	})
}

func TestAWrongPasswordIsSaidAndTheRightOneStillWorks(t *testing.T) {
	eachKind(t, func(t *testing.T, sessions string) {
		q := startQuickstart(t, sessions)
		v := newBrowserUser(t)
		v.open(q.url + "/account")
		for _, wrong := range [][2]string{{"mary@example.com", "the moving finger writes"}, {"unknown@example.com", "ammonite and belemnite"}} {
			v.fill("Email", wrong[0])
			v.fill("Password", wrong[1])
			v.press("Sign in with password")
			v.isAt("/auth/signin")
			v.sees("Sign-in failed. Check what you entered and try again.")
		}
		if v.session(q.url) != nil {
			t.Error("a user with a wrong password is signed in")
		}
		v.fill("Email", "omar@example.com")
		v.fill("Password", "the moving finger writes")
		v.press("Sign in with password")
		v.isAt("/account") // the way back survives the mistakes
		v.sees("Omar Khayyam")
	})
}

func TestSessionsSurviveARestart(t *testing.T) {
	eachKind(t, func(t *testing.T, sessions string) {
		q := startQuickstart(t, sessions)
		secret, err := os.Stat(q.database + ".secret")
		if err != nil {
			t.Fatal(err)
		}
		if got := secret.Mode().Perm(); got != 0o600 {
			t.Errorf("the secret has mode %o, want 600", got)
		}
		v := newBrowserUser(t)
		v.open(q.url + "/account")
		v.fill("Email", "mary@example.com")
		v.fill("Password", "ammonite and belemnite")
		v.press("Sign in with password")
		v.fill("Display name", "Mary A.")
		v.press("Save")

		q.stop()
		q.start(sessions) // on another port, which cookies do not distinguish
		v.open(q.url + "/account")
		v.isAt("/account")
		v.sees("Mary A.", "mary@example.com")
	})
}
