package browser_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/integration/browser/mosaic"
)

// An album has pages as they were in a browser. Their pictures are in a folder of testdata/pictures,
// where a pixel is a block of the page: on a phone and on a desktop side by side, dark below light.
//
// The pictures are equal on every machine. Text is drawn in a font of bars that are equally wide, so it
// is where it was whatever fonts a machine has, and codes, keys and numbers of ports look alike.
type album struct {
	folder string
	pages  []albumPage
}

type albumPage struct{ name, html string }

var (
	notOfThePicture = regexp.MustCompile(`(?s)<script.*?</script>| autofocus(="")?`)
	dateOfThePage   = regexp.MustCompile(`(<time[^>]*>)[^<]*`)
	foreignImage    = regexp.MustCompile(`(<img [^>]*src=")https?://[^"]*`)
	originOfTheSite = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	notOfAFileName  = regexp.MustCompile(`[^a-z0-9]+`)
)

// keep adds the page that a browser shows.
func (a *album) keep(v *browserUser, name string) {
	v.t.Helper()
	name = strings.Trim(notOfAFileName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if slices.ContainsFunc(a.pages, func(p albumPage) bool { return p.name == name }) {
		v.t.Errorf("two pages of the album %s are called %s", a.folder, name)
	}
	a.pages = append(a.pages, albumPage{name, steady(read(v, chromedp.Evaluate[string](`"<!doctype html>" + document.documentElement.outerHTML`)))})
}

// steady removes from a page what differs from run to run, and gives users a picture that can be loaded.
func steady(source string) string {
	source = notOfThePicture.ReplaceAllString(source, "")
	source = dateOfThePage.ReplaceAllString(source, "${1}30 September 2026")
	source = foreignImage.ReplaceAllString(source, "${1}/picture")
	return originOfTheSite.ReplaceAllString(source, "app.example.com")
}

// looksAsItDid compares the pages with their pictures. A test whose pages are not all there has
// failed before, and the missing ones are no news.
func (a *album) looksAsItDid(t *testing.T) {
	t.Helper()
	whole := !t.Failed()
	dir := filepath.Join("testdata", "pictures", a.folder)
	if *update {
		if !whole {
			t.Fatalf("the pictures in %s stay as they are, because pages are missing", dir)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e := newEasel(newTab(t))
	var wrong []albumPage
	for part := range slices.Chunk(a.pages, 10) {
		for i, got := range e.paint(part) {
			file := filepath.Join(dir, part[i].name+".png")
			want, err := readPicture(file)
			if *update {
				if err != nil || mosaic.Unlike(want, got) != "" { // a diff shows what looks otherwise
					writePicture(t, file, mosaic.InFewColors(got))
				}
				continue
			}
			if err != nil {
				t.Errorf("%s has no picture: %v", part[i].name, err)
				wrong = append(wrong, part[i])
				continue
			}
			if how := mosaic.Unlike(want, got); how != "" {
				t.Errorf("%s looks other than in %s: %s", part[i].name, file, how)
				writePicture(t, filepath.Join(e.results(), part[i].name+"-difference.png"), mosaic.Comparison(want, got))
				wrong = append(wrong, part[i])
			}
		}
	}
	if len(wrong) > 0 {
		for part := range slices.Chunk(wrong, 10) {
			for i, got := range e.draw(part, 1) {
				writePicture(t, filepath.Join(e.results(), part[i].name+".png"), got)
			}
		}
		t.Errorf("see %s for what these pages look like, and what was expected. If they are right: go test -run %s -update", e.results(), t.Name())
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".png")
		if !whole || slices.ContainsFunc(a.pages, func(p albumPage) bool { return p.name == name }) {
			continue
		}
		if !*update {
			t.Errorf("%s is the picture of no page", file)
		} else if err := os.Remove(file); err != nil {
			t.Error(err)
		}
	}
}

func readPicture(file string) (image.Image, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(text))
}

func writePicture(t *testing.T, file string, picture image.Image) {
	t.Helper()
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
