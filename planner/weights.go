package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
)

// weights finds the protected columns that an argument is made of, where it is negative only if one of these is. It is
// not ok where the text itself may give what it sums either sign, or an ordinary table may.
func (b *Bound) weights(e parser.Expr) (of []parser.Column, ok bool) {
	switch e := e.(type) {
	case parser.Column:
		return b.weightsOfColumn(e)
	case parser.Const:
		return nil, !strings.Contains(e.Text, "-")
	case parser.Cast:
		return b.weights(e.X)
	case parser.Case:
		results := []parser.Expr{}
		for _, w := range e.Whens {
			results = append(results, w.Result)
		}
		if e.Else != nil {
			results = append(results, e.Else)
		}
		return b.weightsOf(results)
	case parser.Call:
		return b.weightsOf(e.Args)
	case parser.Binary:
		switch e.Op {
		case "*", "+", "/":
			return b.weightsOf([]parser.Expr{e.L, e.R})
		case "=", "<>", "<", ">", "<=", ">=":
			return nil, true // as a number it is 0 or 1
		}
	case parser.Unary:
		return nil, e.Postfix || e.Op == "NOT"
	case parser.Logic, parser.In, parser.Between, parser.Like, parser.Any, parser.Semi:
		return nil, true
	}
	return nil, false
}

// weightsOfColumn is weights of a column. Of types that are no numbers it would have to be known what a cast makes of a
// value; of true and false it is known.
func (b *Bound) weightsOfColumn(c parser.Column) (of []parser.Column, ok bool) {
	t := b.sources.tables[c.Rel]
	if t == nil {
		return nil, false
	}
	typ, err := t.ColumnType(c.Name)
	if err != nil {
		return nil, false
	}
	switch name, _, _ := strings.Cut(typ, "("); name {
	case "smallint", "integer", "bigint", "numeric", "real", "double precision":
		return []parser.Column{{Name: c.Name, Rel: c.Rel}}, true
	case "boolean":
		return nil, true
	}
	return nil, false
}

func (b *Bound) weightsOf(list []parser.Expr) (of []parser.Column, ok bool) {
	for _, e := range list {
		more, ok := b.weights(e)
		if !ok {
			return nil, false
		}
		of = append(of, more...)
	}
	return of, true
}

// Negative reports whether the reference has a row in which one of the columns that a choice weighs by is below 0.
func (b *Bound) Negative(ctx context.Context, ref Querier, choice Choice) (bool, error) {
	for _, c := range choice.Weights {
		some, err := b.hasRow(ctx, ref, c.Rel, parser.SQL(c, "t", nil)+" < 0")
		if err != nil {
			return false, fmt.Errorf("looking for values of %s below 0: %w", c.Name, err)
		}
		if some {
			return true, nil
		}
	}
	return false, nil
}

// weighed is a choice's Combined and Weights: what tells combinations apart, if no sum over them can be 0 but by each.
func (b *Bound) weighed(list []tells, among func(aggregate int) bool) (combined Told, of []parser.Column) {
	for i, a := range b.cut.Aggregates {
		if !among(i) || a.Func == "count" {
			continue
		}
		more, ok := b.weightsOf(a.Args)
		if !ok {
			return Told{}, nil
		}
		of = append(of, more...)
	}
	if combined = b.combinedBy(list); combined.None() {
		return combined, nil
	}

	// Each column is looked at once.
	slices.SortFunc(of, func(x, y parser.Column) int {
		return strings.Compare(columnSQL(x.Name, x.Rel), columnSQL(y.Name, y.Rel))
	})
	return combined, slices.Compact(of)
}
