package password

// A meter counts the work of a Hasher in the places that do it, so that tests can
// hold every stored hash to its bound. The meter of a Hasher in use is nil.
type meter struct {
	units [4]int
	dry   bool // whether the work is only counted, not done
}

// The kinds of work, with their units.
const (
	argon2Work = iota // KiB times passes
	scryptWork        // N times r times p
	pbkdf2Work        // iterations times blocks of the key
	bcryptWork        // two to the power of the cost
)

// spend counts work, and reports whether to do it.
func (m *meter) spend(kind, units int) bool {
	if m == nil {
		return true
	}
	m.units[kind] += units
	return !m.dry
}
