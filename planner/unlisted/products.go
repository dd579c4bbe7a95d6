package unlisted

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
	"fugu/planner/protected"
)

// What is aggregated is a sum of products of columns. Every value that is shown is then a linear combination of sums
// over rows that all count by what they hold, so that of one row no more shows than what subtraction of sums tells:
// with abs, sign, rounding or division at hand an argument is 0 of all rows but one.

// product is a product of factors, each a column or a function of columns in which no constant stands. Without factors
// it is a constant.
type product struct {
	factors   []parser.Expr
	partial   bool // COALESCE puts a constant in its place where a factor is NULL
	condition bool // rows in which a factor is 0 are as good as filtered out
}

// maxProducts bounds how many products an argument is multiplied out to.
const maxProducts = 64

// powers is how often a product may have one column: polynomials of a high degree are 0 of all rows but one.
const powers = 2

// smooth are the functions of columns that a product may have for a factor. They are of a column as it is: no constant
// of the statement's says where they step.
var smooth = []string{"abs", "ceil", "ceiling", "char_length", "character_length", "date_part", "date_trunc", "extract",
	"floor", "length", "ln", "lower", "octet_length", "round", "sqrt", "trunc", "upper"}

// expansion multiplies arguments out.
type expansion struct{ column func(parser.Column) string }

// newExpansion knows the types of the columns of the sources.
func newExpansion(tables map[int]*protected.Table) expansion {
	return expansion{func(c parser.Column) string {
		typ, err := tables[c.Rel].ColumnType(c.Name)
		if err != nil {
			return "" // PostgreSQL says so in its own words when it is asked for types
		}
		return typ
	}}
}

// products multiplies an expression out. ok is false for what is no sum of products of columns.
func (x expansion) products(e parser.Expr) (sum []product, ok bool) {
	if !holds[parser.Column](e) {
		return []product{{}}, true
	}
	switch e := e.(type) {
	case parser.Column:
		return []product{{factors: []parser.Expr{e}}}, true
	case parser.Unary:
		if e.Postfix || e.Op != "-" && e.Op != "+" {
			return nil, false
		}
		return x.products(e.X)
	case parser.Binary:
		return x.binary(e)
	case parser.Cast:
		if _, column := e.X.(parser.Column); !column && (isType(e.Type, "numeric") || isType(e.Type, "float8")) {
			return x.products(e.X) // nothing is rounded
		}
		return x.factor(e, e.X, isPlainType(e.Type))
	case parser.Func:
		return x.function(e)
	case parser.Call:
		return x.coalesce(e)
	}
	return nil, false
}

func (x expansion) binary(e parser.Binary) ([]product, bool) {
	left, ok := x.products(e.L)
	right, and := x.products(e.R)
	if !ok || !and {
		return nil, false
	}

	switch e.Op {
	case "+", "-", "||":
		return slices.Concat(left, right), len(left)+len(right) <= maxProducts
	case "*":
		return x.multiply(left, right)
	case "/":
		// A quotient of whole numbers is rounded, and a divisor with a constant in it may be next to 0 for one row.
		one := len(right) == 1 && !right[0].partial && (len(right[0].factors) == 0 || !holdsConstant(e.R))
		if !one || !x.fractional(e.L) && !x.fractional(e.R) {
			return nil, false
		}
		return x.multiply(left, right)
	}
	return nil, false
}

// multiply has a column at most twice in a product.
func (x expansion) multiply(left, right []product) (out []product, ok bool) {
	if len(left)*len(right) > maxProducts {
		return nil, false
	}
	for _, l := range left {
		for _, r := range right {
			p := both(l, r)

			// Powers above those that are bounded would make more of one column than anything bounds.
			times := map[string]int{}
			for _, f := range p.factors {
				for c := range columnsOf(f) {
					times[c]++
				}
			}
			for _, n := range times {
				if n > powers {
					return nil, false
				}
			}
			out = append(out, p)
		}
	}
	return out, true
}

// both is the product of two.
func both(l, r product) product {
	return product{factors: slices.Concat(l.factors, r.factors), partial: l.partial || r.partial}
}

// function reads a call. Seconds since an epoch are linear in a time; everything else is a factor.
func (x expansion) function(e parser.Func) ([]product, bool) {
	if (e.Name == "extract" || e.Name == "date_part") && len(e.Args) == 2 {
		if field, ok := e.Args[0].(parser.Const); ok && strings.EqualFold(field.Text, "epoch") {
			return x.products(e.Args[1])
		}
	}

	// The field or the unit has to be a constant, or what is read would depend on the row.
	of := e.Args
	switch {
	case slices.Contains([]string{"extract", "date_part", "date_trunc"}, e.Name):
		of = e.Args[1:] // the field, or the unit
		if holds[parser.Column](e.Args[0]) {
			return nil, false
		}
	case !slices.Contains(smooth, e.Name):
		return nil, false
	}

	if len(of) != 1 {
		return nil, false
	}
	return x.factor(e, of[0], true)
}

