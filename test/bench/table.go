package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// table prints aligned columns under a title.
type table struct{ w *tabwriter.Writer }

func newTable(title string, columns ...string) table {
	fmt.Printf("\n%s\n", title)
	t := table{tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	t.row(columns...)
	return t
}

func (t table) row(cells ...string) { fmt.Fprintln(t.w, "  "+strings.Join(cells, "\t")) }

func (t table) flush() error { return t.w.Flush() }

// quantile is the smallest value that at least the share q of them does not exceed; NaN without values.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func median(values []float64) float64 { return quantile(values, 0.5) }

func ratio(v, base float64) string {
	if v < base/20 {
		return fmt.Sprintf("%.4f", v/base)
	}
	return fmt.Sprintf("%.2f", v/base)
}
