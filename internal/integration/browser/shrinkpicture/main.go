// Command shrinkpicture writes the upper part of a screenshot with 256 colours, which makes the file
// a third as large:
//
//	shrinkpicture HEIGHT FROM.png TO.png
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"slices"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "shrinkpicture:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: shrinkpicture HEIGHT FROM.png TO.png")
	}
	height, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	from, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", args[1], err)
	}
	var to bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&to, shrink(from, height)); err != nil {
		return err
	}
	return os.WriteFile(args[2], to.Bytes(), 0o644)
}

// shrink returns the upper part of an image in the colours that it has most often. The others are
// those of the edges of letters, for which the nearest one does.
func shrink(from image.Image, height int) image.Image {
	area := from.Bounds()
	area.Max.Y = min(area.Max.Y, area.Min.Y+height)
	count := map[color.Color]int{}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			count[from.At(x, y)]++
		}
	}
	most := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return count[b] - count[a] })
	to := image.NewPaletted(area, most[:min(len(most), 256)])
	draw.Draw(to, area, from, area.Min, draw.Src)
	return to
}
