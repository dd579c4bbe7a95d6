package unlisted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/internal/hook"
	"fugu/parser"
	"fugu/planner/protected"
	"fugu/sqlstate"
)

// MaxGroups is how many groups of a twin one SELECT may have.
const MaxGroups = 1 << 20

// bound is a Cut with the values of its parameters: every expression is total.
type bound struct {
	*Cut
	keys  []parser.Expr
	args  [][]parser.Expr
	on    map[int]parser.Expr
	where parser.Expr
	there [][]string // by aggregate: conditions that the rows of its counted products meet
}

// sql composes the statement: the keys, the results of GROUPING, and each aggregate if enough rows of the sample are
// in it.
func (b *bound) sql() string {
	var columns []string
	for _, k := range b.keys {
		columns = append(columns, parser.SQL(k, "t", nil))
	}
	for _, g := range b.cut.Groupings {
		of := make([]string, len(g.Keys))
		for i, k := range g.Keys {
			of[i] = columns[k]
		}
		columns = append(columns, "GROUPING("+strings.Join(of, ", ")+")")
	}
	types := b.types
	for i, a := range b.cut.Aggregates {
		columns = append(columns, b.aggregate(i, b.args[i], types[:len(a.Args)]))
		types = types[len(a.Args):]
	}

	sql := "SELECT " + strings.Join(columns, ", ") + " FROM " + b.from()
	if b.where != nil {
		sql += " WHERE " + parser.SQL(b.where, "t", nil)
	}
	// Without GROUP BY there is one row, whatever is in it; elsewhere a group is missing if it has too few.
	if b.grouped() {
		sql += " GROUP BY " + b.groups() + " HAVING " + b.enough("", "1")
	}
	return sql + fmt.Sprintf(" LIMIT %d", MaxGroups+1)
}

func (b *bound) grouped() bool { return len(b.keys) > 0 || b.cut.Sets != nil }

// groups writes GROUP BY, with the numbers of the keys' columns: a key that is a constant would read as one itself.
func (b *bound) groups() string {
	numbers := func(keys []int) string {
		list := make([]string, len(keys))
		for i, k := range keys {
			list[i] = fmt.Sprint(k + 1)
		}
		return strings.Join(list, ", ")
	}

	// Without grouping sets all keys are one.
	if b.cut.Sets == nil {
		all := make([]int, len(b.keys))
		for i := range all {
			all[i] = i
		}
		return numbers(all)
	}

	sets := make([]string, len(b.cut.Sets))
	for i, s := range b.cut.Sets {
		sets[i] = "(" + numbers(s) + ")"
	}
	return "GROUPING SETS (" + strings.Join(sets, ", ") + ")"
}

// aggregate writes one call, which is NULL if too few rows of the sample contribute.
func (b *bound) aggregate(i int, args []parser.Expr, types []uint32) string {
	a := b.cut.Aggregates[i]
	var list, there []string
	for i, e := range args {
		if e == nil { // count of what is never NULL
			continue
		}
		x := parser.SQL(e, "t", nil)
		if a.Func != "count" {
			x = clamped(x, types[i], len(args) > 1)
		}
		list, there = append(list, x), append(there, x+" IS NOT NULL")
	}

	// What contributes is counted where it is aggregated, by the same rows.
	filter, part := strings.Join(there, " AND "), "1"
	var call string
	switch {
	case len(list) == 0:
		if call = "pg_catalog.count(*)"; b.grouped() {
			return call // the group has enough
		}
	case a.Fraction != "":
		// So many rows have to be on either side: the least and the greatest value are single rows'.
		part = "LEAST(" + a.Fraction + ", 1 - " + a.Fraction + ")"
		call = fmt.Sprintf("pg_catalog.%s(%s) WITHIN GROUP (ORDER BY %s)", a.Func, a.Fraction, list[0])
	default:
		distinct := ""
		if a.Distinct {
			distinct = "DISTINCT "
		}
		call = "pg_catalog." + a.Func + "(" + distinct + strings.Join(list, ", ") + ")"
	}
	enough := b.enough(filter, part)
	for _, product := range b.there[i] {
		enough += " AND " + b.enough(filter+" AND "+product, part)
	}
	return "CASE WHEN " + enough + " THEN " + call + " END"
}

// clamped keeps sums of squares of double precision from overflowing, which would be an error, and an error can be
// had of groups that are too small to be shown.
func clamped(x string, oid uint32, double bool) string {
	if !double && oid != pgtype.Float4OID && oid != pgtype.Float8OID {
		return x
	}
	const most = "1e70::pg_catalog.float8"
	within := "LEAST(GREATEST(CAST(" + x + " AS pg_catalog.float8), -" + most + "), " + most + ")"
	return "NULLIF(NULLIF(" + within + ", " + most + "), -" + most + ")"
}

