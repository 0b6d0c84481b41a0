// Package mosaic compares pictures of pages that are equal on every machine. It starts no
// goroutine: internal/check compiles it without the race detector, which makes it many times slower.
package mosaic

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
)

// BlockSize is the width and the height of a block in pixels, of which the mean is kept.
const BlockSize = 8

// Pictures are equal if no block differs by more than mostOfBlock in any of its three channels, of
// 255, and no square of coarse × coarse blocks by more than mostOfSquare. The first lets an edge
// between black and white be a pixel off, as one row of a block is 255/8. The second finds areas whose
// colours are close to one another, such as a card and what is around it.
const (
	mostOfBlock  = 32
	coarse       = 8
	mostOfSquare = 4
)

// Of returns a picture in which each pixel is the mean of a square of size × size. What is left
// over at the right and at the bottom is a mean of fewer.
func Of(from image.Image, size int) *image.RGBA {
	all := inRGBA(from)
	area := all.Rect
	to := image.NewRGBA(image.Rect(0, 0, (area.Dx()+size-1)/size, (area.Dy()+size-1)/size))
	for y := range to.Rect.Dy() {
		for x := range to.Rect.Dx() {
			square := image.Rect(x*size, y*size, (x+1)*size, (y+1)*size).Intersect(all.Rect)
			var sum [4]int
			for row := square.Min.Y; row < square.Max.Y; row++ {
				for i, value := range all.Pix[all.PixOffset(square.Min.X, row):all.PixOffset(square.Max.X, row)] {
					sum[i%4] += int(value)
				}
			}
			n := square.Dx() * square.Dy()
			for i, value := range sum {
				to.Pix[to.PixOffset(x, y)+i] = uint8((value + n/2) / n)
			}
		}
	}
	return to
}

// inRGBA returns a picture with one kind of pixels, from the point (0, 0).
func inRGBA(from image.Image) *image.RGBA {
	area := from.Bounds()
	if p, ok := from.(*image.RGBA); ok && area.Min == (image.Point{}) {
		return p
	}
	all := image.NewRGBA(image.Rect(0, 0, area.Dx(), area.Dy()))
	draw.Draw(all, all.Rect, from, area.Min, draw.Src)
	return all
}

// apart is the largest difference between two colours in a channel.
func apart(a, b color.RGBA) int {
	most := 0
	for _, d := range [...]int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
		most = max(most, d, -d)
	}
	return most
}

// farthest returns where two pictures of one size differ most, and by how much.
func farthest(a, b *image.RGBA) (at image.Point, most int) {
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			if d := apart(a.RGBAAt(x, y), b.RGBAAt(x, y)); d > most {
				at, most = image.Pt(x, y), d
			}
		}
	}
	return at, most
}

// Unlike tells in which way two pictures of blocks differ. It is empty if they are equal.
func Unlike(want, got image.Image) string {
	if want.Bounds().Size() != got.Bounds().Size() {
		return fmt.Sprintf("it has %v blocks, want %v", got.Bounds().Size(), want.Bounds().Size())
	}
	a, b := inRGBA(want), inRGBA(got)
	if at, d := farthest(a, b); d > mostOfBlock {
		return fmt.Sprintf("the block at %v differs by %d, and %d is too much", at, d, mostOfBlock+1)
	}
	if at, d := farthest(Of(a, coarse), Of(b, coarse)); d > mostOfSquare {
		return fmt.Sprintf("the %d × %[1]d blocks at %v differ by %d, and %d is too much", coarse, at.Mul(coarse), d, mostOfSquare+1)
	}
	return ""
}

// InFewColors returns a picture whose file is small, because of a palette if the colours fit into one.
// Those of areas are exact, and those of other blocks 4 off at most: mostOfBlock allows for it.
func InFewColors(from *image.RGBA) image.Image {
	const area, step = 64, 8
	count := map[color.RGBA]int{}
	for y := range from.Rect.Dy() {
		for x := range from.Rect.Dx() {
			count[from.RGBAAt(x, y)]++
		}
	}
	round := func(value uint8) uint8 { return uint8(min(255, (int(value)+step/2)/step*step)) }
	to, known, palette := image.NewRGBA(from.Rect), map[color.RGBA]bool{}, color.Palette{}
	for y := range from.Rect.Dy() {
		for x := range from.Rect.Dx() {
			c := from.RGBAAt(x, y)
			if count[c] < area {
				c = color.RGBA{round(c.R), round(c.G), round(c.B), 255}
			}
			if !known[c] {
				known[c], palette = true, append(palette, c)
			}
			to.SetRGBA(x, y, c)
		}
	}
	if len(palette) > 256 {
		return to
	}
	small := image.NewPaletted(from.Rect, palette)
	draw.Draw(small, small.Rect, to, image.Point{}, draw.Src)
	return small
}

// Comparison shows two pictures of blocks and their difference beside one another, enlarged.
func Comparison(want, got image.Image) image.Image {
	const larger, gap = 4, 8
	left, right := inRGBA(want), inRGBA(got)
	size := image.Pt(max(want.Bounds().Dx(), got.Bounds().Dx()), max(want.Bounds().Dy(), got.Bounds().Dy()))
	to := image.NewRGBA(image.Rect(0, 0, 3*size.X*larger+2*gap, size.Y*larger))
	for y := range size.Y {
		for x := range size.X {
			a, b := left.RGBAAt(x, y), right.RGBAAt(x, y)
			d := uint8(min(255, 4*apart(a, b)))
			for i, c := range []color.Color{a, b, color.RGBA{d, d, d, 255}} {
				at := image.Pt(x*larger+i*(size.X*larger+gap), y*larger)
				draw.Draw(to, image.Rectangle{at, at.Add(image.Pt(larger, larger))}, image.NewUniform(c), image.Point{}, draw.Src)
			}
		}
	}
	return to
}
