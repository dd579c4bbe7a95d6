package planner_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fugu/planner"
	"fugu/sqlstate"
)

// statementsOf lists every statement that is composed of a cut and its table beside those that TestRules shows, each
// with its name.
func statementsOf(b *planner.Bound) (out [][2]string) {
	add := func(name, sql string) { out = append(out, [2]string{name, sql}) }
	if len(b.Table.Secrets) > 0 {
		add("shapes", b.Shapes())
		add("placed", b.Placed())
		if sql, ok := planner.CrossMoments(b, b); ok {
			add("cross", sql)
		}
	}
	for i, a := range b.Aggregates {
		if a.Sampled != nil {
			add("distribution of "+a.Label, b.Distribution(i))
		}
	}
	return out
}

// What is composed of a cut is the same byte for byte from one version to the next, since answers are known again by
// it, and PostgreSQL takes it.
func TestStatements(t *testing.T) {
	w := newWorld(t)
	datadriven.Walk(t, "testdata/statements", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := w.plan(t.Context(), d.Input)
			if e := (*sqlstate.Error)(nil); errors.As(err, &e) {
				return fmt.Sprintf("%s at %d: %s\nhint: %s\n", e.Code, e.Position, e.Message, e.Hint)
			} else if err != nil {
				t.Fatal(err)
			}

			var out strings.Builder
			show := func(name, sql string) {
				fmt.Fprintf(&out, "%s: %s\n", name, sql)
				if _, err := w.reader.Query(t.Context(), sql, nil, nil); err != nil {
					fmt.Fprintln(&out, "fails:", err)
				}
			}
			for _, c := range p.Twins {
				sql, err := c.Bind(t.Context(), w.reader, thirties(len(c.Params)))
				if err != nil {
					t.Fatal(err)
				}
				show("twin: "+c.Label, sql)
			}
			for _, c := range p.Cuts {
				b, err := c.Bind(t.Context(), w.reader, thirties(len(c.Params)))
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range statementsOf(b) {
					show(s[0], s[1])
				}
				describe(t, &out, w, b)
			}
			if len(p.Twins) > 0 {
				fmt.Fprintf(&out, "guest: %s\n", p.SQL)
			}
			return out.String()
		})
	})
}

// thirties are values for parameters.
func thirties(n int) [][]byte {
	values := make([][]byte, n)
	for i := range values {
		values[i] = []byte("30")
	}
	return values
}

// describe writes what else is known of a cut before a row is read.
func describe(t *testing.T, out *strings.Builder, w world, b *planner.Bound) {
	t.Helper()
	layers, err := b.Layers(t.Context(), w.reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		fmt.Fprintf(out, "layer: %s by %q %q %d\n", l.Frame, l.Axes, l.Manner, len(l.Cells))
	}
	for i, a := range b.Aggregates {
		for cell := range b.Cells {
			if v, ok := b.Constant(cell, i); ok {
				fmt.Fprintf(out, "constant: %d %s %q %t\n", cell, a.Label, v.Text, v.Null)
			}
		}
	}
	chosen, err := b.Chosen(t.Context(), w.reader, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chosen.Choices {
		fmt.Fprintf(out, "chosen: %s nats, %s scattered; apart %v", number(c.Nats), number(c.Scattered), c.Apart)
		fmt.Fprintf(out, "; sorted %s %s %v", number(c.Sorted.Nats), number(c.Sorted.Scattered), c.Sorted.Of)
		if c.Column != nil {
			fmt.Fprintf(out, "; as %v %s", c.Relabelled, number(c.Column.Nats))
		}
		out.WriteString("\n")
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
