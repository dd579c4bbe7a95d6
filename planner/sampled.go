package planner

import (
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/planner/aggregate"
	"fugu/planner/row"
	"fugu/sqlstate"
)

// Sampled is an aggregate that is no function of sums: PostgreSQL evaluates it, and its model is of the distribution of its
// argument in the classes of a secret.
type Sampled struct {
	Kind     Kind
	Fraction float64 // of a percentile

	// Domain are the argument's values that the policy makes public; others do not count. nil: the policy names none.
	Domain []Value

	fraction string
}

// Kind says what a Sampled aggregate is made of.
type Kind int

const (
	Continuous    Kind = iota // percentile_cont
	Discrete                  // percentile_disc
	DistinctCount             // count(DISTINCT x)
	DistinctSum               // sum(DISTINCT x)
	DistinctMean              // avg(DISTINCT x)
)

// Percentile reports whether the aggregate is a percentile.
func (s *Sampled) Percentile() bool { return s.Kind == Continuous || s.Kind == Discrete }

// function lays out an aggregate; those that are no functions of sums have the sums that bound their argument.
func function(a parser.Aggregate) (aggregate.Function, *Sampled, bool) {
	if a.Fraction == "" && !a.Distinct {
		f, ok := aggregate.Lookup(a.Func)
		return f, nil, ok
	}
	f := aggregate.Function{Name: a.Func + "(DISTINCT)", Arguments: 1, Sums: []aggregate.Sum{aggregate.N, aggregate.X}, Extensive: a.Func != "avg"}
	s := &Sampled{}
	switch a.Func {
	case "percentile_cont", "percentile_disc":
		f.Name, f.Extensive = a.Func+"("+a.Fraction+")", false
		if a.Func == "percentile_disc" {
			s.Kind = Discrete
		}
		var err error
		s.fraction = a.Fraction
		s.Fraction, err = strconv.ParseFloat(a.Fraction, 64)
		return f, s, err == nil
	case "count":
		f.Sums, s.Kind = f.Sums[:1], DistinctCount
	case "sum":
		s.Kind = DistinctSum
	case "avg":
		s.Kind = DistinctMean
	default:
		return f, nil, false
	}
	return f, s, true
}

// root is how the types of an aggregate's first argument are asked for.
func (s *Sampled) root(a parser.Aggregate, arg parser.Expr) row.Root {
	return row.Root{Aggregate: a.Func, Expr: arg, Value: s != nil && (s.Percentile() || s.Kind == DistinctCount)}
}

// oidUUID is a type whose values can be told apart, though not grouped by.
const oidUUID = 2950

// firstUser is the first OID that PostgreSQL gives to objects of users: of types, only enums come so far.
const firstUser = 16384

// result says what type a sampled aggregate has; asked is the type that its root asked for.
func (s *Sampled) result(asked uint32) (result uint32, ok bool) {
	switch s.Kind {
	case DistinctCount:
		_, grouped := typeNames[asked]
		return oidInt8, grouped || asked == oidUUID || asked >= firstUser
	case Continuous:
		return oidFloat8, slices.Contains(numbers, asked)
	case Discrete:
		return asked, slices.Contains(numbers, asked)
	}
	return asked, true
}

// numbers are the types that percentiles are answered of.
var numbers = []uint32{oidInt2, oidInt4, oidInt8, oidNumeric, oidFloat4, oidFloat8}

// unsampled refuses a sampled aggregate over joined rows: which values a row of the root brings along is no value of its own.
func (c *Cut) unsampled() error {
	for i, a := range c.Aggregates {
		if a.Sampled != nil && !c.sources.single() {
			return sqlstate.New(sqlstate.NotAnswerable, "%s over joined tables cannot be answered on protected data", a.Label).
				WithHint("Ask it of one table, without joins; or use count(*), sum and avg.").At(c.cut.Aggregates[i].Position)
		}
	}
	return nil
}

// domains gives the distinct aggregates over a column with public values those values.
func (b *Bound) domains() {
	for i := range b.Aggregates {
		a := &b.Aggregates[i]
		if a.Sampled == nil || a.Sampled.Percentile() {
			continue
		}
		own := *a.Sampled
		own.Domain = nil
		if column, ok := columnOf(b.forms.args[i][0]); ok {
			for _, v := range b.Table.Domains[column.Name] {
				if !v.Null {
					own.Domain = append(own.Domain, v)
				}
			}
		}
		a.Sampled = &own
	}
}

