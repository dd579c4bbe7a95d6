//go:build fuguhooks

package corpus

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// How far averages may be apart, relatively: the reader sums them as numeric, PostgreSQL by their own type.
const (
	tolerance     = 1e-9
	realTolerance = 1e-4
)

var numbers = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

// sameText compares texts with numbers in them: whole numbers exactly, others within the tolerance.
func sameText(a, b string, within float64) bool {
	if a == b {
		return true
	}
	if numbers.ReplaceAllString(a, "0") != numbers.ReplaceAllString(b, "0") {
		return false
	}
	x, y := numbers.FindAllString(a, -1), numbers.FindAllString(b, -1)
	return slices.EqualFunc(x, y, func(a, b string) bool { return sameNumber(a, b, within) })
}

func sameNumber(a, b string, within float64) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(a+b, ".eE") {
		return false
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && (math.Abs(x-y) <= within*math.Max(math.Abs(x), math.Abs(y)) ||
		math.Abs(x-y) < 1e-12)
}

// sortKey brings rows into an order that does not depend on the last digits of an average.
func sortKey(row []*string) string {
	var b strings.Builder
	for _, v := range row {
		if v == nil {
			b.WriteString("\x01")
		} else {
			b.WriteString("\x02" + numbers.ReplaceAllStringFunc(*v, func(n string) string {
				if !strings.ContainsAny(n, ".eE") {
					return n + ".00000e+00"
				}
				x, _ := strconv.ParseFloat(n, 64)
				if x == math.Trunc(x) && math.Abs(x) < 1e15 {
					return strconv.FormatFloat(x, 'f', -1, 64) + ".00000e+00"
				}
				return strconv.FormatFloat(x, 'e', 5, 64)
			}))
		}
	}
	return b.String()
}

func sameRow(a, b []*string, within float64) bool {
	return slices.EqualFunc(a, b, func(x, y *string) bool {
		return x == nil && y == nil || x != nil && y != nil && sameText(*x, *y, within)
	})
}

// difference says how got differs from want, empty if in nothing that matters.
func difference(want, got outcome, u unit) string {
	within := tolerance
	if u.rough {
		within = realTolerance
	}
	if len(want.results) != len(got.results) {
		return fmt.Sprintf("%d results, want %d", len(got.results), len(want.results))
	}
	for i, w := range want.results {
		g := got.results[i]
		if !slices.Equal(g.columns, w.columns) {
			return fmt.Sprintf("columns (name type size modifier)\n%v, want\n%v", g.columns, w.columns)
		}
		if u.groups {
			if missing := without(w.rows, g.rows, within); missing != nil {
				return "no row " + show(missing)
			}
			continue
		}
		if g.tag != w.tag {
			return fmt.Sprintf("command tag %q, want %q", g.tag, w.tag)
		}
		if u.masked {
			continue
		}
		// Rows are compared in order where ORDER BY gives them one.
		sql := u.steps[min(i, len(u.steps)-1)]
		if u.ties || !ordered(sql) {
			w.rows, g.rows = sorted(w.rows), sorted(g.rows)
		}
		for k := range max(len(w.rows), len(g.rows)) {
			switch {
			case k >= len(w.rows):
				return "a row too many: " + show(g.rows[k])
			case k >= len(g.rows):
				return "no row " + show(w.rows[k])
			case !sameRow(w.rows[k], g.rows[k], within):
				return fmt.Sprintf("row %d of %d is\n\t%s, want\n\t%s", k+1, len(w.rows), show(g.rows[k]),
					show(w.rows[k]))
			}
		}
	}
	return ""
}

// without returns a row of want that is not in got.
func without(want, got [][]*string, within float64) []*string {
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g []*string) bool { return sameRow(w, g, within) }) {
			return w
		}
	}
	return nil
}

func sorted(rows [][]*string) [][]*string {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b []*string) int { return strings.Compare(sortKey(a), sortKey(b)) })
	return rows
}

func show(row []*string) string {
	parts := make([]string, len(row))
	for i, v := range row {
		parts[i] = "NULL"
		if v != nil {
			parts[i] = *v
		}
	}
	return strings.Join(parts, " | ")
}

// ordered reports whether the outermost query of a text has ORDER BY.
func ordered(sql string) bool {
	depth, quote := 0, byte(0)
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && len(sql)-i > 8 && strings.EqualFold(sql[i:i+8], "order by"):
			return true
		}
	}
	return false
}

// The comparison sees what it is for, and overlooks what it may.
func TestSameText(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"12", "12", true}, {"12", "13", false}, {"9007199254740993", "9007199254740992", false},
		{"12.50", "12.5", true}, {"12", "12.000", true},
		{"0.1234567890123", "0.1234567890129", true}, {"0.12345678", "0.12345679", false}, {"-1.5", "1.5", false},
		{"x1", "x2", false},
		{`{"a": 1.50, "b": [2]}`, `{"a": 1.5, "b": [2]}`, true}, {`{"a": 1.5}`, `{"b": 1.5}`, false},
		{"1e20", "100000000000000000000", true}, {"t", "f", false},
	} {
		if got := sameText(c.a, c.b, tolerance); got != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
	text := func(s string) *string { return &s }
	rows := func(v ...string) (out [][]*string) {
		for _, s := range v {
			out = append(out, []*string{text(s)})
		}
		return out
	}
	u := unit{steps: []string{"SELECT 'order by' x"}}
	tag := []result{{tag: "SELECT 2", rows: rows("1", "2")}}
	for name, other := range map[string]result{
		"a row less": {tag: "SELECT 2", rows: rows("1")}, "another tag": {tag: "SELECT 1", rows: rows("1", "2")},
		"another value": {tag: "SELECT 2", rows: rows("1", "3")}, "NULL": {tag: "SELECT 2",
			rows: [][]*string{{text("1")}, {nil}}},
		"a row more": {tag: "SELECT 2", rows: rows("1", "2", "2")}, "a column": {tag: "SELECT 2", rows: rows("1", "2"),
			columns: []column{{name: "x"}}},
	} {
		if difference(outcome{results: tag}, outcome{results: []result{other}}, u) == "" {
			t.Errorf("%s is not seen", name)
		}
	}
	turned := []result{{tag: "SELECT 2", rows: rows("2", "1")}}
	if d := difference(outcome{results: tag}, outcome{results: turned}, u); d != "" {
		t.Errorf("order matters without ORDER BY: %s", d)
	}
	u.steps[0] += " ORDER BY 1"
	if difference(outcome{results: tag}, outcome{results: turned}, u) == "" {
		t.Error("order does not matter with ORDER BY")
	}
}
