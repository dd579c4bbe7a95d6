package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
	"fugu/planner/aggregate"
	"fugu/planner/row"
)

// Sampled is an aggregate that is no function of sums. PostgreSQL evaluates it, and it is modelled by the distribution
// of its argument in the classes of a secret.
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

	// What is no function of sums is sampled. Its sums then only bound the argument.
	f := aggregate.Function{Name: a.Func + "(DISTINCT)", Arguments: 1, Extensive: a.Func != "avg"}
	f.Sums = []aggregate.Sum{aggregate.N, aggregate.X}
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
	return row.Root{Aggregate: a.Func, Expr: arg, Position: a.Position,
		Value: s != nil && (s.Percentile() || s.Kind == DistinctCount)}
}

// result says what type a sampled aggregate has; asked is the type that its root asked for.
func (s *Sampled) result(asked uint32) (result uint32, ok bool) {
	switch s.Kind {
	case DistinctCount:
		_, grouped := typeNames[asked]
		return pgtype.Int8OID, grouped || asked == pgtype.UUIDOID || asked >= firstUser
	case Continuous:
		return pgtype.Float8OID, slices.Contains(numbers, asked)
	case Discrete:
		return asked, slices.Contains(numbers, asked)
	}
	return asked, true
}

// key identifies the aggregate among others of the same name and type.
func (s *Sampled) key() string {
	if s == nil {
		return ""
	}
	return strings.Join([]string{strconv.Itoa(int(s.Kind)), s.fraction}, " ") + " "
}