// columnOf finds the column whose values, if any, an argument has: itself, or that under a FILTER.
func columnOf(e parser.Expr) (parser.Column, bool) {
	if c, ok := e.(parser.Case); ok && c.Operand == nil && c.Else == nil && len(c.Whens) == 1 {
		e = c.Whens[0].Result
	}
	column, ok := e.(parser.Column)
	return column, ok
}

// sampled lists the aggregates that are no functions of sums.
func (b *Bound) sampled() []int {
	var out []int
	for i, a := range b.Aggregates {
		if a.Sampled != nil {
			out = append(out, i)
		}
	}
	return out
}

// argument is the place of a sampled aggregate's argument among the Bases; -1 where it is not bounded.
func (b *Bound) argument(aggregate int) int {
	a := b.Aggregates[aggregate]
	if len(a.Terms) < 2 {
		return -1
	}
	of := b.Terms[a.Terms[1]].Factors
	return of[slices.IndexFunc(of, func(i int) bool { return !b.Bases[i].Indicator })]
}

// Argument is argument, for models.
func (b *Bound) Argument(aggregate int) int { return b.argument(aggregate) }

// among writes the argument of a distinct aggregate, NULL where it is none of the public values; these are parameter
// number param.
func (b *Bound) among(aggregate int, x, param string) string {
	if b.Aggregates[aggregate].Sampled.Domain == nil {
		return x
	}
	return "CASE WHEN (" + b.sql(b.forms.args[aggregate][0]) + ")::pg_catalog.text = ANY (" + param + "::pg_catalog.text[]) THEN " + x + " END"
}

// distinctColumn is the name in a subquery of what a distinct aggregate is over.
func distinctColumn(aggregate int) string { return "d" + strconv.Itoa(aggregate+1) }

// evaluate writes a sampled aggregate over what rows are evaluated to: bases gives the bounded arguments.
func (b *Bound) evaluate(aggregate int, argument func(aggregate int) string) string {
	s, x := b.Aggregates[aggregate].Sampled, argument(aggregate)
	switch s.Kind {
	case Continuous:
		return "pg_catalog.percentile_cont(" + s.fraction + ") WITHIN GROUP (ORDER BY CAST(" + x + " AS pg_catalog.float8))"
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

// Distribution composes the statement over the reference whose rows give the distribution of a sampled aggregate's argument
// by the secrets' classes: a row holds the Head; the label of each secret that has classes; the value, as a number (but
// for a count of distinct ones, of which it is the text), and its text; and the number of rows. A value is NULL where a row
// does not count.
func (b *Bound) Distribution(aggregate int) string {
	s := b.Aggregates[aggregate].Sampled
	text := "(" + b.sql(b.forms.args[aggregate][0]) + ")::pg_catalog.text"
	value := text
	if i := b.argument(aggregate); i >= 0 {
		value = "CASE WHEN (" + b.Bases[i].args[0] + ") IS NOT NULL THEN " + b.float(false)(i) + " END"
	}
	if s.Percentile() {
		text = "NULL"
	}
	root := parser.Alias("t", b.sources.root)
	keys, columns := b.selected(root, true, nil)
	columns = append(columns, value+" AS v", text+" AS w")
	var labels []string
	for i, sec := range b.Table.Secrets {
		if sec.Number == nil {
			labels = append(labels, "s"+strconv.Itoa(i))
		}
	}
	others := append(slices.Clone(labels), "v", "w")
	from := "(" + selectSQL(columns, b.from(true), b.forms.whereSQL(b.number), nil) + ") AS q"
	head, group := b.head(keys, others)
	head = append(append(head, labels...), "v::pg_catalog.text", "w", "pg_catalog.count(*)")
	return selectSQL(head, from, "", group)
}

// key identifies the aggregate among others of the same name and type.
func (s *Sampled) key() string {
	if s == nil {
		return ""
	}
	return strings.Join([]string{strconv.Itoa(int(s.Kind)), s.fraction}, " ") + " "
}
