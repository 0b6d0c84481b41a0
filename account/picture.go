package account

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/page"
)

// Limits of a picture. The sides bound what the application allocates if it decodes one:
// 4096 by 4096 pixels of 4 bytes are 64 MiB, and an image of a few bytes can claim more.
const (
	maxPicture     = 1 << 20 // bytes
	maxPictureSide = 4096    // pixels
	maxPictureURL  = 2048    // bytes

	maxBesidePicture = 16 << 10 // bytes: the other fields of the form, and what separates them
)

// Pictures are the rules for pictures of users.
type Pictures struct {
	// Store stores a picture that a user uploads, and returns where browsers load it: an
	// https URL, or a path of this site that begins with one slash, in ASCII and of at most
	// 2048 bytes. If Store is nil, users cannot upload pictures.
	//
	// u.Image is the picture before. Its file may be removed once [pintle.Events].UpdateUser
	// reports another one. Store may refuse a picture with an error that matches
	// [pintle.CodeAccessDenied]. With other errors the user keeps the picture before. Store is
	// called concurrently, and ctx ends with the request.
	Store func(ctx context.Context, u *pintle.User, p *Picture) (url string, err error)
}

// A Picture is an image that a user has uploaded. Only its header was decoded: what follows
// may be damaged, or be something else. Whoever serves Data sends Type as its Content-Type, with
// "X-Content-Type-Options: nosniff", so that no browser reads it as a page.
type Picture struct {
	// Data has at most 1 MiB, as it was uploaded. Photographs may say where they were taken.
	Data []byte

	// Type is that of Data, whatever the browser said: "image/png", "image/jpeg",
	// "image/gif" or "image/webp".
	Type string

	// Width and Height are in pixels, from 1 to 4096.
	Width, Height int
}

// pictureTypes are the types of pictures in the field of a form. SVG is not among them: it
// can have scripts.
const pictureTypes = "image/png,image/jpeg,image/gif,image/webp"

// pictureFormats are the formats of pictures. A file of a format begins with the signature.
var pictureFormats = []struct {
	kind, signature string
	size            func(data []byte) (image.Config, error)
}{
	{"image/png", "\x89PNG\r\n\x1a\n", func(b []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) }},
	{"image/jpeg", "\xff\xd8\xff", func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) }},
	{"image/gif", "GIF8", func(b []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(b)) }},
	{"image/webp", "RIFF", webpSize},
}

// readPicture returns the picture of a file, and nil for a file that is none.
func readPicture(data []byte) *Picture {
	for _, format := range pictureFormats {
		if !bytes.HasPrefix(data, []byte(format.signature)) {
			continue
		}
		c, err := format.size(data)
		if err != nil || min(c.Width, c.Height) < 1 || max(c.Width, c.Height) > maxPictureSide {
			return nil
		}
		return &Picture{Data: data, Type: format.kind, Width: c.Width, Height: c.Height}
	}
	return nil
}

// checkPictureURL returns what is wrong with what Pictures.Store has returned. Pages of the
// application may put it into a link, where "javascript:" would run a script. A data URL would
// make the token of a session too large for its cookie.
func checkPictureURL(link string) error {
	if len(link) <= maxPictureURL && page.IsPicture(link) && !strings.HasPrefix(link, "data:") {
		return nil
	}
	return fmt.Errorf("account: Options.Pictures.Store returned %s: return an https URL, or a path that begins with one slash, "+
		"in ASCII and of at most %d bytes", clip.Quote(link), maxPictureURL)
}

// uploadForm is the form of a picture.
func (v *visit) uploadForm() page.Form {
	f := v.formTo("picture", "profile-upload", page.Input{
		Name: "picture", Label: v.word("picture"), Hint: v.word("picture_hint"), Type: "file", Accept: pictureTypes, Required: true,
	})
	f.Heading.Before = v.pageText("profile-upload").Heading
	return f
}

// changePicture stores a picture that was uploaded. The URL of a picture is never taken from a
// form: every browser that shows the user would load it, from wherever a thief likes.
func (v *visit) changePicture() (next string, err error) {
	u, err := v.user()
	if err != nil {
		return "", err
	}
	data := v.form["picture"]
	if len(data) > maxPicture {
		p := inField("picture", "too_large")
		p.again = true
		return "", p
	}
	picture := readPicture([]byte(data))
	if picture == nil {
		return "", inField("picture", "invalid")
	}
	if err := v.notBanned(u.ID); err != nil {
		return "", err
	}
	link, err := v.o.Pictures.Store(v.ctx, u, picture)
	if errors.Is(err, pintle.CodeAccessDenied) {
		return "", refusal(err)
	}
	if err == nil {
		err = checkPictureURL(link)
	}
	if err != nil {
		return "", unavailable(err)
	}
	return v.updateProfile(u, pintle.UserUpdate{Image: &link})
}
