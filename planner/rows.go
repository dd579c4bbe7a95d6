package planner

import (
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
)

// head writes the columns of the Head, and what to group by: keys, in the cut's sets, with others in every set.
func (b *Bound) head(keys, others []string) (columns, group []string) {
	for _, k := range keys {
		columns = append(columns, "("+k+")::pg_catalog.text")
	}
	if b.Sets == nil {
		return columns, append(append([]string(nil), keys...), others...)
	}

	// The value of GROUPING tells the sets apart.
	if len(keys) > 0 {
		columns = append(columns, "GROUPING("+strings.Join(keys, ", ")+")")
	} else {
		columns = append(columns, "0")
	}

	var sets []string
	for _, set := range b.Sets {
		var in []string
		for _, k := range set {
			in = append(in, keys[k])
		}
		sets = append(sets, "("+strings.Join(append(in, others...), ", ")+")")
	}
	return columns, []string{"GROUPING SETS (" + strings.Join(sets, ", ") + ")"}
}

// inner composes the statement that has a row for each row that the cut reads: its keys k0, ..., over references the
// secrets' labels and numbers s0, ..., the bases h1, ..., the arguments of sampled aggregates as they are given, and
// where it is wanted the place r0, r1 of the root's row.
func (b *Bound) inner(
	reference, placed bool, base func(int) string, sampled ...func(int) string,
) (names []string, sql string) {
	root := parser.Alias("t", b.sources.root)
	keys, columns := b.selected(root, reference, base)
	for _, text := range sampled {
		for _, i := range b.sampled() {
			columns = append(columns, text(i))
		}
	}
	if placed {
		columns = append(columns, place(root)...)
	}
	return keys, parser.SelectSQL(columns, b.from(reference), b.forms.whereSQL(b.number), nil)
}

// place is where a row of the root is: ctid alone is the place in one partition.
func place(root string) []string {
	return []string{root + ".tableoid AS r0", root + ".ctid AS r1"}
}

// selected writes the keys k0, ..., the secrets' labels and numbers s0, ..., and the bases h1, ... .
func (b *Bound) selected(root string, secrets bool, base func(int) string) (keys, columns []string) {
	for i, k := range b.keys() {
		keys = append(keys, "k"+strconv.Itoa(i))
		columns = append(columns, k+" AS "+keys[i])
	}

	// A secret about a mean is written as the number that it is the mean of, any other as the label of a class.
	if secrets {
		for i, s := range b.Table.Secrets {
			what := s.Mean
			if s.Number == nil {
				what = s.Label
			}
			columns = append(columns, what(root)+" AS s"+strconv.Itoa(i))
		}
	}

	for i := range b.Bases {
		if base != nil {
			columns = append(columns, base(i)+" AS "+column(i))
		}
	}
	return keys, columns
}

// classLabels names the columns that tell the classes of those secrets that have any.
func classLabels(t *Table) []string {
	var out []string
	for i, s := range t.Secrets {
		if s.Number == nil {
			out = append(out, "s"+strconv.Itoa(i))
		}
	}
	return out
}

// perRoot sums the bases over what belongs to each row of the root, in each cell.
func (b *Bound) perRoot(inner string, keys, secrets []string) string {
	group := secrets
	if !slices.Contains(secrets, "r0") {
		group = append([]string{"r0", "r1"}, secrets...)
	}
	_, group = b.head(keys, group)
	columns := append([]string(nil), keys...)
	if b.Sets != nil && len(keys) > 0 {
		columns = append(columns, "GROUPING("+strings.Join(keys, ", ")+") AS g")
	} else if b.Sets != nil {
		columns = append(columns, "0 AS g")
	}
	columns = append(columns, secrets...)
	for i := range b.Bases {
		columns = append(columns, "pg_catalog.sum("+column(i)+") AS "+column(i))
	}
	return parser.SelectSQL(columns, "("+inner+") AS q", "", group)
}

// regroup writes the columns of the Head, and what to group by, over perRoot.
func (b *Bound) regroup(keys, secrets []string) (columns, group []string) {
	if b.Sets == nil {
		return b.head(keys, secrets)
	}
	for _, k := range keys {
		columns = append(columns, k+"::pg_catalog.text")
	}
	return append(columns, "g"), append(append(append(group, keys...), "g"), secrets...)
}
