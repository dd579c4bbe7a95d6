package planner

import (
	"slices"
	"strconv"

	"fugu/internal/hook"
	"fugu/parser"
)

// Statistics is the statement that the reader runs on the protected tables. Its rows hold the Head, then the sum of
// each term that an aggregate is made of, in their order, and the value of each Sampled aggregate, in text. Its
// parameters are those of Arguments: two for each Base that is no Indicator, and one for each domain.
func (b *Bound) Statistics() string { return b.statistics }

// Reading is Statistics as the reader runs it: which blocks it reads does not depend on what is in protected rows.
func (b *Bound) Reading() (string, error) {
	if hook.ReadLazily {
		return b.statistics, nil
	}
	var protected []parser.Table
	for _, s := range b.sources.list {
		if !s.Table.Ordinary {
			protected = append(protected, s.Table)
		}
	}
	return parser.ReadWhole(b.statistics, b.Ordinary, protected)
}

// Summed lists the terms that the statistics statement sums.
func (b *Bound) Summed() []int {
	var out []int
	for i := range b.Terms {
		summed := func(a Aggregate) bool { return a.Sampled == nil && slices.Contains(a.Terms, i) }
		if slices.ContainsFunc(b.Aggregates, summed) {
			out = append(out, i)
		}
	}
	return out
}

// compose writes the statistics statement: once, since each answer is known again by it. What stands for a base in an
// expression is NULL where the base has no value.
func (b *Bound) compose() string {
	if !b.once {
		return b.joined()
	}

	// The limits of each base are two parameters, and behind them are the domains.
	summed := b.Summed()
	bases := make([]string, len(b.Bases))
	next := 1
	for i, x := range b.Bases {
		if !x.Indicator {
			value := clamp("CAST("+x.args[0]+" AS "+x.exact()+")", next, x.exact())
			bases[i] = "CASE WHEN (" + x.args[0] + ") IS NOT NULL THEN " + value + " END"
			next += 2
		}
	}
	params := b.domainParams(next)
	argument := func(i int) string { // of a sampled aggregate
		x := b.sql(b.forms.args[i][0])
		if k := b.argument(i); k >= 0 {
			x = bases[k]
		}
		return b.among(i, x, params[i])
	}

	from, where, keys := b.from(false), b.forms.whereSQL(b.number), b.keys()
	if slices.ContainsFunc(summed, func(i int) bool { return len(b.Terms[i].Factors) > 1 }) {
		// Their factors are evaluated once.
		var inner string
		keys, inner = b.inner(false, false, func(i int) string {
			if x := b.Bases[i]; x.Indicator {
				return "CASE WHEN (" + x.given[0] + ") IS NOT NULL THEN 1 END"
			}
			return bases[i]
		}, func(i int) string { return argument(i) + " AS " + distinctColumn(i) })
		argument = distinctColumn
		from, where = "("+inner+") AS q", ""
		for i := range bases {
			bases[i] = column(i)
		}
	}

	columns, group := b.head(keys, nil)
	for _, i := range summed {
		columns = append(columns, b.sum(b.Terms[i], bases))
	}
	for _, i := range b.sampled() {
		columns = append(columns, b.evaluate(i, argument))
	}
	return parser.SelectSQL(columns, from, where, group)
}

// sum writes the sum of a term. An indicator that is no column of a subquery is counted as it is.
func (b *Bound) sum(t Term, bases []string) string {
	switch of := t.Factors; {
	case len(of) == 0:
		return "pg_catalog.count(*)"
	case len(of) == 1 && b.Bases[of[0]].Indicator && bases[of[0]] == "":
		return "pg_catalog.count(" + b.Bases[of[0]].given[0] + ")"
	default:
		return "pg_catalog.sum(" + times(of, func(i int) string { return bases[i] }) + ")"
	}
}

// joined composes the statement where rows are joined: what belongs to one row of the root is summed first, and
// bounded.
func (b *Bound) joined() string {
	keys, inner := b.inner(false, true, func(i int) string {
		// What is far beyond every bound need not be summed as it is: sums that large would overflow.
		return between(b.Bases[i].value("pg_catalog.numeric", ""), "-1e300", "1e300")
	})
	columns, group := b.regroup(keys, nil)
	for _, i := range b.Summed() {
		base := b.Terms[i].Factors[0]
		columns = append(columns, "pg_catalog.sum("+b.bounded(base)+")")
	}
	return parser.SelectSQL(columns, "("+b.perRoot(inner, keys, nil)+") AS q", "", group)
}

// bounded is a base's sum over what belongs to a row of the root, within the limits of its grouping set.
func (b *Bound) bounded(base int) string {
	n := b.LimitSets()
	within := func(set int) string { return clamp(column(base), 2*(base*n+set)+1, "pg_catalog.numeric") }
	if n == 1 {
		return within(0)
	}
	out := "CASE g"
	for set, keys := range b.Sets {
		out += " WHEN " + strconv.Itoa(b.mask(keys)) + " THEN " + within(set)
	}
	return out + " END"
}

func clamp(x string, param int, typ string) string {
	if hook.NoClamp {
		return x
	}
	return between(x, "$"+strconv.Itoa(param)+"::"+typ, "$"+strconv.Itoa(param+1)+"::"+typ)
}

// among writes the argument of a distinct aggregate, NULL where it is none of the public values; these are parameter
// number param.
func (b *Bound) among(aggregate int, x, param string) string {
	if b.Aggregates[aggregate].Sampled.Domain == nil {
		return x
	}
	text := "(" + b.sql(b.forms.args[aggregate][0]) + ")::pg_catalog.text"
	return "CASE WHEN " + text + " = ANY (" + param + "::pg_catalog.text[]) THEN " + x + " END"
}

// distinctColumn is the name in a subquery of what a distinct aggregate is over.
func distinctColumn(aggregate int) string { return "d" + strconv.Itoa(aggregate+1) }

// evaluate writes a sampled aggregate over what rows are evaluated to: bases gives the bounded arguments.
func (b *Bound) evaluate(aggregate int, argument func(aggregate int) string) string {
	s, x := b.Aggregates[aggregate].Sampled, argument(aggregate)
	switch s.Kind {
	case Continuous:
		return "pg_catalog.percentile_cont(" + s.fraction + ")" +
			" WITHIN GROUP (ORDER BY CAST(" + x + " AS pg_catalog.float8))"
	case Discrete:
		return "pg_catalog.percentile_disc(" + s.fraction + ") WITHIN GROUP (ORDER BY " + x + ")"
	case DistinctCount:
		return "pg_catalog.count(DISTINCT " + x + ")"
	case DistinctSum:
		return "pg_catalog.sum(DISTINCT " + x + ")"
	}
	return "pg_catalog.avg(DISTINCT " + x + ")"
}

// domainParams are the parameters of the statistics statement that hold domains, from the number first on: an array for
// each sampled aggregate that has one.
func (b *Bound) domainParams(first int) map[int]string {
	out := map[int]string{}
	for _, i := range b.sampled() {
		if b.Aggregates[i].Sampled.Domain != nil {
			out[i] = "$" + strconv.Itoa(first)
			first++
		}
	}
	return out
}
