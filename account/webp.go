package account

import (
	"encoding/binary"
	"errors"
	"image"
)

var errNoWebP = errors.New("the file is no image in WebP")

// webpSize returns the size of an image in WebP, which the standard library does not read.
// A file may have a canvas and an image; the larger size counts, since some programs
// decode the image without a look at the canvas.
//
// https://www.rfc-editor.org/rfc/rfc9649#section-2
func webpSize(file []byte) (size image.Config, err error) {
	if len(file) < 12 || string(file[8:12]) != "WEBP" {
		return size, errNoWebP
	}
	chunks := file[12:]
	for len(chunks) >= 8 {
		kind, length := string(chunks[:4]), uint64(binary.LittleEndian.Uint32(chunks[4:]))
		if chunks = chunks[8:]; length > uint64(len(chunks)) {
			return size, errNoWebP
		}
		width, height := webpChunkSize(kind, chunks[:length])
		size.Width, size.Height = max(size.Width, width), max(size.Height, height)
		chunks = chunks[min(length+length%2, uint64(len(chunks))):] // chunks begin at even places
	}
	return size, nil
}

// webpChunkSize returns the size that a chunk says, in the lowest bits of little-endian
// numbers, and 0 of a chunk that says none. Of an animation it is that of a frame.
func webpChunkSize(kind string, chunk []byte) (width, height int) {
	switch {
	case kind == "VP8 " && len(chunk) >= 10 && string(chunk[3:6]) == "\x9d\x01\x2a": // RFC 6386, section 9.1
		w, h := binary.LittleEndian.Uint16(chunk[6:]), binary.LittleEndian.Uint16(chunk[8:])
		return int(w & 0x3fff), int(h & 0x3fff)
	case kind == "VP8L" && len(chunk) >= 5 && chunk[0] == 0x2f: // RFC 9649, section 3.4
		bits := binary.LittleEndian.Uint32(chunk[1:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff)
	case kind == "VP8X" && len(chunk) >= 10: // RFC 9649, section 2.7
		return 1 + uint24(chunk[4:]), 1 + uint24(chunk[7:])
	case kind == "ANMF" && len(chunk) >= 16: // RFC 9649, section 2.7.1.1
		return 1 + uint24(chunk[6:]), 1 + uint24(chunk[9:])
	}
	return 0, 0
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
