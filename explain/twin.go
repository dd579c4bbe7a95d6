package explain

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"fugu/quote"
	"fugu/twin"
)

// ReadsNothing stands above the cuts of a statement that has none.
const ReadsNothing = "The statement reads no protected table: it costs nothing, and its answer is PostgreSQL's own."

// Twin is what EXPLAIN (PRIVACY) says of a twin that a statement reads. What is known of none that is not built is 0.
type Twin struct {
	Dataset    string      `json:"dataset"`
	Table      string      `json:"table"`
	Price      float64     `json:"price"` // of the statement: none
	Epsilon    json.Number `json:"epsilon"`
	Delta      json.Number `json:"delta"`
	Assumption string      `json:"assumption"`
	Rows       json.Number `json:"rows"`
	Sampled    json.Number `json:"sampled,omitempty"` // empty: its rows come with those of another twin
	// AtLeast is of how many rows of the sample whatever is told is at least; 0: rows are shown.
	AtLeast int64   `json:"at_least,omitempty"`
	Classes []Class `json:"classes,omitempty"`
}

// Class says how far a count of rows of one class may be off.
type Class struct {
	Class string      `json:"class"`
	Told  json.Number `json:"told"`
	Taken json.Number `json:"taken"`
	// CountError, times the root of the count, is one standard deviation of a count of few rows, by drawing alone.
	CountError float64 `json:"count_error"`
	// ToldError is one of Told, by the noise on the secret: nil, if the twin was built before that was said.
	ToldError *float64 `json:"told_error,omitempty"`
}

// AddTwins says which twins the statement reads besides. Where that is all, it costs nothing.
func (x *Explanation) AddTwins(twins []Twin) {
	x.Twins = append(x.Twins, twins...)
	if x.Above == ReadsNothing {
		x.Above = "The statement reads twins, and no protected table: it costs nothing."
	}
}

func (x Explanation) twinLines() (lines []string) {
	for _, t := range x.Twins {
		made := "made of " + t.Sampled.String() + " that were drawn; it was paid for when it was built"
		if t.Sampled == "" {
			made = "which come with the rows that they belong to, and were paid for with them"
		}
		lines = append(lines,
			fmt.Sprintf("  Twin of %s: %s rows, %s, epsilon %s, delta %s", t.Table, t.Rows, made, t.Epsilon, t.Delta),
			"    Price of the statement: 0, assuming "+strings.TrimSpace(t.Assumption))
		if t.AtLeast > 0 {
			lines = append(lines, fmt.Sprintf("    Rows are not listed: groups of fewer than %d rows of the sample "+
				"are left out, other values of fewer are NULL", t.AtLeast))
		}
		for _, c := range t.Classes {
			lines = append(lines, c.line())
		}
	}
	return lines
}

// line says how far counts of a class's rows are off, and how much of that comes from drawing them.
func (c Class) line() string {
	told, _ := c.Told.Float64()
	var sizes, both, drawing []string
	for _, k := range []float64{100, 1000, 10000, told} {
		if k > told || k == told && len(sizes) > 2 {
			continue
		}

		// The error of a count has two parts: the noise on the class's size, and which of its rows were drawn.
		off := 0.
		if c.ToldError != nil {
			off = *c.ToldError
		}
		d := twin.Count{Rows: k, Told: told, Noise: off, Drawing: c.CountError}.Deviation()
		sizes, both = append(sizes, strconv.FormatFloat(k, 'f', -1, 64)), append(both, quote.Short(d.Both()))
		drawing = append(drawing, quote.Short(d.Drawing))
	}

	list := func(of []string) string { return strings.Join(of, ", ") }
	noise := ""
	if c.ToldError == nil {
		noise = ", without the noise on the secret, which a twin that is built anew will tell"
	}
	return fmt.Sprintf("    Rows where %s: told as %s, of which %s were drawn; a count of %s of them is off by %s "+
		"(sd)%s; drawing alone moves it by %s", c.Class, c.Told, c.Taken, list(sizes), list(both), noise, list(drawing))
}
