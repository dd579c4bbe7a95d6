package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"fugu/twin"
	"fugu/twin/margin"
)

// knownRows are the numbers of known rows for which preview says what they would tell.
var knownRows = []int64{0, 1, 10, 100, 1000}

// twinPreview is what a twin of a table would be, from its policy alone.
type twinPreview struct {
	Dataset   string            `json:"dataset"`
	Table     string            `json:"table"`
	Mechanism string            `json:"mechanism"`
	Public    map[string]int64  `json:"public,omitempty"` // rows of each public cell
	Epsilon   float64           `json:"epsilon"`
	Delta     float64           `json:"delta"`
	Tables    []twinPreviewRow  `json:"tables"`
	Known     []twinPreviewLoss `json:"known"`
}

// twinPreviewRow is what to expect if the table had these counts of the classes.
type twinPreviewRow struct {
	Counts map[string]int64         `json:"counts"`
	Expect map[string]twin.Expected `json:"expect"`
	Groups map[string]float64       `json:"groups"` // the relative error of the count of such a part of the table
}

// twinPreviewLoss is what who knows so many rows can tell.
type twinPreviewLoss struct {
	Rows    int64    `json:"rows"`
	Epsilon *float64 `json:"epsilon"` // nil: no epsilon bounds it
}

// previewGroups are parts of a table whose count's error preview shows.
var previewGroups = []struct {
	name string
	part float64
}{{"a tenth", .1}, {"a hundredth", .01}, {"a thousandth", .001}}

// preview says what the twins would be. It opens no database and spends nothing.
func (w *twins) preview(stdout io.Writer, asJSON bool) error {
	all := []twinPreview{}
	for _, root := range w.roots {
		spec, err := margin.Spec(root.policy, root.table.Qualified(), func(string) bool { return false })
		if err != nil {
			return fmt.Errorf("the twin of %s: %w", root.table.Qualified(), err)
		}
		d, err := twin.New(spec)
		if err != nil {
			return fmt.Errorf("the twin of %s: %w", root.table.Qualified(), err)
		}
		all = append(all, previewOf(root, spec, d))
	}

	// All of them can be made, or nothing is printed.
	if asJSON {
		return printJSON(stdout, all)
	}
	for _, p := range all {
		if err := p.print(stdout); err != nil {
			return err
		}
	}
	return nil
}

// previewOf says what a twin would be: for each table that the secret lets be, how its classes and groups would be
// told, and what known rows would add to that.
func previewOf(root twinRoot, spec twin.Spec, d *twin.Design) twinPreview {
	p := twinPreview{Dataset: root.policy.Dataset, Table: root.table.Qualified().String(), Mechanism: d.String(),
		Public: d.Cells(), Epsilon: d.Epsilon, Delta: d.Delta}
	tables := d.Tables()
	for _, counts := range tables {
		row := twinPreviewRow{
			Counts: map[string]int64{}, Expect: map[string]twin.Expected{}, Groups: map[string]float64{},
		}
		for i, e := range d.Expect(counts) {
			row.Counts[d.Classes[i].Name], row.Expect[d.Classes[i].Name] = counts[i], e
		}
		for _, g := range previewGroups {
			group := make([]int64, len(counts))
			for i, n := range counts {
				group[i] = int64(math.Round(g.part * float64(n)))
			}
			row.Groups[g.name] = d.CountError(counts, group)
		}
		p.Tables = append(p.Tables, row)
	}

	// The more rows somebody knows, the more the twin tells them of the others.
	for i, k := range knownRows {
		if i > 0 && p.Known[i-1].Epsilon == nil { // more rows tell no less
			p.Known = append(p.Known, twinPreviewLoss{Rows: k})
			continue
		}
		loss, ok := lossOf(spec, d, k)
		if !ok {
			break
		}
		p.Known = append(p.Known, loss)
	}
	return p
}

