package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// progressLine is where a long command says how far it has come: on a terminal one line, which is written over and is
// gone at the end.
type progressLine struct {
	io.Writer
	width int // of the terminal; 0: it is none, or says no width
}

// leastWidth is how wide a terminal is that has room for a bar and for words behind it.
const leastWidth = 40

func newProgressLine(w io.Writer) progressLine {
	l := progressLine{Writer: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		l.width, _, _ = term.GetSize(int(f.Fd()))
	}
	return l
}

// fits reports whether there is a line to write over. Elsewhere each step has a line of its own.
func (l progressLine) fits() bool { return l.width >= leastWidth }

// show writes over the line, so that it never wraps; the last one is taken away.
func (l progressLine) show(text string, last bool) {
	runes := []rune(text)
	fmt.Fprintf(l, "\r\x1b[K%s", string(runes[:min(len(runes), l.width-1)]))
	if last {
		fmt.Fprint(l, "\r\x1b[K")
	}
}

// bar draws a part of a whole.
func bar(done float64) string {
	const cells = 20
	filled := int(cells * done)
	return "[" + strings.Repeat("#", filled) + strings.Repeat(".", cells-filled) + "]"
}
