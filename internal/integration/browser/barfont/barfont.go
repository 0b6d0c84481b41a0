// Package barfont makes a font for pictures of pages that are equal on every machine.
package barfont

import (
	"encoding/binary"
	"maps"
	"slices"
)

// New returns a TrueType font whose characters are all one bar, half as wide as the text is
// large and as high as a share of it in thousandths. A space is as wide, and empty. Text in this
// font has the same place on every machine, whatever fonts it has and however it draws them.
//
// https://learn.microsoft.com/en-us/typography/opentype/spec/otff
func New(height uint16) []byte {
	const (
		unitsPerEm, width = 1000, 500
		ascent, descent   = 900, 0x10000 - 250 // -250 in two's complement
		bar, space        = 1, 2
	)
	words := func(all ...uint16) (b []byte) {
		for _, w := range all {
			b = binary.BigEndian.AppendUint16(b, w)
		}
		return b
	}
	longs := func(all ...uint32) (b []byte) {
		for _, l := range all {
			b = binary.BigEndian.AppendUint32(b, l)
		}
		return b
	}
	glyph := slices.Concat(
		words(1, 0, 0, width, height), // contours, and the box around them
		words(3, 0),                   // the last point, no instructions
		[]byte{1, 1, 1, 1},            // points on the curve, from one to the next
		words(0, 0, width, 0), words(0, height, 0, -height),
	)
	// Each range of characters is one glyph: format 13.
	ranges := []uint32{
		0x0, 0x1f, space, 0x20, 0x20, space, 0x21, 0x9f, bar, 0xa0, 0xa0, space, 0xa1, 0x1fff, bar,
		0x2000, 0x200f, space, 0x2010, 0x2fff, bar, 0x3000, 0x3000, space, 0x3001, 0x10ffff, bar,
	}
	tables := map[string][]byte{
		"OS/2": slices.Concat(
			words(4, width, 400, 5, 0), make([]byte, 22), make([]byte, 10), longs(0, 0, 0, 0), []byte("test"),
			words(0x40, 0x20, 0xffff, ascent, descent, 0, ascent, 250), longs(0, 0), words(500, 700, 0, 0x20, 0),
		),
		"cmap": slices.Concat(
			words(0, 1, 3, 10), longs(12),
			words(13, 0), longs(uint32(16+4*len(ranges)), 0, uint32(len(ranges)/3)), longs(ranges...),
		),
		"glyf": slices.Concat(glyph, glyph),
		"head": slices.Concat(
			longs(0x10000, 0x10000, 0, 0x5f0f3cf5), words(0, unitsPerEm), make([]byte, 16),
			words(0, 0, width, height, 0, 8, 2, 0, 0),
		),
		"hhea": slices.Concat(longs(0x10000), words(ascent, descent, 0, width, 0, 0, width, 1, 0), make([]byte, 12), words(3)),
		"hmtx": words(width, 0, width, 0, width, 0),
		"loca": words(0, uint16(len(glyph)/2), uint16(len(glyph)), uint16(len(glyph))),
		"maxp": slices.Concat(longs(0x10000), words(3, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)),
		"name": words(0, 0, 6),
		"post": slices.Concat(longs(0x30000, 0), words(0, 50), longs(1, 0, 0, 0, 0)),
	}
	const head, entry = 12, 16
	directory := slices.Concat(longs(0x10000), words(uint16(len(tables)), 128, 3, uint16(len(tables)*entry-128)))
	var data []byte
	for _, tag := range slices.Sorted(maps.Keys(tables)) {
		table := tables[tag]
		size := len(table)
		table = append(table, make([]byte, -size&3)...)
		var sum uint32
		for i := 0; i < len(table); i += 4 {
			sum += binary.BigEndian.Uint32(table[i:])
		}
		directory = append(directory, tag...)
		directory = append(directory, longs(sum, uint32(head+len(tables)*entry+len(data)), uint32(size))...)
		data = append(data, table...)
	}
	return append(directory, data...)
}
