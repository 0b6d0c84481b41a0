package account_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// drawn is an image of a size in one of the formats that the standard library writes.
func drawn(t *testing.T, kind string, width, height int) []byte {
	t.Helper()
	var file bytes.Buffer
	var err error
	switch m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black}); kind {
	case "image/png":
		err = png.Encode(&file, m)
	case "image/jpeg":
		err = jpeg.Encode(&file, m, nil)
	case "image/gif":
		err = gif.Encode(&file, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// Images of one pixel in WebP, as programs write them.
//
// https://developers.google.com/speed/webp/faq#how_can_i_detect_browser_support_for_webp
var webp = map[string]string{
	"lossy":     "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
	"lossless":  "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
	"alpha":     "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==",
	"animation": "UklGRlIAAABXRUJQVlA4WAoAAAASAAAAAAAAAAAAQU5JTQYAAAD/////AABBTk1GJgAAAAAAAAAAAAAAAAAAAGQAAABWUDhMDQAAAC8AAAAQBxAREYiI/gcA",
}

func webpFile(t *testing.T, name string) []byte {
	t.Helper()
	file, err := base64.StdEncoding.DecodeString(webp[name])
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A pictureStore is where an application stores pictures.
type pictureStore struct {
	stored []*account.Picture
	before []string // the pictures of the users until then
	link   string
	err    error

	requests int // that the application has sent
}

func (p *pictureStore) RoundTrip(*http.Request) (*http.Response, error) {
	p.requests++
	return nil, errors.New("no request is expected")
}

func (p *pictureStore) configure(c *pintle.Config, o *account.Options) {
	c.HTTPClient = &http.Client{Transport: p}
	o.Pictures.Store = func(_ context.Context, u *pintle.User, picture *account.Picture) (string, error) {
		p.stored, p.before = append(p.stored, picture), append(p.before, u.Image)
		return p.link, p.err
	}
}

// uploads sends the form of the picture, as a page without scripts does. Headers are pairs.
func (b *browser) uploads(path string, file []byte, headers ...string) *browser {
	b.t.Helper()
	return b.uploadsWith(path, b.token(), file, headers...)
}

func (b *browser) uploadsWith(path, token string, file []byte, headers ...string) *browser {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("csrfToken", token)
	part, _ := form.CreateFormFile("picture", `../me.png`)
	_, _ = part.Write(file)
	_ = form.Close()
	r := b.request(http.MethodPost, path, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Accept", "text/html")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return b.send(r)
}

const picturePath = "/auth/account/picture"

// AC-88, AC-89
func TestAUserUploadsAPicture(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		p := &pictureStore{}
		s := newSite(t, tokens, p.configure)
		s.own("/own/picture", "picture")
		u := s.seed(ada, goodPassword, true)
		other := s.browser().signIn(ada, goodPassword)
		b := s.browser().startSession(u, time.Hour, "pwd") // no freshness is needed
		b.get("/auth/account/profile").says(`action="/auth/account/picture" method="post" enctype="multipart/form-data"`).
			says(`type="file" accept="image/png,image/jpeg,image/gif,image/webp"`)
		for i, tt := range []struct {
			kind, link    string
			file          []byte
			width, height int
		}{
			{"image/png", "https://pictures.example/1", drawn(t, "image/png", 2, 3), 2, 3},
			{"image/jpeg", "/pictures/2?v=1", drawn(t, "image/jpeg", 4096, 1), 4096, 1},
			{"image/gif", "https://pictures.example/3", drawn(t, "image/gif", 5, 7), 5, 7},
			{"image/webp", "https://pictures.example/4", webpFile(t, "lossy"), 1, 1},
			{"image/webp", "https://pictures.example/5", webpFile(t, "lossless"), 1, 1},
			{"image/webp", "https://pictures.example/6", webpFile(t, "alpha"), 1, 1},
			{"image/webp", "https://pictures.example/7", webpFile(t, "animation"), 1, 1},
		} {
			_, before := b.sessionUser()
			p.link = tt.link
			switch i % 2 {
			case 0:
				b.get("/auth/account/profile").uploads(picturePath, tt.file).
					want(http.StatusOK).isAt("/auth/account/profile").says("Your changes are saved.")
			case 1:
				b.uploads(picturePath, tt.file, "Accept", "application/json").want(http.StatusOK).says(`"next":"`)
			}
			got := p.stored[len(p.stored)-1]
			if len(p.stored) != i+1 || got.Type != tt.kind || got.Width != tt.width || got.Height != tt.height || !bytes.Equal(got.Data, tt.file) {
				t.Errorf("picture %d: %d were stored, the last is %s of %d by %d pixels", i, len(p.stored), got.Type, got.Width, got.Height)
			}
			if p.before[i] != before {
				t.Errorf("the picture before is %q, want %q", p.before[i], before)
			}
			if _, shown := b.sessionUser(); shown != tt.link || s.user(ada).Image != tt.link {
				t.Errorf("the session shows the picture %q, the user has %q, want %q", shown, s.user(ada).Image, tt.link)
			}
		}
		b.get("/auth/account/profile").says(`src="https://pictures.example/7"`).says("Remove the picture")
		if got := b.header.Get("Content-Security-Policy"); !strings.Contains(got, "img-src 'self' https://pictures.example;") {
			t.Errorf("the policy is %s", got)
		}
		if got := s.recorded(u); strings.Count(got, "profile_changed") == 0 {
			t.Errorf("the activity is %s", got)
		}
		b.isSignedInAs(ada)
		other.isSignedInAs(ada)
		b.get("/auth/account/profile").post("/auth/account/profile", "image", "remove").says("Your changes are saved")
		if s.user(ada).Image != "" || p.requests != 0 {
			t.Errorf("the user has the picture %q, and %d requests were sent", s.user(ada).Image, p.requests)
		}
	})
}

// AC-168: the function for pages of the application keeps the rules of the form.
func TestServerCodeUploadsAPicture(t *testing.T) {
	p := &pictureStore{link: "https://pictures.example/1"}
	s := newSite(t, false, p.configure)
	u := s.seed(ada, goodPassword, true)
	b := s.browser().startSession(u, time.Hour, "pwd")
	do := func(file string) error {
		t.Helper()
		_, err := s.accounts.Do(httptest.NewRecorder(), b.withCookies(), "picture", map[string]string{"picture": file})
		return err
	}
	if err := do(string(drawn(t, "image/png", 1, 1))); err != nil || s.user(ada).Image != p.link {
		t.Errorf("the user has the picture %q: %v", s.user(ada).Image, err)
	}
	if err := do("<svg/>"); !errors.Is(err, account.Code("invalid")) {
		t.Errorf("no picture: %v", err)
	}
	if err := do("\x89PNG\r\n\x1a\n" + strings.Repeat("x", 1<<20)); !errors.Is(err, account.Code("too_large")) {
		t.Errorf("a large file: %v", err)
	}
	if len(p.stored) != 1 {
		t.Errorf("%d pictures were stored", len(p.stored))
	}
}

// withCookies is a request with the cookies of the browser.
func (b *browser) withCookies() *http.Request {
	b.t.Helper()
	r := b.request(http.MethodPost, "/", http.NoBody)
	for _, c := range b.client.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	return r
}

// AC-88, AT-48: what runs in a browser, or takes much memory when it is decoded.
func TestFilesThatAreNoPictureAreRefused(t *testing.T) {
	p := &pictureStore{link: "https://pictures.example/1"}
	s := newSite(t, false, p.configure)
	u := s.seed(ada, goodPassword, true)
	before := s.fingerprint(u)
	b := s.browser().signIn(ada, goodPassword)
	pixel := drawn(t, "image/png", 1, 1)
	// The header of a PNG has the sides at 16 and 20, and its checksum would have to be right.
	const wide = 4097
	canvas := webpFile(t, "alpha")
	inCanvas := slices.Clone(canvas)
	binary.LittleEndian.PutUint16(canvas[24:], wide)                                         // of the canvas
	binary.LittleEndian.PutUint16(inCanvas[bytes.Index(inCanvas, []byte("VP8 "))+14:], wide) // of the image in it
	inAnimation := webpFile(t, "animation")
	inAnimation[bytes.Index(inAnimation, []byte("ANMF"))+8+7] = 0x10 // 4097 pixels
	lossless := webpFile(t, "lossless")
	binary.LittleEndian.PutUint32(lossless[21:], wide-1)
	for name, file := range map[string]string{
		"nothing":                        "",
		"text":                           "hello",
		"SVG":                            `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
		"SVG after a declaration":        `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
		"a page":                         "<!doctype html><script>alert(1)</script>",
		"a page after the name of a GIF": "GIF89a<script>alert(1)</script>"[:20],
		"the address of a picture":       s.server.URL + "/picture",
		"an address of the cloud":        "http://169.254.169.254/latest/meta-data",
		"a BMP":                          "BM" + strings.Repeat("\x00", 60),
		"a TIFF":                         "II*\x00" + strings.Repeat("\x00", 60),
		"an AVIF":                        "\x00\x00\x00\x20ftypavif" + strings.Repeat("\x00", 60),
		"a PDF":                          "%PDF-1.7",
		"a WAV":                          "RIFF\x24\x00\x00\x00WAVEfmt " + strings.Repeat("\x00", 40),
		"a PNG without its header":       string(pixel[:8]),
		"a PNG that is cut off":          string(pixel[:24]),
		"a PNG with a wrong checksum":    string(slices.Concat(pixel[:16], []byte{0, 0, 0, 9}, pixel[20:])),
		"a JPEG without its header":      "\xff\xd8\xff",
		"a JPEG that is cut off":         string(drawn(t, "image/jpeg", 1, 1)[:40]),
		"a GIF that is cut off":          string(drawn(t, "image/gif", 1, 1)[:9]),
		"a GIF without pixels":           "GIF89a\x00\x00\x00\x00\x00\x00\x00;",
		"a wide PNG":                     string(drawn(t, "image/png", wide, 1)),
		"a high JPEG":                    string(drawn(t, "image/jpeg", 1, wide)),
		"a wide GIF":                     string(drawn(t, "image/gif", wide, 1)),
		"a WebP without a chunk":         "RIFF\x04\x00\x00\x00WEBP",
		"a WebP that is cut off":         string(webpFile(t, "lossy")[:34]),
		"a WebP of a chunk without end":  "RIFF\x10\x00\x00\x00WEBPVP8L\xff\xff\xff\xff\x2f\x00\x00\x00",
		"a WebP of an unknown chunk":     "RIFF\x10\x00\x00\x00WEBPXMP \x04\x00\x00\x00abcd",
		"a WebP with a wide canvas":      string(canvas),
		"a WebP wider than its canvas":   string(inCanvas),
		"a WebP with a wide frame":       string(inAnimation),
		"a wide WebP without loss":       string(lossless),
	} {
		b.get("/auth/account/profile").uploads(picturePath, []byte(file)).want(http.StatusUnprocessableEntity).says("Check what you entered.")
		if answer := b.uploads(picturePath, []byte(file), "Accept", "application/json").want(http.StatusUnprocessableEntity).json(); answer["error"] != "invalid" {
			t.Errorf("%s: the answer is %v", name, answer)
		}
		if len(p.stored) > 0 {
			t.Fatalf("%s was stored", name)
		}
	}
	// A form without a file, and one that names the picture.
	b.get("/auth/account/profile").post(picturePath, "picture", "me.png").want(http.StatusUnprocessableEntity)
	b.postJSON(picturePath, map[string]any{"picture": "https://pictures.example/1", "image": "https://pictures.example/1"})
	if b.want(http.StatusUnprocessableEntity); s.fingerprint(u) != before || s.user(ada).Image != "" || len(p.stored) > 0 || p.requests > 0 {
		t.Errorf("the user is %+v, %d pictures were stored, %d requests were sent", s.user(ada), len(p.stored), p.requests)
	}
}

// A countingReader is a file without end, of which it counts the bytes that were read.
type countingReader struct{ read int }

func (c *countingReader) Read(b []byte) (int, error) {
	c.read += len(b)
	return len(b), nil
}

func (c *countingReader) Close() error { return nil }

// AC-88, AT-48: a larger file is neither read to its end nor stored.
func TestAPictureHasAtMostOneMebibyte(t *testing.T) {
	p := &pictureStore{link: "https://pictures.example/1"}
	s := newSite(t, false, p.configure)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword)
	sized := func(n int) []byte {
		return append(drawn(t, "image/png", 1, 1), make([]byte, n)...)[:n]
	}
	b.get("/auth/account/profile").uploads(picturePath, sized(1<<20)).want(http.StatusOK).says("Your changes are saved.")
	b.get("/auth/account/profile").uploads(picturePath, sized(1<<20+1)).want(http.StatusRequestEntityTooLarge).
		says(`id="input-picture-help">The request is too large. Send less, or a smaller file.`)
	if answer := b.uploads(picturePath, sized(1<<20+1), "Accept", "application/json").want(http.StatusRequestEntityTooLarge).json(); answer["error"] != "too_large" {
		t.Errorf("the answer is %v", answer)
	}
	b.uploads(picturePath, sized(2<<20)).want(http.StatusRequestEntityTooLarge).says("The request is too large. Send less, or a smaller file.")
	for name, declared := range map[string]int64{"of a declared length": 1 << 30, "of a length that is not declared": -1} {
		endless := &countingReader{}
		r := b.withCookies()
		r.URL.Path, r.Body, r.ContentLength = picturePath, endless, declared
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		w := httptest.NewRecorder()
		s.auth.ServeHTTP(w, r)
		if most := 3 << 19; w.Code != http.StatusRequestEntityTooLarge || endless.read > most || declared > 0 && endless.read > 0 {
			t.Errorf("a file %s: status %d after %d bytes", name, w.Code, endless.read)
		}
	}
	// The other forms stay small.
	b.uploads("/auth/account/profile", sized(10)).want(http.StatusForbidden)
	b.do(http.MethodPost, picturePath, map[string][]string{"csrfToken": {b.token()}, "picture": {strings.Repeat("x", 64<<10)}}).want(http.StatusRequestEntityTooLarge)
	if len(p.stored) != 1 {
		t.Errorf("%d pictures were stored", len(p.stored))
	}
}

// AC-88, AT-48: the picture of a user leads nowhere else than a picture does.
func TestAPictureOfTheApplicationIsAtAnAddressForPictures(t *testing.T) {
	p := &pictureStore{}
	s := newSite(t, false, p.configure)
	u := s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword)
	file := drawn(t, "image/png", 1, 1)
	for _, p.link = range []string{
		"", "javascript:alert(1)", "JavaScript:alert(1)", "data:image/png;base64,AAAA", "data:image/svg+xml,<svg onload=alert(1)>", "blob:x", "file:///etc/passwd",
		"http://pictures.example/1", "ftp://pictures.example/1", "//evil.example/1", `/\evil.example/1`, "pictures/1", "https:", "https://", "https://exa mple/", "https://a;b/",
		"/a\nb", "https://pictures.example/" + strings.Repeat("x", 2048), "\x00", "\xff",
	} {
		b.get("/auth/account/profile").uploads(picturePath, file).want(http.StatusServiceUnavailable)
	}
	if got := s.user(ada).Image; got != "" || s.user(ada).ID != u.ID {
		t.Errorf("the picture is %q", got)
	}
	if log := s.log(); !strings.Contains(log, "Options.Pictures.Store returned") || !strings.Contains(log, "return an https URL") {
		t.Error("the log does not say what to change")
	}
}

