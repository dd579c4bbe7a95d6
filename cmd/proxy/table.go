package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
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
