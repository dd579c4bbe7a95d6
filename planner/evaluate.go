package planner

import (
	"slices"
	"strconv"
	"strings"
)

// evaluation is what the moments statement evaluates for each row, and how it sums the Products of that. A base has no
// value in rows where its argument is NULL: sums pass over those, so that nothing need be written for 0.
type evaluation struct {
	columns  []string // of a subselect: the bases h1, ..., and what else is named below
	pairs    []string // of a subselect over that: products of two factors that several products are made of
	products []monomial
}

// monomial is a product as it is summed: over the factors, or, where that is 1 for each row that counts, over the rows
// in which a column is not NULL; no factors and no column: over all rows.
type monomial struct {
	factors []string
	present string
}

func (m monomial) sum() string {
	switch {
	case len(m.factors) > 0:
		return "COALESCE(pg_catalog.sum(" + strings.Join(m.factors, " * ") + "), 0)"
	case m.present != "":
		return "pg_catalog.count(" + m.present + ")"
	}
	return "pg_catalog.count(*)"
}

// with is the sum of the product with g.
func (m monomial) with(g string) string {
	sum := "pg_catalog.sum(" + strings.Join(append([]string{g}, m.factors...), " * ") + ")"
	if m.present != "" {
		sum += " FILTER (WHERE " + m.present + " IS NOT NULL)"
	}
	return "COALESCE(" + sum + ", 0)"
}

// ofSums evaluates rows that are sums over joined ones: a base always has a value.
func (b *Bound) ofSums() evaluation {
	var e evaluation
	base := b.float(b.high())
	for i := range b.Bases {
		e.columns = append(e.columns, base(i)+" AS "+column(i))
	}
	for _, p := range b.products {
		var m monomial
		for _, i := range p {
			m.factors = append(m.factors, column(i))
		}
		e.products = append(e.products, m)
	}
	return e
}

// ofRows evaluates single rows.
func (b *Bound) ofRows() evaluation {
	var e evaluation
	ints, high := b.integers(), b.high()
	for i, x := range b.Bases {
		if !x.Indicator {
			e.columns = append(e.columns, b.nullable(i, ints[i], high)+" AS "+column(i))
		}
	}

	// A factor stands for x where all that the product needs is there.
	there := map[string]string{}
	place := func(i int, needed []string) string { return strconv.Itoa(i) + " " + strings.Join(needed, "\x00") }
	restricted := func(i int, needed []string) string { return there[place(i, needed)] }
	named := 0
	name := func(sql string) string {
		named++
		n := "x" + strconv.Itoa(named)
		e.columns = append(e.columns, sql+" AS "+n)
		return n
	}
	for _, p := range b.products {
		values, needed := b.needs(p)
		for _, i := range values {
			if len(needed) > len(values) && restricted(i, needed) == "" {
				own := func(n string) bool { return n == b.Bases[i].args[0] }
				others := slices.DeleteFunc(slices.Clone(needed), own)
				x := b.nullable(i, ints[i], high)
				there[place(i, needed)] = name("CASE WHEN " + present(others) + " THEN " + x + " END")
			}
		}
	}

	// Values are the factors; of a product of indicators alone the rows are counted in which all are there.
	for _, p := range b.products {
		values, needed := b.needs(p)
		var m monomial
		for _, i := range p {
			if r := restricted(i, needed); r != "" {
				m.factors = append(m.factors, r)
			} else if !b.Bases[i].Indicator {
				m.factors = append(m.factors, column(i))
			}
		}
		if len(values) == 0 && len(needed) > 0 {
			if m.present = b.presence(needed, restricted); m.present == "" {
				m.present = name(indicates(needed))
			}
		}
		e.products = append(e.products, m)
	}
	e.pair()
	return e
}

// needs lists the values among a product's factors, each once, and the expressions, in order, without one of which it
// is 0.
func (b *Bound) needs(product []int) (values []int, needed []string) {
	for _, i := range product {
		if x := b.Bases[i]; x.Indicator {
			needed = append(needed, x.given[0])
		} else if !slices.Contains(values, i) {
			values, needed = append(values, i), append(needed, x.args[0])
		}
	}
	slices.Sort(needed)
	return values, slices.Compact(needed)
}

// presence finds a column that is not NULL where all that is needed is there; empty: there is none.
func (b *Bound) presence(needed []string, restricted func(int, []string) string) string {
	for i, x := range b.Bases {
		if x.Indicator {
			continue
		}
		if r := restricted(i, needed); r != "" {
			return r
		}
		if slices.Equal(needed, x.args) {
			return column(i)
		}
	}
	return ""
}

// indicates is not NULL where all that is needed is there. PostgreSQL can count values as they are.
func indicates(needed []string) string {
	if len(needed) == 1 {
		return needed[0]
	}
	return "CASE WHEN " + present(needed) + " THEN 1 END"
}

// present is true where nothing of what is needed is NULL.
func present(needed []string) string {
	var out []string
	for _, n := range needed {
		out = append(out, "("+n+") IS NOT NULL")
	}
	return strings.Join(out, " AND ")
}

// fewer is how many multiplications a row must be saved at least for a further subselect to be worth it.
const fewer = 4

// pair has products of two factors evaluated once, where that saves enough multiplications.
func (e *evaluation) pair() {
	before, after := 0, 0
	var pairs [][2]string
	for _, m := range e.products {
		before, after = before+max(0, len(m.factors)-1), after+max(0, (len(m.factors)-1)/2)
		for i := 0; i+1 < len(m.factors); i += 2 {
			if p := [2]string(m.factors[i : i+2]); !slices.Contains(pairs, p) {
				pairs = append(pairs, p)
			}
		}
	}
	if before-after-len(pairs) <= fewer {
		return
	}

	// Each pair has a name, which takes its place wherever it stands.
	names := map[[2]string]string{}
	for k, p := range pairs {
		names[p] = "p" + strconv.Itoa(k+1)
		e.pairs = append(e.pairs, p[0]+" * "+p[1]+" AS "+names[p])
	}

	for n, m := range e.products {
		var factors []string
		for i := 0; i < len(m.factors); i += 2 {
			if i+1 < len(m.factors) {
				factors = append(factors, names[[2]string(m.factors[i:i+2])])
			} else {
				factors = append(factors, m.factors[i])
			}
		}
		e.products[n].factors = factors
	}
}
