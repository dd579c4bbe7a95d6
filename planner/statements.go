package planner

import (
	"math/big"
	"strconv"
	"strings"

	"fugu/internal/hook"
	"fugu/parser"
)

// Head is the number of columns by which a row of the statements says what cell it is of: the keys and, with grouping
// sets, which of them it groups by.
func (c *Cut) Head() int {
	if c.Sets == nil {
		return len(c.Keys)
	}
	return len(c.Keys) + 1
}

// sql prints an expression below the cut.
func (b *Bound) sql(e parser.Expr) string { return parser.SQL(e, "t", b.number) }

// from prints the FROM clause over the protected tables, or over their references.
func (b *Bound) from(reference bool) string {
	return b.sources.from(b.forms.on, b.number, reference)
}

func (b *Bound) keys() []string {
	var out []string
	for _, k := range b.forms.keys {
		out = append(out, b.sql(k))
	}
	return out
}

// Statistics is the statement that the reader runs on the protected tables. Its rows hold the Head, then the aggregates,
// in text. It takes two parameters for each Term that is a Sum: see Arguments.
func (b *Bound) Statistics() string { return b.statistics }

// compose writes the statistics statement: once, since each answer is known again by it.
func (b *Bound) compose() string {
	if !b.sources.single() {
		return b.joined()
	}
	columns, group := b.head(b.keys(), nil)
	next := 1
	clamped := map[int]string{}
	for i, t := range b.Terms {
		if t.Sum {
			clamped[i] = "CASE WHEN (" + t.arg + ") IS NOT NULL THEN " + clamp("CAST("+t.arg+" AS "+t.exact()+")", next, t.exact()) + " END"
			next += 2
		}
	}
	for _, a := range b.Aggregates {
		arg := "*"
		switch {
		case a.Sum >= 0:
			arg = clamped[a.Sum]
		case a.Count > 0:
			arg = b.Terms[a.Count].arg
		}
		columns = append(columns, "pg_catalog."+a.Func+"("+arg+")")
	}
	return selectSQL(columns, b.from(false), b.forms.whereSQL(b.number), group)
}

// joined composes the statement where rows are joined: what belongs to one row of the root is summed first, and bounded.
func (b *Bound) joined() string {
	keys, inner := b.inner(false, func(t Term) string {
		// What is far beyond every bound need not be summed as it is: sums that large would overflow.
		return "LEAST(GREATEST(COALESCE(CAST(" + t.arg + " AS pg_catalog.numeric), 0), -1e300), 1e300)"
	})
	from := "(" + b.perRoot(inner, keys, nil) + ") AS q"
	columns, group := b.regroup(keys, nil)
	h := make([]string, len(b.Terms))
	for i := range b.Terms {
		if i > 0 {
			h[i] = "pg_catalog.sum(" + clamp("h"+strconv.Itoa(i), 2*i-1, "pg_catalog.numeric") + ")"
		}
	}
	for _, a := range b.Aggregates {
		switch a.Func {
		case "count":
			columns = append(columns, h[a.Count])
		case "sum":
			columns = append(columns, h[a.Sum])
		default:
			columns = append(columns, h[a.Sum]+" / NULLIF("+h[a.Count]+", 0)")
		}
	}
	return selectSQL(columns, from, "", group)
}

// exact is the type in which a term's values are bounded and summed: neither overflow nor the order of rows can show in a
// sum of it.
func (t Term) exact() string {
	switch {
	case t.whole:
		return "pg_catalog.int8"
	case hook.FloatSums:
		return "pg_catalog.float8"
	}
	return "pg_catalog.numeric"
}

func clamp(x string, param int, typ string) string {
	if hook.NoClamp {
		return x
	}
	return "LEAST(GREATEST(" + x + ", $" + strconv.Itoa(param) + "::" + typ + "), $" + strconv.Itoa(param+1) + "::" + typ + ")"
}

// Arguments are the parameters of Statistics, in text form, and their types. limits has an entry for each Term.
func (b *Bound) Arguments(limits []Limit) (values [][]byte, types []uint32) {
	for i, t := range b.Terms {
		if !t.Sum {
			continue
		}
		low, high := limits[i].Low, limits[i].High
		if t.whole {
			values = append(values, []byte(floor(low).String()), []byte(new(big.Int).Neg(floor(new(big.Rat).Neg(high))).String()))
			types = append(types, oidInt8, oidInt8)
		} else {
			values = append(values, []byte(decimal(low)), []byte(decimal(high)))
			types = append(types, oidNumeric, oidNumeric)
		}
	}
	return values, types
}

func floor(x *big.Rat) *big.Int {
	return new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: rounds down, the denominator being positive
}

// decimal writes x, a binary fraction, exactly.
func decimal(x *big.Rat) string { return x.FloatString(max(0, x.Denom().BitLen()-1)) }

// head writes the columns of the Head, and what to group by: keys, in the cut's sets, with others in every set.
func (b *Bound) head(keys, others []string) (columns, group []string) {
	for _, k := range keys {
		columns = append(columns, "("+k+")::pg_catalog.text")
	}
	if b.Sets == nil {
		return columns, append(append([]string(nil), keys...), others...)
	}
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

// inner composes the statement that has a row for each row that the cut reads: its keys k0, ..., the secrets' predicates
// s0, ... over references, the terms h1, ..., and with joins the place r0, r1 of the root's row.
func (b *Bound) inner(reference bool, term func(Term) string) (keys []string, sql string) {
	var columns []string
	for i, k := range b.keys() {
		keys = append(keys, "k"+strconv.Itoa(i))
		columns = append(columns, k+" AS "+keys[i])
	}
	root := parser.Alias("t", b.sources.root)
	if reference {
		for i, s := range b.Table.Secrets {
			columns = append(columns, "("+parser.SQL(s.Predicate, root, nil)+") IS TRUE AS s"+strconv.Itoa(i))
		}
	}
	for i, t := range b.Terms {
		if i > 0 {
			columns = append(columns, term(t)+" AS h"+strconv.Itoa(i))
		}
	}
	if !b.sources.single() {
		// ctid alone is the place in one partition.
		columns = append(columns, root+".tableoid AS r0", root+".ctid AS r1")
	}
	return keys, selectSQL(columns, b.from(reference), b.forms.whereSQL(b.number), nil)
}

// perRoot sums the terms over what belongs to each row of the root, in each cell.
func (b *Bound) perRoot(inner string, keys, secrets []string) string {
	_, group := b.head(keys, append([]string{"r0", "r1"}, secrets...))
	columns := append([]string(nil), keys...)
	if b.Sets != nil && len(keys) > 0 {
		columns = append(columns, "GROUPING("+strings.Join(keys, ", ")+") AS g")
	} else if b.Sets != nil {
		columns = append(columns, "0 AS g")
	}
	columns = append(columns, secrets...)
	for i := range b.Terms {
		if i > 0 {
			columns = append(columns, "pg_catalog.sum(h"+strconv.Itoa(i)+") AS h"+strconv.Itoa(i))
		}
	}
	return selectSQL(columns, "("+inner+") AS q", "", group)
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

func selectSQL(columns []string, from, where string, group []string) string {
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM " + from
	if where != "" {
		sql += " WHERE " + where
	}
	if len(group) > 0 {
		sql += " GROUP BY " + strings.Join(group, ", ")
	}
	return sql
}
