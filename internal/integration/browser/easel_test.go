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
	"strings"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/integration/browser/barfont"
	"github.com/pintleauth/pintle/internal/integration/browser/mosaic"
)

// pictureWidths are those of a phone and of a desktop, in multiples of a block.
var pictureWidths = []int{360, 1024}

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
		all = append(all, mosaic.Of(drawn, mosaic.BlockSize/scale))
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
