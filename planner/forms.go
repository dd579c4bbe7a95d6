package planner

import (
	"strings"

	"fugu/parser"
	"fugu/planner/row"
)

// forms are the expressions below a cut as they are evaluated.
type forms struct {
	keys  []parser.Expr
	args  [][]parser.Expr // of each aggregate; none: every row counts
	where []parser.Expr
	on    map[int]parser.Expr // of LEFT JOIN, by Rel
}

// written are the expressions as the client wrote them.
func (c *Cut) written() forms {
	f := forms{where: c.sources.where, on: map[int]parser.Expr{}}
	for _, k := range c.cut.Keys {
		f.keys = append(f.keys, k.Expr)
	}
	for _, a := range c.cut.Aggregates {
		f.args = append(f.args, a.Args)
	}
	for _, s := range c.sources.list {
		if s.Left {
			f.on[s.Rel] = s.On
		}
	}
	return f
}

// roots lists the expressions below the cut, in the order of all.
func (f forms) roots(c *Cut) []row.Root {
	var out []row.Root
	for _, k := range f.keys {
		out = append(out, row.Root{Expr: k})
	}

	// Of an aggregate's arguments the first tells its type.
	for i, args := range f.args {
		for k, arg := range args {
			root := c.Aggregates[i].Sampled.root(c.cut.Aggregates[i], arg)
			root.Further = k > 0
			out = append(out, root)
		}
	}

	for _, s := range c.sources.list {
		if s.On != nil {
			out = append(out, row.Root{Condition: true, Expr: s.On})
		}
	}
	if len(f.where) > 0 {
		out = append(out, row.Root{Condition: true, Expr: parser.Logic{Op: "AND", Args: f.where}})
	}
	return out
}

func (f forms) whereSQL(number map[int]int) string {
	var parts []string
	for _, e := range f.where {
		parts = append(parts, parser.SQL(e, "t", number))
	}
	return strings.Join(parts, " AND ")
}
