// Package percent reads the escapes of URLs, forms and cookies: a percent sign and
// two hexadecimal digits. What is escaped, and what a malformed escape stands for,
// differs between the three.
//
// https://url.spec.whatwg.org/#percent-encoded-byte
package percent

// Byte returns the byte that two hexadecimal digits stand for, in either case.
func Byte(high, low byte) (b byte, ok bool) {
	h, l := digits[high], digits[low]
	return h<<4 | l, h|l < 16
}

// digits are the values of the hexadecimal digits, and 255 for every other byte.
var digits = func() (values [256]byte) {
	for i := range values {
		values[i] = 255
	}
	for i, c := range []byte("0123456789abcdef") {
		values[c] = byte(i)
	}
	for i, c := range []byte("ABCDEF") {
		values[c] = byte(10 + i)
	}
	return values
}()