// enough is the condition that of each twin at least so many rows of the sample are among those that filter lets
// through (all, if it is empty); part says how many of them count.
//
// A row of the sample stands at most w times in its twin, w the greatest number of told rows for one that was taken,
// rounded up. So n of the twin's rows are of n/w rows of the sample or more. It is asked where the rows are read, in
// one snapshot with them, since a twin may be made again at any moment.
func (b *bound) enough(filter, part string) string {
	if hook.TwinSmallGroups {
		return "true"
	}
	if filter != "" {
		filter = " FILTER (WHERE " + filter + ")"
	}
	conditions := make([]string, len(b.cut.Sources))
	for i, s := range b.cut.Sources {
		t := b.tables[s.Rel]
		rows := "pg_catalog.count(DISTINCT " + unit(s, t) + ")"
		if len(b.cut.Sources) == 1 && t.Link == nil {
			rows = "pg_catalog.count(*)" // each is one row of the twin
		}
		conditions[i] = rows + filter + " * " + part + " >= " + least(t)
	}
	return strings.Join(conditions, " AND ")
}

// least is how many rows of a twin, or of its root's, are at_least rows of the sample. It is NULL, and nothing is
// enough, if the list of twins does not say how they were drawn.
func least(t *protected.Table) string {
	root := t.Root()
	return fmt.Sprintf(`(SELECT %d * pg_catalog.max(pg_catalog.ceil(c.told::pg_catalog.numeric / c.taken)) `+
		`FROM %s AS r, `+
		`ROWS FROM (pg_catalog.unnest(r.told), pg_catalog.unnest(r.taken)) AS c(told, taken) `+
		`WHERE r.table_schema = %s AND r.table_name = %s AND c.taken > 0)`,
		t.AtLeast, parser.TwinRegistry, parser.QuoteLiteral(root.Schema), parser.QuoteLiteral(root.Name))
}

// unit is the row that was drawn: the twin's own, or that of the root to which a linked one belongs.
func unit(s parser.Source, t *protected.Table) string {
	if t.Link == nil {
		return parser.Alias("t", s.Rel) + ".ctid"
	}
	return rootAlias(s.Rel, t) + ".ctid"
}

// rootAlias is the alias of the root of a linked source.
func rootAlias(rel int, t *protected.Table) string {
	depth := 0
	for ; t.Link != nil; t = t.Link.To {
		depth++
	}
	return fmt.Sprintf("u%d_%d", rel, depth)
}

// from prints the FROM clause: the sources, and behind them, for each that is linked, the rows that it belongs to.
func (b *bound) from() string {
	list := slices.Clone(b.cut.Sources)
	for i := range list {
		if list[i].Left {
			list[i].On = b.on[list[i].Rel]
		}
	}

	// A link leads to one row at most, so that none of the sources' rows is there twice.
	sql := b.sources(list)
	for _, s := range list {
		own := parser.Alias("t", s.Rel)
		for t, depth := b.tables[s.Rel], 1; t.Link != nil; t, depth = t.Link.To, depth+1 {
			alias := fmt.Sprintf("u%d_%d", s.Rel, depth)
			on := make([]string, len(t.Link.Keys))
			for i, k := range t.Link.Keys {
				on[i] = alias + "." + parser.QuoteIdent(k.To) + " = " + own + "." + parser.QuoteIdent(k.Own)
			}
			sql += " LEFT JOIN " + twin(t.Link.To) + " AS " + alias + " ON " + strings.Join(on, " AND ")
			own = alias
		}
	}
	return sql
}

func (c *Cut) sources(list []parser.Source) string {
	return parser.FromSQL(list, "t", nil, func(s parser.Source) string { return twin(c.tables[s.Rel]) })
}

// beside prints the sources side by side, for what they are and not for which rows they have.
func (c *Cut) beside() string {
	plain := slices.Clone(c.cut.Sources)
	for i := range plain {
		plain[i].Left, plain[i].On = false, nil
	}
	return c.sources(plain)
}

// twin is the name of the table's twin as SQL.
func twin(t *protected.Table) string { return parser.TwinSchema + "." + parser.QuoteIdent(t.Name) }

// ordinals are the types that percentiles are taken of, beside numbers: they have an order that people read as an
// amount.
var ordinals = []uint32{pgtype.DateOID, pgtype.TimeOID, pgtype.TimestampOID, pgtype.TimestamptzOID, pgtype.IntervalOID}

// resultOf is the type of an aggregate: result is what PostgreSQL says of the call, argument of its argument.
func resultOf(a parser.Aggregate, result, argument uint32) (uint32, error) {
	switch {
	case a.Func == "count":
		return pgtype.Int8OID, nil
	case a.Fraction == "":
		return result, nil
	case a.Func == "percentile_cont" && slices.Contains(numbers, argument):
		return pgtype.Float8OID, nil
	case a.Func == "percentile_cont" && argument == pgtype.IntervalOID,
		a.Func == "percentile_disc" && slices.Contains(slices.Concat(ordinals, numbers), argument):
		return argument, nil
	}
	return 0, sqlstate.New(sqlstate.NotAnswerable,
		"%s is not over numbers or times, and its values may name single rows", a.Source).
		WithHint("Group by the column instead: values that too few rows have are left out.").At(a.Position)
}

// numbers are the types that percentiles are taken of.
var numbers = []uint32{
	pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.NumericOID, pgtype.Float4OID, pgtype.Float8OID,
}
