package userimport

import (
	"encoding/json"
	"io"
	"iter"
	"strings"
)

// Django reads the users of django.contrib.auth: the JSON of "manage.py dumpdata auth.user",
// or CSV of the table auth_user with its column names as the header. A user model of the
// application may have another name; objects without a password are not users.
//
// A user who is not active is banned. The roles are "superuser" and "staff" for
// is_superuser and is_staff; groups are in other tables. Django does not verify addresses:
// see [Options].AllVerified, or add a column email_verified to the CSV.
//
// https://docs.djangoproject.com/en/5.2/ref/contrib/auth/#django.contrib.auth.models.User
// https://docs.djangoproject.com/en/5.2/ref/django-admin/#dumpdata
func Django(r io.Reader) iter.Seq2[*User, error] {
	return func(yield func(*User, error) bool) {
		text, err := textReader(r)
		if err != nil {
			yield(nil, err)
			return
		}
		if start, _ := text.Peek(1); len(start) == 0 || start[0] != '[' && start[0] != '{' {
			eachRow(text, djangoUser, "email", "password")(yield)
			return
		}
		eachRecord(text, "", func(rec record) (*User, *LineError) {
			var object struct {
				Model  string                     `json:"model"`
				Key    word                       `json:"pk"`
				Fields map[string]json.RawMessage `json:"fields"`
			}
			if err := rec.decode(&object); err != nil {
				return nil, err
			}
			values := valuesOf(object.Fields)
			if _, found := values("password"); !found {
				return nil, nil
			}
			row := &row{number: rec.number, value: func(column string) (string, bool) {
				if column == "id" {
					return string(object.Key), true
				}
				return values(column)
			}}
			return djangoUser(row), row.problem()
		})(yield)
	}
}

func djangoUser(r *row) *User {
	created := r.time("date_joined")
	banned := !r.flag("is_active") && r.has("is_active")
	u := &User{
		Number: r.number, ID: r.text("id"), Email: r.text("email"), Password: r.text("password"), CreatedAt: created,
		Name:          strings.TrimSpace(r.text("first_name") + " " + r.text("last_name")),
		EmailVerified: r.verified("email_verified", created), Unverified: r.unverified("email_verified"), BannedUntil: forever(banned),
	}
	if banned {
		u.BanReason = "not active in Django"
	}
	for _, role := range []string{"superuser", "staff"} {
		if r.flag("is_" + role) {
			u.Roles = append(u.Roles, role)
		}
	}
	return u
}

// eachRow yields the users that read makes of the rows of a table.
func eachRow(r io.Reader, read func(*row) *User, need ...string) iter.Seq2[*User, error] {
	return func(yield func(*User, error) bool) {
		for row, err := range rows(r, need...) {
			if err != nil {
				yield(nil, err)
				return
			}
			var u *User
			line := row.problem()
			if line == nil {
				u = read(row)
				line = row.problem()
			}
			if line != nil {
				if !yield(nil, line) {
					return
				}
			} else if !yield(u, nil) {
				return
			}
		}
	}
}