func TestAnApplicationRefusesAPicture(t *testing.T) {
	p := &pictureStore{link: "https://pictures.example/1", err: &pintle.Error{Code: pintle.CodeAccessDenied, Detail: "no_face", Err: errors.New("no face")}}
	s := newSite(t, false, p.configure, func(c *pintle.Config, _ *account.Options) {
		c.Texts.Account.Problems = map[string]string{"no_face": "We see no face."}
	})
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword)
	file := drawn(t, "image/png", 1, 1)
	b.get("/auth/account/profile").uploads(picturePath, file).want(http.StatusForbidden).says("We see no face.")
	p.err = errors.New("the disk is full")
	b.get("/auth/account/profile").uploads(picturePath, file).want(http.StatusServiceUnavailable)
	if strings.Contains(b.page, "disk") || !strings.Contains(s.log(), "the disk is full") || s.user(ada).Image != "" {
		t.Errorf("the page is %s", b.text())
	}
}

// AT-80, AT-120, AC-220
func TestNobodyElseUploadsAPicture(t *testing.T) {
	p := &pictureStore{link: "https://pictures.example/1"}
	s := newSite(t, false, p.configure)
	u := s.seed(ada, goodPassword, true)
	file := drawn(t, "image/png", 1, 1)
	s.browser().uploads(picturePath, file, "Accept", "application/json").want(http.StatusUnauthorized).says("signed_out")
	b := s.browser().startSession(u, 0, "pwd")
	token := b.token()
	for _, tt := range []struct{ token, header, value string }{
		{"", "Sec-Fetch-Site", "same-origin"},
		{strings.Repeat("0", 64), "Sec-Fetch-Site", "same-origin"},
		{s.browser().token(), "Sec-Fetch-Site", "same-origin"},
		{token, "Sec-Fetch-Site", "cross-site"},
		{token, "Sec-Fetch-Site", "same-site"},
		{token, "Origin", "https://evil.example"},
		{token, "Origin", "null"},
	} {
		b.uploadsWith(picturePath, tt.token, file, tt.header, tt.value).want(http.StatusForbidden)
	}
	b.uploadsWith(picturePath, token, file, "Content-Type", "multipart/form-data").want(http.StatusBadRequest)
	s.changeState(u.ID, func(state *accountstore.State) { state.BannedUntil = time.Now().Add(time.Hour) })
	b.uploadsWith(picturePath, token, file, "Accept", "application/json").want(http.StatusUnauthorized)
	if len(p.stored) > 0 || s.user(ada).Image != "" {
		t.Errorf("%d pictures were stored, the user has %q", len(p.stored), s.user(ada).Image)
	}
}

func TestWithoutAStoreForPicturesThereIsNoForm(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	b := s.browser().startSession(u, 0, "pwd").get("/auth/account/profile")
	if strings.Contains(b.page, "multipart") || strings.Contains(b.page, `name="picture"`) {
		t.Errorf("the page has a form: %s", b.text())
	}
	b.uploads(picturePath, drawn(t, "image/png", 1, 1)).want(http.StatusForbidden)
	b.get(picturePath).want(http.StatusNotFound)
}

func FuzzPicture(f *testing.F) {
	for _, text := range webp {
		file, _ := base64.StdEncoding.DecodeString(text)
		f.Add(file)
	}
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"))
	f.Fuzz(func(t *testing.T, file []byte) {
		p := account.ReadPicture(file)
		if p != nil && (min(p.Width, p.Height) < 1 || max(p.Width, p.Height) > 4096 || !strings.HasPrefix(p.Type, "image/")) {
			t.Errorf("%s of %d by %d pixels", p.Type, p.Width, p.Height)
		}
	})
}
