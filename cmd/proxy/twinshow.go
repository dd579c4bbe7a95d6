package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/twin/build"
)

// show prints the list of twins that are there, of the datasets if some are named, and how their columns are shown.
func (w *twins) show(
	ctx context.Context, conn *pgx.Conn, datasets []string, stdout io.Writer, asJSON bool,
) error {
	all, err := build.Twins(ctx, conn)
	if err != nil {
		return fmt.Errorf("reading the list of twins: %w", err)
	}
	if len(datasets) > 0 {
		all = slices.DeleteFunc(all, func(x build.Twin) bool { return !slices.Contains(datasets, x.Dataset) })
	}
	if asJSON {
		return printJSON(stdout, orNone(all))
	}
	if len(all) == 0 {
		fmt.Fprintln(stdout, "there is no twin; make one with: fugu twin build")
		return nil
	}

	t := table{head: "dataset table built +rows +different told +epsilon +delta assumes"}
	for _, x := range all {
		var told []string
		for i, class := range x.Classes {
			told = append(told, fmt.Sprintf("%s: %d", class, x.Told[i]))
		}
		// Rows of a linked table come with those of its root, as often as these stand.
		var different any = x.Sampled
		if len(x.Classes) == 0 {
			different = ""
		}
		t.row(x.Dataset, x.Schema+"."+x.Table, x.Built.Format("2006-01-02 15:04"), x.Rows, different,
			strings.Join(told, "; "), x.Epsilon, x.Delta, x.Assumes)
	}

	if err := t.write(stdout); err != nil {
		return err
	}
	for _, x := range all {
		printColumns(stdout, x)
	}
	return nil
}

// printColumns prints how columns of a twin are shown row by row.
func printColumns(stdout io.Writer, x build.Twin) {
	for _, c := range x.Columns {
		fmt.Fprintf(stdout, "   %s.%s: %s\n", x.Schema, x.Table, c.Promise)
	}
}

// orNone is an empty list, and not null, in JSON.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
