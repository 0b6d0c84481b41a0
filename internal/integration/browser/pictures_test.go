package browser_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/integration/browser/barfont"
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

// pictureWidths are those of a phone and of a desktop, in multiples of a block.
var pictureWidths = []int{360, 1024}

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
				if err != nil || unlike(want, got) != "" { // a diff shows what looks otherwise
					writePicture(t, file, inFewColors(got))
				}
				continue
			}
			if err != nil {
				t.Errorf("%s has no picture: %v", part[i].name, err)
				wrong = append(wrong, part[i])
				continue
			}
			if how := unlike(want, got); how != "" {
				t.Errorf("%s looks other than in %s: %s", part[i].name, file, how)
				writePicture(t, filepath.Join(e.results(), part[i].name+"-difference.png"), comparison(want, got))
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

// An easel is a tab in which pages of an album are painted.
type easel struct {
	*browserUser
	dir string
}

func newEasel(v *browserUser) *easel {
	v.t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/picture" { // of the users of tours
			w.Header().Set("Content-Type", "image/svg+xml")
			fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path fill="teal" d="M0 0h8v8H0z"/></svg>`)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>Pages</title><body style="margin: 0; background: #777">`)
	}))
	v.t.Cleanup(srv.Close)
	v.open(srv.URL)
	return &easel{browserUser: v}
}

// results is a folder for what a person looks at after a test that failed.
func (e *easel) results() string {
	e.t.Helper()
	if e.dir == "" {
		e.dir = os.Getenv("PINTLE_SCREENSHOTS")
	}
	var err error
	if e.dir == "" {
		e.dir, err = os.MkdirTemp("", "pintle-pictures-")
	} else {
		err = os.MkdirAll(e.dir, 0o755)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return e.dir
}

// pictureStyle draws text in bars, and covers what differs from run to run or with the language
// of the browser. Ligatures would join any two bars in Arabic.
const pictureStyle = `
*, ::before, ::after, ::placeholder, ::file-selector-button {
	font-family: Bars !important;
	font-feature-settings: "liga" 0, "rlig" 0 !important;
	font-synthesis: none !important;
	text-rendering: geometricPrecision !important;
	animation: none !important;
	transition: none !important;
}
input[type=file], input[type=file]::file-selector-button { color: transparent !important; }
input[type=file]::file-selector-button { inline-size: 8rem !important; }
.figure svg { background: #777; }
.figure svg * { visibility: hidden; }`

// hang is the script that puts pages in frames, a row for each, and returns where the rows begin
// and the last one ends. A row is as high as the highest of its frames.
const hang = `(async (pages, widths, fonts, style) => {
	document.body.replaceChildren();
	const frames = await Promise.all(pages.flatMap((html) => widths.map((width) => new Promise((done) => {
		const frame = document.createElement("iframe");
		frame.style.cssText = "position: absolute; border: 0; block-size: 640px; inline-size: " + width + "px";
		frame.srcdoc = html;
		frame.onload = () => done(frame);
		document.body.append(frame);
	}))));
	await Promise.all(frames.map(async ({contentDocument: page, contentWindow: view}) => {
		for (const {data, weight} of fonts) {
			const face = new view.FontFace("Bars", Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer, {weight});
			page.fonts.add(await face.load());
		}
		const sheet = new view.CSSStyleSheet();
		sheet.replaceSync(style);
		page.adoptedStyleSheets = [sheet];
		for (const image of page.images) image.loading = "eager";
	}));
	const rows = [0];
	for (let i = 0; i < frames.length; i += widths.length) {
		let left = 0, bottom = 0;
		for (const frame of frames.slice(i, i + widths.length)) {
			const height = Math.ceil(frame.contentDocument.documentElement.scrollHeight / 8) * 8;
			frame.style.blockSize = height + "px";
			frame.style.top = rows.at(-1) + "px";
			frame.style.left = left + "px";
			left += frame.clientWidth;
			bottom = Math.max(bottom, rows.at(-1) + height);
		}
		rows.push(bottom);
	}
	return rows;
})`

// ready is the script that waits for the images of the colour scheme, which the browser chooses before
// it draws the next frame. Chromium refuses to decode an image that it is about to replace.
const ready = `(async () => {
	const frame = () => new Promise((done) => requestAnimationFrame(done));
	await frame();
	await frame();
	const shown = (image) => image.decode().then(() => true, () => image.complete && image.naturalWidth > 0);
	for (const {contentDocument: page} of document.querySelectorAll("iframe"))
		for (const image of page.images)
			while (!await shown(image)) await frame();
})()`

// paint returns the pages in blocks.
func (e *easel) paint(pages []albumPage) (all []*image.RGBA) {
	e.t.Helper()
	const scale = 4 // there are a sixteenth of the pixels to be encoded and decoded
	for _, drawn := range e.draw(pages, scale) {
		all = append(all, mosaic(drawn, blockSize/scale))
	}
	return all
}

// draw returns the pages, each in both widths and both colour schemes. A pixel is as large as scale
// pixels of a page.
func (e *easel) draw(pages []albumPage, scale int) []*image.RGBA {
	e.t.Helper()
	type font struct {
		Data   []byte `json:"data"`
		Weight string `json:"weight"`
	}
	sources, width := []string{}, 0
	for _, p := range pages {
		sources = append(sources, p.html)
	}
	for _, w := range pictureWidths {
		width += w
	}
	var arguments []string
	for _, a := range []any{sources, pictureWidths, []font{{barfont.New(500), "1 450"}, {barfont.New(700), "451 1000"}}, pictureStyle} {
		text, err := json.Marshal(a)
		if err != nil {
			e.t.Fatal(err)
		}
		arguments = append(arguments, string(text))
	}
	rows := read(e.browserUser, chromedp.Evaluate[[]int](hang+"("+strings.Join(arguments, ",")+")", chromedp.EvalAwaitPromise))
	height := rows[len(rows)-1]
	e.do("make the window as large as the pages", chromedp.EmulateViewport(int64(width), int64(height)))

	pictures := make([]*image.RGBA, len(pages))
	for i, scheme := range []string{"light", "dark"} {
		e.prefers(scheme)
		e.do("wait for images", chromedp.Evaluate[chromedp.Void](ready, chromedp.EvalAwaitPromise))
		taken, err := chromedp.Call(e.ctx, cdpage.CaptureScreenshot, cdpage.CaptureScreenshotParams{
			OptimizeForSpeed: new(true),
			Clip:             &cdpage.Viewport{Width: float64(width), Height: float64(height), Scale: 1 / float64(scale)},
		})
		if err != nil {
			e.t.Fatal(err)
		}
		all, err := png.Decode(bytes.NewReader(taken.Data))
		if err != nil {
			e.t.Fatal(err)
		}
		if got, want := all.Bounds().Size(), image.Pt(width/scale, height/scale); got != want {
			e.t.Fatalf("the picture of the pages has the size %v, want %v", got, want)
		}
		for j := range pages {
			size := image.Pt(width, rows[j+1]-rows[j]).Div(scale)
			if i == 0 {
				pictures[j] = image.NewRGBA(image.Rect(0, 0, size.X, 2*size.Y))
			}
			at := image.Pt(0, i*size.Y)
			draw.Draw(pictures[j], image.Rectangle{at, at.Add(size)}, all, image.Pt(0, rows[j]/scale), draw.Src)
		}
	}
	return pictures
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
