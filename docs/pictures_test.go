package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	picture = regexp.MustCompile(`(?s)<picture>(.*?)</picture>`)
	inDark  = regexp.MustCompile(`<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">`)
	inLight = regexp.MustCompile(`<img src="([^"]+)"[^>]* alt="[^"]+"`)
)

// A page in the dark scheme shows the picture that was taken in it.
func TestThePicturesOfTheReadmeAreInLightAndDark(t *testing.T) {
	text := read(t, "README.md")
	pictures := picture.FindAllStringSubmatch(text, -1)
	if n := strings.Count(text, "<img "); n != len(pictures) || n == 0 {
		t.Errorf("%d images are in %d picture elements", n, len(pictures))
	}
	for _, p := range pictures {
		dark, light := inDark.FindStringSubmatch(p[1]), inLight.FindStringSubmatch(p[1])
		if dark == nil || light == nil || strings.Replace(light[1], "-light.", "-dark.", 1) != dark[1] || light[1] == dark[1] {
			t.Errorf("no pair of pictures with a text is in %s", p[1])
			continue
		}
		for _, file := range []string{dark[1], light[1]} {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
				t.Errorf("the README shows %s: %v", file, err)
			}
		}
	}
}
