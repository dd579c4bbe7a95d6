package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Colours of a terminal (ECMA-48, SGR).
const (
	inPlain  = 0
	inBold   = 1
	inFaint  = 2
	inRed    = 31
	inGreen  = 32
	inYellow = 33
)

// cell is a text in a colour.
type cell struct {
	text   string
	colour int
}

// table is written with its columns aligned, whatever colours there are: texts to the left, numbers to the right.
type table struct {
	head  string // names of the columns, separated by blanks; a column of numbers begins with +
	cells [][]cell
}

// row takes strings and cells.
func (t *table) row(values ...any) {
	row := make([]cell, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case cell:
			row[i] = v
		default:
			row[i] = cell{text: fmt.Sprint(v)}
		}
	}
	t.cells = append(t.cells, row)
}

// write prints the table. Columns whose name begins with + in the head are aligned to the right.
func (t *table) write(w io.Writer) error {
	names := strings.Fields(t.head)
	width := make([]int, len(names))
	right := make([]bool, len(names))
	head := make([]cell, len(names))
	for i, n := range names {
		n, right[i] = strings.CutPrefix(n, "+")
		head[i] = cell{n, inBold}
		width[i] = utf8.RuneCountInString(n)
		for _, row := range t.cells {
			width[i] = max(width[i], utf8.RuneCountInString(row[i].text))
		}
	}

	// Colours are put in last: they take no width.
	for _, row := range append([][]cell{head}, t.cells...) {
		line := ""
		for i, c := range row {
			blanks := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c.text))
			text := coloured(w, c.colour, c.text)
			if right[i] {
				line += "  " + blanks + text
			} else {
				line += "  " + text + blanks
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.TrimPrefix(line, "  "), " ")); err != nil {
			return err
		}
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func orAll(scope string) string {
	if scope == "" {
		return "everyone"
	}
	return scope
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func green(w io.Writer, s string) string { return coloured(w, inGreen, s) }

func red(w io.Writer, s string) string { return coloured(w, inRed, s) }

func coloured(w io.Writer, colour int, s string) string {
	if f, ok := w.(*os.File); colour != inPlain && ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" {
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, s)
	}
	return s
}

// numbered is a number of things, as people say it.
func numbered(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