// lossOf is what who knows k rows can tell of two tables that nobody may tell apart, each of the examples and the next
// that is as far from it as a pair can be, whichever are worst: between tables in the middle of a range it can be
// little where near its ends nothing bounds it.
func lossOf(spec twin.Spec, d *twin.Design, k int64) (loss twinPreviewLoss, ok bool) {
	worst := 0.
	for _, counts := range d.Tables() {
		other, found := partner(spec, d, counts)
		if !found {
			continue
		}
		if worst, ok = max(worst, d.Loss(k, counts, other, d.Delta)), true; math.IsInf(worst, 0) {
			return twinPreviewLoss{Rows: k}, true
		}
	}
	return twinPreviewLoss{Rows: k, Epsilon: &worst}, ok
}

// partner is a table that the policy protects against one with these counts: rows of the first class are of the second,
// of each public cell as many as its part of the table.
func partner(spec twin.Spec, d *twin.Design, counts []int64) ([]int64, bool) {
	if len(spec.Secrets) != 1 || len(spec.Secrets[0].Spans) == 0 || spec.Secrets[0].Nullable {
		return nil, false
	}
	within := spec.Secrets[0].Spans[0].Within
	for _, sign := range []float64{-1, 1} {
		other := slices.Clone(counts)
		for c := 0; c < len(counts); c += 2 {
			move := int64(sign * math.Floor(within*float64(counts[c]+counts[c+1])))
			other[c], other[c+1] = counts[c]+move, counts[c+1]-move
		}
		if d.Covers(other) {
			return other, true
		}
	}
	return nil, false
}

func (p twinPreview) print(stdout io.Writer) error {
	fmt.Fprintf(stdout, "%s, dataset %s\n", coloured(stdout, inBold, p.Table), p.Dataset)
	for _, cell := range slices.Sorted(maps.Keys(p.Public)) {
		fmt.Fprintf(stdout, "   public: %s: %d rows, exactly\n", cell, p.Public[cell])
	}
	fmt.Fprintf(stdout, "   noise: %s\n", p.Mechanism)
	fmt.Fprintf(stdout, "   price: epsilon %g, delta %g, once, whatever is asked of it; rests on: exchangeable\n\n",
		p.Epsilon, p.Delta)

	fmt.Fprintln(stdout, "If the table had so many rows of each class, so many would be taken of it, "+
		"and so far off would be the number")
	fmt.Fprintln(stdout, "told and the counts of groups of 10%, 1% and 0.1% of the table (root mean square):")
	t := table{head: "+rows class +taken +told +10% +1% +0.1%"}
	for _, row := range p.Tables {
		// What is off about a group is so for the table as a whole, and stands with its first class.
		for i, name := range slices.Sorted(maps.Keys(row.Counts)) {
			e := row.Expect[name]
			cells := []any{row.Counts[name], name, fmt.Sprintf("%.0f", e.Taken), fmt.Sprintf("±%.0f", e.Noise)}
			for _, g := range previewGroups {
				off := ""
				if i == 0 {
					off = fmt.Sprintf("±%.1f%%", 100*row.Groups[g.name])
				}
				cells = append(cells, off)
			}
			t.row(cells...)
		}
	}

	if err := t.write(stdout); err != nil {
		return err
	}
	p.printKnown(stdout)
	fmt.Fprintln(stdout)
	return nil
}

// printKnown says what known rows tell, up to the number from which on nothing bounds it.
func (p twinPreview) printKnown(stdout io.Writer) {
	if len(p.Known) == 0 {
		return
	}
	fmt.Fprintf(stdout, "\nWhat who knows rows of the table one by one can tell, at delta %g "+
		"(the policy's known_rows are paid for):\n", p.Delta)
	for _, k := range p.Known {
		rows := fmt.Sprintf("%d rows of one class", k.Rows)
		if k.Rows == 1 {
			rows = "1 row"
		}
		if k.Epsilon == nil {
			fmt.Fprintf(stdout, "   %s or more: no epsilon bounds it\n", rows)
			return
		}
		fmt.Fprintf(stdout, "   %s: epsilon %.2f\n", rows, *k.Epsilon)
	}
}
