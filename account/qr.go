package account

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// quietZone is how many modules around a QR code stay light, so that cameras find it.
const quietZone = 4

// qrSVG draws a text as a QR code: dark on light in dark schemes, too, because many
// cameras do not read the inverse.
func qrSVG(text string) (string, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", fmt.Errorf("account: QR code: %w", err)
	}
	var dark strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) { // false beyond the edge
				x++
			}
			if x > from {
				fmt.Fprintf(&dark, "M%d %dh%dv1h-%dz", from+quietZone, y+quietZone, x-from, x-from)
			}
		}
	}
	side := code.Size + 2*quietZone
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges">`+
		`<path fill="#fff" d="M0 0h%dv%dH0z"/><path fill="#000" d="%s"/></svg>`, side, side, side, side, dark.String()), nil
}
