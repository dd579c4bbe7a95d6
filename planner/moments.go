package planner

import (
	"strconv"

	"fugu/parser"
)

// Moments composes the statement over the references whose rows give the class moments of the terms, split by the
// secrets' predicates. A row holds: the Head; one boolean for each secret; the number of rows; for each Term but the
// first its sum; for each pair i ≤ j of those the sum of the product; and for each Term that is a Sum the sum of |x|,
// the number of x ≠ 0, and the least and greatest x. With joins x is the sum over all that belongs to one row of the
// root.
func (b *Bound) Moments() string {
	keys, inner := b.inner(true, func(t Term) string {
		switch {
		case t.Indicator:
			return "CASE WHEN (" + t.arg + ") IS NULL THEN 0::pg_catalog.float8 ELSE 1::pg_catalog.float8 END"
		case t.Low != "":
			return "CASE WHEN (" + t.arg + ") IS NULL THEN 0 ELSE LEAST(GREATEST(CAST(" + t.arg + " AS pg_catalog.float8), " + t.Low + "), " + t.High + ") END"
		}
		return "COALESCE(CAST(" + t.arg + " AS pg_catalog.float8), 0::pg_catalog.float8)"
	})
	var secrets []string
	for i := range b.Table.Secrets {
		secrets = append(secrets, "s"+strconv.Itoa(i))
	}
	from := "(" + inner + ") AS q"
	columns, group := b.head(keys, secrets)
	if !b.sources.single() {
		from = "(" + b.perRoot(inner, keys, secrets) + ") AS q"
		columns, group = b.regroup(keys, secrets)
	}
	columns = append(append(columns, secrets...), "pg_catalog.count(*)")
	h := func(i int) string { return "h" + strconv.Itoa(i) }
	for i := 1; i < len(b.Terms); i++ {
		columns = append(columns, "pg_catalog.sum("+h(i)+")")
	}
	for i := 1; i < len(b.Terms); i++ {
		for j := i; j < len(b.Terms); j++ {
			columns = append(columns, "pg_catalog.sum("+h(i)+" * "+h(j)+")")
		}
	}
	for i, t := range b.Terms {
		if t.Sum {
			columns = append(columns, "pg_catalog.sum(pg_catalog.abs("+h(i)+"))", "pg_catalog.count(NULLIF("+h(i)+", 0))", "pg_catalog.min("+h(i)+")", "pg_catalog.max("+h(i)+")")
		}
	}
	return selectSQL(columns, from, "", group)
}

// ClassTotals composes the statement that counts the reference's rows by the secrets' predicates: a row holds one
// boolean for each secret and the number of rows.
func (t *Table) ClassTotals() string {
	var cols, group []string
	for i, s := range t.Secrets {
		cols = append(cols, "("+parser.SQL(s.Predicate, "t", nil)+") IS TRUE")
		group = append(group, strconv.Itoa(i+1))
	}
	return selectSQL(append(cols, "pg_catalog.count(*)"), t.Reference+" AS t", "", group)
}
