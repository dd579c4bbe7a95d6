package parser

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

// Where several rows of FROM go with one row of the root, they are drawn or left out together: rows of a linked table,
// or of a join. The root's rows are what was drawn, so that the error is that of a sum over them, each with the sum of
// what its rows add: the formula of samplingError holds with Σ y_j and Σ y_j² over the root's rows j in the place of
// sums over rows, y_j being how many rows of j are in the group, the sum of x over them, or, for an average, the sum of
// (x - avg)/count. Ten visits of one patient are one draw, and not ten.
//
// The sums by root are made of arrays of the group's keys and values, which are aggregates like any other and may
// stand wherever the call stands. All that is read is the twin's: its rows, and its list of builds.

// clusterParts say by statistic what y_j is, of n values with the sum s of a row of the root; tn, ts and m are the sums
// over all of them, and how many of them there are. The second is what Σ y_j² is multiplied with: the deviation of an
// average is that from a mean which is of the same rows.
var clusterParts = map[string][2]string{
	"count": {`"fugu y".n`, `1`},
	"sum":   {`"fugu y".s`, `1`},
	"avg": {`("fugu y".s - "fugu y".ts / NULLIF("fugu y".tn, 0) * "fugu y".n) / NULLIF("fugu y".tn, 0)`,
		`"fugu y".m / NULLIF("fugu y".m - 1, 0)`},
}

// clusterSQL is the deviation of a statistic, given its part and factor, the arrays, the root's rows and constants.
const clusterSQL = `(SELECT CASE WHEN pg_catalog.bool_or("fugu v".v IS NULL) THEN NULL
	ELSE pg_catalog.sqrt(pg_catalog.abs(COALESCE(pg_catalog.sum("fugu v".v), 0))) END
FROM (SELECT pg_catalog.sum("fugu d".drawn) + pg_catalog.sum("fugu d".moved ^ 2)
		- pg_catalog.sum("fugu d".moved) ^ 2 / pg_catalog.max("fugu d".classes) AS v
	FROM (SELECT "fugu s".cell, "fugu s".squares * COALESCE("fugu rates".r, %[1]s)
			- COALESCE("fugu rates".r * "fugu s".part ^ 2 / "fugu rates".told, 0) AS drawn,
			CASE WHEN "fugu rates".class IS NULL THEN %[2]s
				ELSE "fugu rates".noise * pg_catalog.sqrt("fugu rates".classes / GREATEST("fugu rates".classes - 1, 1))
					* "fugu s".part / "fugu rates".told END AS moved,
			COALESCE("fugu rates".classes, 1e300) AS classes
		FROM (SELECT "fugu a".class, ("fugu a".class - 1) / %[3]d AS cell, pg_catalog.sum("fugu a".a) AS part,
				pg_catalog.sum("fugu a".a ^ 2) * pg_catalog.max("fugu a".factor) AS squares,
				pg_catalog.sum(pg_catalog.abs("fugu a".a)) AS reach
			FROM (SELECT "fugu y".class, %[4]s AS a,
					pg_catalog.max(%[5]s) OVER () AS factor
				FROM (SELECT "fugu root".root, "fugu root".class, pg_catalog.sum("fugu row".x) AS s,
						pg_catalog.count("fugu row".x)::pg_catalog.float8 AS n,
						pg_catalog.sum(pg_catalog.sum("fugu row".x)) OVER () AS ts,
						pg_catalog.sum(pg_catalog.count("fugu row".x)) OVER ()::pg_catalog.float8 AS tn,
						pg_catalog.count(*) OVER ()::pg_catalog.float8 AS m
					FROM ROWS FROM (%[6]s) AS "fugu row"(%[7]s), %[8]s AS "fugu root"
					WHERE %[9]s AND "fugu row".x IS NOT NULL
					GROUP BY "fugu root".root, "fugu root".class) AS "fugu y") AS "fugu a"
			GROUP BY "fugu a".class) AS "fugu s"
		LEFT JOIN %[10]s ON "fugu rates".class = (%[11]s)["fugu s".class]) AS "fugu d"
	GROUP BY "fugu d".cell) AS "fugu v")`

// spellClusters puts the formula over the root's rows in the place of a call that asks for the error of an aggregate.
func (a *analysis) spellClusters(from sampled, n *pg.Node, called, name string, of *pg.FuncCall) error {
	if from.missing && !from.strict(of) {
		return a.refuse(n.GetFuncCall().Location, "Ask it of a column of the twin, count(t.id) say; or begin FROM "+
			"with the twin.", "how far it may be off is not known: an outer join adds rows that are nobody's of the "+
			"twin of %s", from.table)
	}
	s := &statistic{}
	s.told = s.call(of)
	s.shown = s.told
	if name == "count" {
		s.shown = ofSome(s.told)
	} else {
		s.calls[0] = computed(of, name, "$1")
	}

	// The arrays hold a value and the keys of each row that the aggregate is of.
	names, arrays, equal := []string{"x"}, []string{s.array(of, from.value(name, of))}, []string{}
	for i, key := range from.keys {
		names = append(names, fmt.Sprintf(`"fugu key %d"`, i+1))
		arrays = append(arrays, s.array(of, key))
		equal = append(equal, fmt.Sprintf(`"fugu row".%s = "fugu root".%[1]s`, names[i+1]))
	}

	root, classes := from.table.root(), 1
	labels := []string{}
	for _, c := range root.Classes {
		labels = append(labels, QuoteLiteral(c.Name))
	}
	if len(labels) > 0 {
		classes = len(labels) / max(1, root.Cells)
	}
	r := root.rates()
	most, moved := r.most(rateOfClass), "0"
	if root.Classes == nil {
		moved = r.most(noisePerRow) + ` * "fugu s".reach`
	}
	part := clusterParts[name]
	deviation := fmt.Sprintf(clusterSQL, most, moved, classes, part[0], part[1], strings.Join(arrays, ", "),
		strings.Join(names, ", "), from.table.roots(), strings.Join(equal, " AND "), r.from,
		"ARRAY["+strings.Join(labels, ", ")+"]::pg_catalog.text[]")
	deviation = "CASE WHEN " + s.shown + " IS NULL THEN NULL ELSE " + deviation + " END"
	return a.spell(n, s.spread(called, deviation), s.calls)
}

