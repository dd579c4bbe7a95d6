package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Colours of a terminal (ECMA-48, SGR), all of one length, so that columns of painted cells stay aligned.
const (
	plain = "39"
	bold  = "01"
	red   = "31"
	green = "32"
	cyan  = "36"
)

func (d *demo) paint(colour, text string) string {
	if !d.colours {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, "-- "+format+"\n", args...) }

func (d *demo) title(text string) { fmt.Fprintf(d.out, "\n%s\n\n", d.paint(bold, "== "+text)) }

// statement prints what is asked.
func (d *demo) statement(n int, s statement) {
	fmt.Fprintf(d.out, "\n%s\n", d.paint(bold, fmt.Sprintf("%d. %s", n, s.say)))
	if s.before != "" {
		fmt.Fprintln(d.out, d.paint(cyan, "   "+s.before+";"))
	}
	text := "   " + s.sql + ";"
	for i, arg := range s.args {
		text += fmt.Sprintf("  $%d = %v", i+1, arg)
	}
	fmt.Fprintln(d.out, d.paint(cyan, text))
}

// lines is a table that is being printed. Each cell comes with its colour.
type lines struct {
	d *demo
	w *tabwriter.Writer
}

func (d *demo) lines() lines {
	return lines{d, tabwriter.NewWriter(d.out, 0, 0, 2, ' ', tabwriter.AlignRight)}
}

// add prints one line: colours and texts in turn.
func (l lines) add(cells ...string) {
	for i := 0; i < len(cells); i += 2 {
		fmt.Fprint(l.w, l.d.paint(cells[i], cells[i+1]), "\t")
	}
	fmt.Fprintln(l.w)
}

// short cuts PostgreSQL's sixteen decimals of an average down to what can be read.
func short(number string) string {
	if _, err := strconv.ParseFloat(number, 64); err != nil {
		return number
	}
	if i := strings.IndexByte(number, '.'); i >= 0 && len(number) > i+4 {
		return number[:i+4]
	}
	return number
}

// percent writes a relative error.
func percent(off float64) string { return fmt.Sprintf("%.1f%%", 100*off) }

func indent(text string) string {
	text = "   " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n   ")
	return strings.ReplaceAll(text, "\n   \n", "\n\n")
}
