package userimport

import (
	"io"
	"iter"
	"time"
)

// ASPNETIdentity reads CSV, or JSON, of the table AspNetUsers of ASP.NET Core Identity, with
// its column names as the header.
//
// A user who is locked out is banned until LockoutEnd, if LockoutEnabled is not 0. Users with
// TwoFactorEnabled must enrol a second factor, unless the export has the column
// AuthenticatorKey: the Value in AspNetUserTokens with the Name "AuthenticatorKey". The guide
// has a query that adds it.
//
// https://learn.microsoft.com/en-us/aspnet/core/security/authentication/customize-identity-model
// https://learn.microsoft.com/en-us/dotnet/api/microsoft.aspnetcore.identity.identityuser-1
func ASPNETIdentity(r io.Reader) iter.Seq2[*User, error] {
	return eachRow(r, func(r *row) *User {
		u := &User{
			Number: r.number, ID: r.text("Id"), Email: r.text("Email"), Password: r.text("PasswordHash"),
			EmailVerified: r.verified("EmailConfirmed", time.Time{}), Unverified: r.unverified("EmailConfirmed"),
		}
		if end := r.time("LockoutEnd"); end.After(time.Now()) && (r.flag("LockoutEnabled") || !r.has("LockoutEnabled")) {
			u.BannedUntil, u.BanReason = end, "locked out in ASP.NET Identity"
		}
		if !r.flag("TwoFactorEnabled") {
			return u
		}
		u.MustEnrol = true
		if key := r.text("AuthenticatorKey"); key != "" {
			secret, err := totpSecret(key)
			r.note("AuthenticatorKey", err)
			u.TOTP = secret
		}
		return u
	}, "Email", "PasswordHash", "EmailConfirmed")
}