// strict reports whether an aggregate passes over rows that are none of the twin's whose columns the keys are.
func (f sampled) strict(of *pg.FuncCall) bool { return f.alias != "" && aliasOf(of) == f.alias }

// aliasOf is whose column an aggregate is of; empty: it has another argument, or does not say whose.
func aliasOf(of *pg.FuncCall) string {
	if len(of.GetArgs()) != 1 {
		return ""
	}
	fields := of.Args[0].GetColumnRef().GetFields()
	if len(fields) < 2 || fields[len(fields)-1].GetAStar() != nil {
		return ""
	}
	return fields[len(fields)-2].GetString_().GetSval()
}

// value is what a row adds to an aggregate, in double precision; NULL where it is not counted. It reads a key, so that
// it is evaluated where the call stands, even if the argument is a constant.
func (f sampled) value(name string, of *pg.FuncCall) *pg.Node {
	sql := "CASE WHEN $1 IS NOT NULL THEN 1::pg_catalog.float8 END"
	if len(of.Args) == 1 && name == "count" {
		sql = "CASE WHEN $1 IS NOT NULL AND $2 IS DISTINCT FROM NULL THEN 1::pg_catalog.float8 END"
	} else if len(of.Args) == 1 {
		sql = "CASE WHEN $1 IS NOT NULL THEN CAST($2 AS pg_catalog.float8) END"
	}
	out, err := expression(sql, func(number int32) *pg.Node {
		if number == 1 {
			return tree.Clone(f.keys[0])
		}
		return tree.Clone(of.Args[0])
	})
	if err != nil {
		panic(err) // it is one of the texts above
	}
	return out
}

// array adds a call that gathers a value of the rows that an aggregate is of, in the order in which they come.
func (s *statistic) array(of *pg.FuncCall, value *pg.Node) string {
	gather := renamed(of, "array_agg")
	gather.Args, gather.AggStar = []*pg.Node{tree.Clone(value)}, false
	s.calls = append(s.calls, gather)
	return fmt.Sprintf("pg_catalog.unnest($%d)", len(s.calls))
}

// root is the table at the end of a table's links.
func (t Table) root() Table {
	for t.Link != nil {
		t = *t.Link.To
	}
	return t
}

// roots is the SQL of the root's rows, by the columns that lead to them: where each stands, and the number of its
// class.
func (t Table) roots() string {
	root := t.root()
	class := "NULL::pg_catalog.int4"
	if len(root.Classes) > 0 {
		class = "CASE"
		for i, c := range root.Classes {
			class += fmt.Sprintf(" WHEN %s THEN %d", c.Where, i+1)
		}
		class += " END"
	}
	keys := []string{"ctid"}
	if t.Link != nil {
		keys = t.topLink().Onto
	}
	sql := fmt.Sprintf("SELECT ctid AS root, %s AS class%s FROM %s", class, keyed("", keys), root.twinSQL())

	// From the root down, each table that leads to the one before.
	for _, child := range t.chain() {
		equal := []string{}
		for i, own := range child.Link.Own {
			equal = append(equal, fmt.Sprintf(`"fugu t".%s = "fugu up"."fugu key %d"`, QuoteIdent(own), i+1))
		}
		sql = fmt.Sprintf(`SELECT "fugu up".root, "fugu up".class%s FROM (%s) AS "fugu up" JOIN %s AS "fugu t" ON %s`,
			keyed(`"fugu t".`, child.below.Onto), sql, child.twinSQL(), strings.Join(equal, " AND "))
	}
	return "(" + sql + ")"
}

// keyed are columns under the names by which they are looked up.
func keyed(of string, columns []string) (sql string) {
	for i, c := range columns {
		sql += fmt.Sprintf(`, %s%s AS "fugu key %d"`, of, QuoteIdent(c), i+1)
	}
	return sql
}

// linked is a table between another one and the root, with the link that leads to it from below.
type linked struct {
	Table
	below *Link
}

// chain are the tables that lie between a table and the root, the root's neighbour first.
func (t Table) chain() (out []linked) {
	for l := t.Link; l != nil && l.To.Link != nil; l = l.To.Link {
		out = append([]linked{{*l.To, l}}, out...)
	}
	return out
}

// topLink is the last link before the root.
func (t Table) topLink() *Link {
	l := t.Link
	for l.To.Link != nil {
		l = l.To.Link
	}
	return l
}

// twinSQL is the name of a table's twin.
func (t Table) twinSQL() string { return TwinSchema + "." + QuoteIdent(t.Name) }
