// Package guides builds the guides as a static site with VitePress, and looks at it.
package guides
