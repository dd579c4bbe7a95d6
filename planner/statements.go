package planner

import (
	"math/big"
	"slices"
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

// keys prints the keys: each value in one spelling, by which groups are known.
func (b *Bound) keys() []string {
	var out []string
	for i, k := range b.forms.keys {
		text := b.spelled(k, b.Keys[i])
		if len(columns(k)) == 0 { // GROUP BY takes a bare constant for a position
			text = "CAST(" + text + " AS " + b.Keys[i].Type + ")"
		}
		out = append(out, text)
	}
	return out
}

// Statistics is the statement that the reader runs on the protected tables. Its rows hold the Head, then the sum of each
// term that an aggregate is made of, in their order, and the value of each Sampled aggregate, in text. Its parameters are
// those of Arguments: two for each Base that is no Indicator, and one for each domain.
func (b *Bound) Statistics() string { return b.statistics }

// Summed lists the terms that the statistics statement sums.
func (b *Bound) Summed() []int {
	var out []int
	for i := range b.Terms {
		if slices.ContainsFunc(b.Aggregates, func(a Aggregate) bool { return a.Sampled == nil && slices.Contains(a.Terms, i) }) {
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
	summed := b.Summed()
	bases := make([]string, len(b.Bases))
	next := 1
	for i, x := range b.Bases {
		if !x.Indicator {
			bases[i] = "CASE WHEN (" + x.args[0] + ") IS NOT NULL THEN " + clamp("CAST("+x.args[0]+" AS "+x.exact()+")", next, x.exact()) + " END"
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
		switch of := b.Terms[i].Factors; {
		case len(of) == 0:
			columns = append(columns, "pg_catalog.count(*)")
		case len(of) == 1 && b.Bases[of[0]].Indicator && bases[of[0]] == "":
			columns = append(columns, "pg_catalog.count("+b.Bases[of[0]].given[0]+")")
		default:
			columns = append(columns, "pg_catalog.sum("+times(of, func(i int) string { return bases[i] })+")")
		}
	}
	for _, i := range b.sampled() {
		columns = append(columns, b.evaluate(i, argument))
	}
	return selectSQL(columns, from, where, group)
}

// joined composes the statement where rows are joined: what belongs to one row of the root is summed first, and bounded.
func (b *Bound) joined() string {
	keys, inner := b.inner(false, true, func(i int) string {
		// What is far beyond every bound need not be summed as it is: sums that large would overflow.
		return "LEAST(GREATEST(" + b.Bases[i].value("pg_catalog.numeric", "") + ", -1e300), 1e300)"
	})
	columns, group := b.regroup(keys, nil)
	for _, i := range b.Summed() {
		base := b.Terms[i].Factors[0]
		columns = append(columns, "pg_catalog.sum("+b.bounded(base)+")")
	}
	return selectSQL(columns, "("+b.perRoot(inner, keys, nil)+") AS q", "", group)
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

// column is the name of a base in a subquery.
func column(base int) string { return "h" + strconv.Itoa(base+1) }

// times writes the product of factors, with more before them.
func times(factors []int, text func(int) string, more ...string) string {
	out := slices.Clone(more)
	for _, i := range factors {
		out = append(out, text(i))
	}
	return strings.Join(out, " * ")
}

// value writes a base as a number of the type, 0 where it has no value. A factor of a product is kept within ±most.
func (x Base) value(typ, most string) string {
	if len(x.args) == 0 && len(x.given) == 0 {
		return "CAST(1 AS " + typ + ")"
	}
	var out []string
	for _, a := range x.args {
		v := "COALESCE(CAST(" + a + " AS " + typ + "), 0)"
		if len(x.args) > 1 && most != "" {
			v = "LEAST(GREATEST(" + v + ", -" + most + "), " + most + ")"
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		out = []string{"1"}
	}
	var missing []string
	for _, g := range x.given {
		if !slices.Contains(x.args, g) {
			missing = append(missing, "("+g+") IS NULL")
		}
	}
	v := strings.Join(out, " * ")
	if len(missing) > 0 {
		v = "CASE WHEN " + strings.Join(missing, " OR ") + " THEN 0 ELSE " + v + " END"
	}
	return v
}

// exact is the type in which a base's values are bounded and summed: neither overflow nor the order of rows can show in a
// sum of it.
func (x Base) exact() string {
	switch {
	case x.whole:
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

// Arguments are the parameters of Statistics, in text form, and their types. limits has an entry for each Base.
func (b *Bound) Arguments(limits []Limit) (values [][]byte, types []uint32) {
	for i, x := range b.Bases {
		if x.Indicator {
			continue
		}
		for set := range b.LimitSets() {
			low, high := limits[i].Low, limits[i].High
			if limits[i].Sets != nil {
				low, high = limits[i].Sets[set].Low, limits[i].Sets[set].High
			}
			if x.whole {
				low, high = within(low, maxFactor), within(high, maxFactor)
				values = append(values, []byte(floor(low).String()), []byte(new(big.Int).Neg(floor(new(big.Rat).Neg(high))).String()))
				types = append(types, oidInt8, oidInt8)
			} else {
				values = append(values, []byte(decimal(low)), []byte(decimal(high)))
				types = append(types, oidNumeric, oidNumeric)
			}
		}
	}
	for _, i := range b.sampled() {
		if d := b.Aggregates[i].Sampled.Domain; d != nil {
			values, types = append(values, Array(d)), append(types, oidTextArray)
		}
	}
	return values, types
}

const oidTextArray = 1009

// maxFactor bounds integers of types int2 and int4, and of expressions of these types that PostgreSQL would give a value,
// so that products of two fit int8.
const maxFactor = 3037000499

func within(x *big.Rat, most int64) *big.Rat {
	for _, bound := range []int64{-most, most} {
		if b := big.NewRat(bound, 1); x.Cmp(b)*b.Sign() > 0 {
			return b
		}
	}
	return x
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

// inner composes the statement that has a row for each row that the cut reads: its keys k0, ..., over references the
// secrets' labels and numbers s0, ..., the bases h1, ..., the arguments of sampled aggregates as they are given, and where it
// is wanted the place r0, r1 of the root's row.
func (b *Bound) inner(reference, placed bool, base func(int) string, sampled ...func(int) string) (names []string, sql string) {
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
	return keys, selectSQL(columns, b.from(reference), b.forms.whereSQL(b.number), nil)
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
	if secrets {
		for i, s := range b.Table.Secrets {
			what := s.number
			if s.Number == nil {
				what = s.label
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
