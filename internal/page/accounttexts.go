package page

import "github.com/pintleauth/pintle/pages"

// englishAccount returns the texts of the pages of accounts that are used unless the
// host sets others.
func englishAccount() pages.AccountTexts {
	return pages.AccountTexts{
		Pages: map[string]pages.PageText{
			"sign-up": {
				Heading: "Create an account", Text: []string{"We send you a mail to confirm your address."},
				Button: "Continue",
			},
			"sign-up-sent": {
				Heading: "Check your email", Text: []string{"We sent a mail to %s.", "Type the code in it, or open the link."},
				Button: "Continue", Hint: "Nothing there after a few minutes? Look in your spam folder.",
			},
			"sign-up-finish": {
				Heading: "Choose a password", Text: []string{"This is for your new account with the address %s."},
				Button: "Create the account", Hint: "If you did not ask for this, close the page and nothing happens.",
			},
			"sign-up-known": {
				Heading: "You have an account", Text: []string{"There is an account with your address %s. Sign in to it."},
			},
			"sign-up-taken": {
				Heading: "Is this account yours?", Text: []string{
					"An account has the address %s and has not confirmed it.",
					"If it is yours, sign in to it and confirm the address.",
				},
				Button: "Sign in to it",
			},
			"sign-up-new": {
				Heading: "It is not yours", Text: []string{"You get a new account with the address. The other account loses it."},
				Button: "Go on without it",
			},
			"forgot": {
				Heading: "Forgot your password?", Text: []string{"Type your address. We send you a link to choose a new password."},
				Button: "Send the mail",
			},
			"forgot-sent": {
				Heading: "Check your email", Text: []string{"If there is an account with this address, the mail has a link to choose a new password."},
				Hint: "Nothing there after a few minutes? Look in your spam folder.",
			},
			"reset": {
				Heading: "Choose a new password", Text: []string{"This is for the account with the address %s."},
				Button: "Save the password", Hint: "Afterwards you are signed out everywhere, and sign in with the new password.",
			},
			"password": {
				Heading: "Change your password", Text: []string{"All your other devices will be signed out."},
				Button: "Change the password",
			},
			"password-first": {
				Heading: "Set a password", Text: []string{"You can then sign in with your address and the password, too."},
				Button: "Set the password",
			},
			"password-remove": {
				Heading: "Remove the password", Text: []string{"You then sign in in another way."},
				Button: "Remove the password",
			},
			"must-change": {
				Heading: "Choose a new password", Text: []string{"Your password has to be replaced before you can go on."},
				Button: "Save and continue",
			},
			"address-lost": {
				Heading: "Your account has no address",
				Text: []string{
					"You had not confirmed the address of this account, and another person has shown that they read mail at it. It belongs to their account now.",
					"You sign in as before. To receive mail about your account, write to the operator of the site.",
				},
				Button: "Continue",
			},
			"prove": {
				Heading: "Check your email", Text: []string{"We sent a code to %s. Type it to confirm your address."},
				Button: "Continue",
			},
			"prove-begin": {
				Heading: "Confirm your address", Text: []string{"We send a code to %s."},
				Button: "Send the code",
			},
			"second-factor": {
				Heading: "One more step", Text: []string{"Type the code that your authenticator app shows."},
				Button: "Sign in",
			},
			"second-factor-recovery": {
				Heading: "One more step", Text: []string{"Type one of the recovery codes that you saved. Each works once."},
				Button: "Sign in",
			},
			"totp": {
				Heading: "Add an authenticator app", Text: []string{
					"Scan the image with the app, or type the key into it.",
					"Then type the code that the app shows.",
				},
				Button: "Add the app",
			},
			"recovery-codes": {
				Heading: "Save your recovery codes", Text: []string{
					"If you lose your device, each of these codes lets you in once.",
					"They are shown only now. Print them, or save them where only you can read them.",
				},
				Button: "Continue",
			},
			"recovery-codes-new": {
				Heading: "Recovery codes", Text: []string{"You have %s codes left."},
				Button: "Make new codes", Hint: "New codes end the old ones.",
			},
			"enrol": {
				Heading: "Add a second factor", Text: []string{"This account needs a second factor before you can go on."},
				Button: "Continue",
			},
			"enrol-code": {
				Heading: "Check your email", Text: []string{"Before you add a second factor, type the code that we sent to %s."},
				Button: "Continue",
			},
			"factors": {
				Heading: "Second factor", Text: []string{"A code of an app on your phone protects your account if your password is stolen."},
				Button: "Add an authenticator app",
			},
			"confirm": {
				Heading: "Confirm that it is you", Text: []string{"For your security, confirm that it is you before you go on."},
				Button: "Continue",
			},
			"nothing-done": {
				Heading: "Nothing was done", Text: []string{"Confirm that it is you, and then try again."},
				Button: "Continue",
			},
			"account": {Heading: "Your account", Text: []string{"You are signed in as %s."}, Button: "Sign out"},
			"expired": {
				Heading: "This link no longer works", Text: []string{"It has been used already, or it has expired."},
			},
			"problem": {Heading: "That did not work"},
		},
		Words: map[string]string{
			"email":             "Email",
			"password":          "Password",
			"new_password":      "New password",
			"current_password":  "Current password",
			"password_hint":     "At least %s characters. A few words make a good password.",
			"code":              "Code",
			"code_hint":         "The code has 8 digits and is good for 10 minutes.",
			"totp_code":         "Code of the app",
			"totp_code_hint":    "The code has 6 digits.",
			"recovery_code":     "Recovery code",
			"totp_name":         "Name of the device",
			"totp_key":          "Key: %s",
			"totp_image":        "Image with the key for your authenticator app",
			"open_app":          "Open the app on this device",
			"saved":             "I have saved the codes",
			"save_as_text":      "Save as a text file",
			"print":             "Print the codes",
			"new_codes":         "Make new recovery codes",
			"again":             "Send the mail again",
			"sign_in":           "Sign in",
			"sign_up":           "Create an account",
			"forgot":            "Forgot your password?",
			"prove":             "Confirm your address",
			"signs_in_with":     "It signs in with: %s.",
			"reset_code_hint":   "The code of your authenticator app, or a recovery code.",
			"begin_again":       "Begin again",
			"cancel":            "Sign in as another user",
			"use_recovery_code": "Use a recovery code",
			"use_totp":          "Use your authenticator app",
			"use_passkey":       "Use a passkey",
			"create_passkey":    "Create a passkey instead",
			"use_password":      "Use your password",
			"use_mail":          "Use a code by mail",
			"use_provider":      "Use %s",
			"continue_with":     "Continue with %s",
			"lost_factor":       "If you have lost your device and your codes, ask the operator of the site.",
			"remove":            "Remove",
			"rename":            "Save the name",
			"added":             "added %s",
			"passwords":         "Password",
			"second_factor":     "Second factor",
			"back":              "Back to your account",

			"address_confirmed":   "Your address is confirmed.",
			"address_unconfirmed": "Your address is not confirmed yet.",
			"password_since":      "You have a password since %s.",
			"password_there":      "You have a password.",
			"password_none":       "You have no password.",
			"factor_since":        "You have an authenticator app since %s.",
			"factor_none":         "You have no second factor.",
			"add_totp":            "Add an authenticator app",
			"confirmed":           "You have confirmed that it is you.",
			"needs_second_factor": "This needs a second factor, and you have none yet. Add one first.",
			"sign_in_again":       "Sign in again to confirm that it is you.",
			"send_code":           "Send me a code by mail",

			"mail_time":         "Time: %s",
			"mail_device":       "Device: %s",
			"notices_held_back": "This is the last notice today. Further ones are held back until tomorrow: look at your account.",
		},
		Problems: map[string]string{
			"":                       "That did not work. Try again.",
			"invalid":                "Check what you entered.",
			"invalid_email":          "That is not an email address. Check it and try again.",
			"invalid_name":           "That name cannot be used.",
			"password_too_short":     "The password needs at least %s characters.",
			"password_too_long":      "The password is too long.",
			"password_guessable":     "That password is one of the first that attackers try. Choose another one.",
			"password_breached":      "That password is in a list of stolen passwords. Choose another one.",
			"password_same":          "That is the password that you have. Choose another one.",
			"wrong_password":         "That is not your password.",
			"code_wrong":             "That code is not right.",
			"passkey_failed":         "The passkey was not accepted. Try again, or use another way.",
			"provider_failed":        "The other site did not confirm that it is you. Try again, or use another way.",
			"csrf":                   "Your browser did not send what belongs to this form. Allow cookies for this site and try again.",
			"signed_out":             "You are signed out. Sign in and try again.",
			"second_factor_required": "Your second factor is needed for this.",
			"flow_missing":           "This was begun in another browser, or a newer one was begun in this one. Begin again.",
			"link_expired":           "This link has been used already, or it has expired.",
			"not_found":              "There is nothing here any more.",
			"address_unproved":       "Confirm your email address first.",
			"required_by_policy":     "This account needs a second factor, and this is the last one.",
			"last_sign_in":           "You could not sign in any more without it.",
			"has_password":           "This account has a password. Change it instead.",
			"refused":                "This is not possible here.",
			"account_exists":         "There is an account with this address by now. Sign in to it.",
			"changed_meanwhile":      "This was changed in the meantime. Look at it again.",
			"too_many_attempts":      "Too many attempts. Wait a few minutes and try again.",
			"too_large":              "That is too much. Send less.",
			"unavailable":            "This cannot be done right now. Try again in a moment.",
			"cannot_be_checked":      "The code cannot be checked now. Use another way, or ask the operator of the site.",
			"suspended":              "Codes are no longer accepted for this account after too many wrong ones. Use a recovery code or a passkey.",
		},
		Notices: map[string]string{
			"password_reset":   "Your new password is saved. Sign in with it.",
			"password_changed": "Your password is changed. All your other devices are signed out.",
			"password_set":     "Your password is set.",
			"password_removed": "Your password is removed.",
			"address_proved":   "Your address is confirmed. All your other devices are signed out.",
			"sign_in_again":    "Sign in once more.",
			"mail_sent":        "We sent the mail again.",
			"factor_added":     "The app is added. You need its code when you sign in.",
			"factor_removed":   "The app is removed.",
			"codes_made":       "Your new recovery codes are saved. The old ones no longer work.",
			"few_codes":        "You have few recovery codes left. Make new ones.",
		},
		Mails: map[string]pages.MailText{
			"sign-up": {
				Subject: "Your code for %s", Heading: "Confirm your address",
				Text:   []string{"Type this code where you began, or press the button."},
				Button: "Create the account", Ignore: "If you did not ask for this mail, you can ignore it.",
			},
			"sign-up-known": {
				Subject: "You have an account at %s", Heading: "You have an account",
				Text: []string{
					"Your address was entered to create an account. You have one already.",
					"Sign in to it. If you have forgotten your password, the sign-in page helps you.",
				},
				Button: "Sign in", Ignore: "If it was not you, you can ignore this mail. Nothing has changed.",
			},
			"reset": {
				Subject: "A new password for %s", Heading: "Choose a new password",
				Text:   []string{"Press the button to choose a new password. It works once, for one hour."},
				Button: "Choose a new password", Ignore: "If you did not ask for this mail, you can ignore it. Your password stays as it is.",
			},
			"reset-unknown": {
				Subject: "No account at %s", Heading: "There is no account with this address",
				Text:   []string{"Your address was entered to choose a new password, but no account has confirmed it. You may have used another address."},
				Button: "Create an account", Ignore: "If it was not you, you can ignore this mail.",
			},
			"code": {
				Subject: "Your code for %s", Heading: "Your code",
				Text:   []string{"Type this code where you were asked for it. It is good for 10 minutes."},
				Ignore: "If you did not ask for it, your password may be known. Change it.",
			},
			"password-changed": {
				Subject: "Your password for %s was changed", Heading: "Your password was changed",
				Text:   []string{"Other devices were signed out."},
				Button: "Forgot your password?", Ignore: "If it was not you, choose a new password now.",
			},
			"password-set": {
				Subject: "A password was set at %s", Heading: "A password was set",
				Text:   []string{"Your account has a password now."},
				Button: "Forgot your password?", Ignore: "If it was not you, choose a new password now.",
			},
			"password-removed": {
				Subject: "Your password for %s was removed", Heading: "Your password was removed",
				Text:   []string{"You sign in in another way now."},
				Button: "Look at your account", Ignore: "If it was not you, sign in and set a new password.",
			},
			"password-reset": {
				Subject: "Your password for %s was changed", Heading: "You have a new password",
				Text:   []string{"It was chosen with a link in a mail to this address. All devices were signed out."},
				Button: "Forgot your password?", Ignore: "If it was not you, choose a new password now.",
			},
			"password-temporary": {
				Subject: "Your password for %s was replaced", Heading: "You have a temporary password",
				Text: []string{"The operator of the site set it, and tells it to you. It works once, within a day, and then you choose your own. " +
					"All devices were signed out."},
				Button: "Sign in", Ignore: "If you did not ask for it, write to the operator.",
			},
			"factor-added": {
				Subject: "A second factor was added at %s", Heading: "A second factor was added",
				Text:   []string{"It is needed when you sign in."},
				Button: "Look at your account", Ignore: "If it was not you, choose a new password now.",
			},
			"factor-removed": {
				Subject: "A second factor was removed at %s", Heading: "A second factor was removed",
				Text:   []string{"It is no longer asked for."},
				Button: "Look at your account", Ignore: "If it was not you, choose a new password now.",
			},
			"address-proved": {
				Subject: "Your address is confirmed at %s", Heading: "Your address is confirmed",
				Text:   []string{"What was added to the account before is removed: %s. All other devices were signed out."},
				Button: "Look at your account", Ignore: "If you need one of these, add it again.",
			},
			"recovery-used": {
				Subject: "A recovery code was used at %s", Heading: "A recovery code was used",
				Text:   []string{"You have %s codes left."},
				Button: "Look at your account", Ignore: "If it was not you, choose a new password now.",
			},
			"recovery-made": {
				Subject: "New recovery codes at %s", Heading: "You have new recovery codes",
				Text:   []string{"The old ones no longer work."},
				Button: "Look at your account", Ignore: "If it was not you, choose a new password now.",
			},
			"second-factor-wrong": {
				Subject: "A sign-in to %s did not succeed", Heading: "Your password was right, and the code was not",
				Text:   []string{"A sign-in with your password was given up after several wrong codes."},
				Button: "Forgot your password?", Ignore: "If it was not you, your password is known. Choose a new one now.",
			},
			"account-linked": {
				Subject: "An account was linked at %s", Heading: "An account was linked",
				Text:   []string{"It is possible to sign in with %s now."},
				Button: "Look at your account", Ignore: "If it was not you, choose a new password now, and write to the operator of the site.",
			},
			"passkey-added": {
				Subject: "A passkey was added at %s", Heading: "A passkey was added",
				Text:   []string{"It is possible to sign in with it now."},
				Button: "Look at your account", Ignore: "If it was not you, choose a new password now, and write to the operator of the site.",
			},
			"new-device": {
				Subject: "A new sign-in to %s", Heading: "A new browser signed in",
				Text:   []string{"Your account was used in a browser in which you had not signed in before, or whose cookies were deleted."},
				Button: "Choose a new password", Ignore: "If it was you, there is nothing to do. If it was not, choose a new password now: that ends all sessions.",
			},
			"new-devices": {
				Subject: "More new sign-ins to %s", Heading: "More new browsers signed in",
				Text:   []string{"More than %s new browsers signed in to your account today. No further mail says so until tomorrow."},
				Button: "Choose a new password", Ignore: "If it was you, there is nothing to do. If it was not, choose a new password now: that ends all sessions.",
			},
			"codes-suspended": {
				Subject: "Codes for %s are no longer accepted", Heading: "Codes are no longer accepted for your account",
				Text: []string{"Too many wrong codes were entered in a row. Those of your authenticator app and of mails are not accepted now. " +
					"A recovery code or a passkey ends that, and so does the operator of the site."},
				Button: "Forgot your password?", Ignore: "If it was not you, your password is known, or a device of yours is in other hands. Choose a new password now.",
			},
			"factors-reset": {
				Subject: "Your second factor at %s was removed", Heading: "Your second factor was removed",
				Text:   []string{"The operator of the site removed it. All devices were signed out. You add a new one when you sign in."},
				Button: "Sign in", Ignore: "If you did not ask for it, write to the operator.",
			},
		},
	}
}