// factor is a product of one factor, a function of what is below it.
func (x expansion) factor(e, below parser.Expr, allowed bool) ([]product, bool) {
	sum, ok := x.products(below)
	if !ok || !allowed || holdsConstant(below) {
		return nil, false
	}
	partial := slices.ContainsFunc(sum, func(p product) bool { return p.partial })
	return []product{{factors: []parser.Expr{e}, partial: partial}}, true
}

// coalesce reads COALESCE(column, constant).
func (x expansion) coalesce(e parser.Call) ([]product, bool) {
	if e.Name != "COALESCE" || len(e.Args) != 2 || holds[parser.Column](e.Args[1]) {
		return nil, false
	}
	sum, ok := x.products(e.Args[0])
	if !ok || len(sum) != 1 || len(sum[0].factors) == 0 {
		return nil, false
	}
	return []product{{factors: sum[0].factors, partial: true}, {}}, true
}

// fractional reports whether an expression is surely of a type whose quotients are not rounded to whole numbers.
func (x expansion) fractional(e parser.Expr) bool {
	switch e := e.(type) {
	case parser.Const:
		return e.Kind == parser.Number && strings.ContainsAny(e.Text, ".eE")
	case parser.Column:
		typ := x.column(e)
		return strings.HasPrefix(typ, "numeric") || typ == "double precision" || typ == "real" || typ == "interval"
	case parser.Cast:
		return isType(e.Type, "numeric") || isType(e.Type, "float8")
	case parser.Unary:
		return x.fractional(e.X)
	case parser.Binary:
		return x.fractional(e.L) || x.fractional(e.R)
	case parser.Call:
		return x.fractional(e.Args[0])
	case parser.Func:
		return slices.Contains([]string{"extract", "date_part", "sqrt", "ln"}, e.Name)
	}
	return false
}

// counted are the products whose rows have to be counted beside those of the whole argument. A factor that is 0 or NULL
// takes a row out of a product as a condition does: sum(cost * ill::int) is the sum of cost of those who are ill.
func (x expansion) counted(sum []product) (out []product) {
	for _, p := range sum {
		different := map[string]bool{}
		for _, f := range p.factors {
			different[parser.SQL(f, "t", nil)] = true
			parser.Walk(f, func(e parser.Expr) {
				c, ok := e.(parser.Column)
				p.condition = p.condition || ok && x.column(c) == "boolean"
			})
		}
		p.condition = p.condition || len(different) > 1
		if p.condition || p.partial {
			out = append(out, p)
		}
	}
	return out
}

// holds reports whether an expression of a type is in e.
func holds[T parser.Expr](e parser.Expr) (found bool) {
	parser.Walk(e, func(e parser.Expr) {
		_, ok := e.(T)
		found = found || ok
	})
	return found
}

// holdsConstant reports whether something in e is no column's: a constant, or an expression of constants. What COALESCE
// puts in the place of NULL, and the name of a field, are no constants that anything is compared with.
func holdsConstant(e parser.Expr) bool {
	if !holds[parser.Column](e) {
		return true
	}
	below := parser.Below(e)
	switch e := e.(type) {
	case parser.Call:
		if e.Name == "COALESCE" {
			below = below[:1]
		}
	case parser.Func:
		if slices.Contains([]string{"extract", "date_part", "date_trunc"}, e.Name) {
			below = below[1:]
		}
	}
	return slices.ContainsFunc(below, holdsConstant)
}

// columnsOf are the columns of an expression.
func columnsOf(e parser.Expr) map[string]bool {
	out := map[string]bool{}
	parser.Walk(e, func(e parser.Expr) {
		if c, ok := e.(parser.Column); ok {
			out[parser.SQL(c, "t", nil)] = true
		}
	})
	return out
}

// isType reports whether a cast is to a type, without modifiers.
func isType(written, name string) bool {
	return written == "pg_catalog."+parser.QuoteIdent(name)
}

// isPlainType reports whether a cast has no modifiers: numeric(9, -6) rounds where the statement says.
func isPlainType(written string) bool { return !strings.Contains(written, "(") }

// there writes, for each counted product of each aggregate, the condition that a row meets which is in it: all factors
// are there, and none takes it out. factors are theirs in order, in the form in which no row can make one fail.
func (c *Cut) there(factors []parser.Expr) [][]string {
	types := c.typing.Types[len(c.typing.Types)-len(factors):]

	// The factors of all products stand one behind the other.
	out := make([][]string, len(c.counted))
	for i, products := range c.counted {
		for _, p := range products {
			var conditions []string
			for range p.factors {
				x := parser.SQL(factors[0], "t", nil)
				test := " IS NOT NULL"
				switch {
				case !p.condition:
				case slices.Contains(numbers, types[0]):
					test = " <> 0"
				case types[0] == pgtype.IntervalOID:
					test = " <> '0'::pg_catalog.interval"
				}
				conditions = append(conditions, "("+x+")"+test)
				factors, types = factors[1:], types[1:]
			}
			out[i] = append(out[i], strings.Join(conditions, " AND "))
		}
	}
	return out
}
