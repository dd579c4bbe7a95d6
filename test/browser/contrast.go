//go:build !byday

package browser

import (
	_ "embed"
	"testing"
)

//go:embed contrast.js
var contrast string

// Faint are the texts of the page whose contrast with what is behind them is below that of WCAG 2.1's level AA: 4.5 to
// 1, and 3 to 1 for large type. Pictures and canvases are not looked into.
func (p *Page) Faint(t testing.TB) []string {
	t.Helper()
	return Eval[[]string](t, p, contrast)
}

// Overflow is by how many pixels the page is wider than the screen; what scrolls by itself does not count.
func (p *Page) Overflow(t testing.TB) int {
	t.Helper()
	return Eval[int](t, p, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
}
