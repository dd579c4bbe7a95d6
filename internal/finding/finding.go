// Package finding is what a command has to say of a configuration: as data, as JSON, and as text for a terminal or a
// pipe. It finds nothing by itself.
package finding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Level is how much a finding matters.
type Level string

// The levels.
const (
	OK      Level = "ok"      // what there is
	Note    Level = "note"    // worth knowing, and nothing to mend
	Warning Level = "warning" // what may be wrong, and stops nothing
	Error   Level = "error"   // what fugu serve would not start with, or not answer with
)

// Finding is one thing that there is to say.
type Finding struct {
	Level   Level  `json:"level"`
	Dataset string `json:"dataset,omitempty"`
	File    string `json:"file,omitempty"`   // empty: it is about no file
	Line    int    `json:"line,omitempty"`   // from 1; 0: about the whole file
	Column  int    `json:"column,omitempty"` // in characters, from 1
	What    string `json:"what"`
	Why     string `json:"why,omitempty"` // what hangs on it
	Fix     string `json:"fix,omitempty"` // what to write or do
}

// Place is FILE:LINE:COLUMN, as editors take it; empty where there is no file.
func (f Finding) Place() string {
	if f.File == "" || f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

// List is what a command has found, in the order in which it looked.
type List []Finding

// Failed reports whether there is an error among them.
func (l List) Failed() bool {
	for _, f := range l {
		if f.Level == Error {
			return true
		}
	}
	return false
}

// JSON writes the list, and whether it is free of errors.
func (l List) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		OK       bool `json:"ok"`
		Findings List `json:"findings"`
	}{!l.Failed(), append(List{}, l...)})
}

// Style is how text is laid out. The zero Style is for pipes: one line for each part, which grep finds whole.
type Style struct {
	Width  int  // columns of the terminal; 0: lines are not broken
	Colour bool // by ECMA-48
}

// Text writes each finding with what it is about, why it matters and what to do below it.
func (l List) Text(w io.Writer, s Style) error {
	var b strings.Builder
	for _, f := range l {
		s.finding(&b, f)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// gutter is the width of the names of levels on a terminal, where texts stand below each other.
const gutter = 9

// colours are ECMA-48's numbers (SGR).
var colours = map[Level]int{OK: 32, Warning: 33, Error: 31}

const faint = 2

func (s Style) finding(b *strings.Builder, f Finding) {
	head, indent := string(f.Level)+": ", 3
	if f.Level == OK {
		head = "ok "
	}
	if s.Width > 0 {
		head, indent = fmt.Sprintf("%-*s", gutter, f.Level), gutter
	}
	b.WriteString(s.coloured(colours[f.Level], head))
	b.WriteString(s.wrap(f.What, len(head), cmp.Or(indent, len(head))) + "\n")
	for _, part := range [][2]string{{"why", f.Why}, {"fix", f.Fix}, {"at", f.Place()}} {
		if part[1] == "" {
			continue
		}
		label := fmt.Sprintf("%*s%-5s", indent, "", part[0]+":")
		b.WriteString(s.coloured(faint, label) + s.wrap(part[1], len(label), len(label)) + "\n")
	}
}

// wrap is Wrap for this style.
func (s Style) wrap(text string, begins, indent int) string {
	return Wrap(text, begins, indent, s.Width)
}

// Wrap breaks a text at blanks, so that it fits on a screen of this width behind the column where it begins, and later
// lines behind indent. What was written in several lines stays so.
func Wrap(text string, begins, indent, screen int) string {
	blank := "\n" + strings.Repeat(" ", indent)
	if screen <= indent+20 { // of a terminal as narrow as that the terminal itself may make lines
		return strings.ReplaceAll(text, "\n", blank)
	}

	// Words are as wide as they have characters; one that is wider than the line stands alone.
	var out []string
	for _, paragraph := range strings.Split(text, "\n") {
		line, width := "", begins
		for i, word := range strings.Fields(paragraph) {
			n := utf8.RuneCountInString(word)
			switch {
			case i == 0:
				line, width = word, width+n
			case width+1+n < screen:
				line, width = line+" "+word, width+1+n
			default:
				out = append(out, line)
				line, width = word, indent+n
			}
		}
		out, begins = append(out, line), indent
	}

	return strings.Join(out, blank)
}

func (s Style) coloured(colour int, text string) string {
	if !s.Colour || colour == 0 {
		return text
	}
	bare := strings.TrimRight(text, " ")
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m%s", colour, bare, text[len(bare):])
}
