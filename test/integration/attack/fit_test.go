//go:build fuguhooks

package attack

import (
	"fmt"
	"math/bits"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// scatter is a way to make many values of a row's columns that follow no pattern: %d is a prime number, of which each
// makes another. Comparisons of two of them are as good as coins.
type scatter struct{ name, of string }

// None needs a hash: some are arithmetic, some text, some dates and casts.
var scatters = []scatter{
	{"remainders", "serial %% %[1]d"},
	{"remainders of products", "serial::int8 * 7919 %% %[1]d"},
	{"remainders of sums with other columns", "(serial + age * 31) %% %[1]d"},
	{"remainders of squares", "mod(serial::int8 * serial, %[1]d)"},
	{"middle digits", "substr((serial::int8 * %[1]d)::text, 6, 5)"},
	{"digits put together", "right((serial::int8 * %[1]d)::text, 4) || age"},
	{"digits replaced", "replace(right((serial::int8 * %[1]d)::text, 5), '7', '3')"},
	{"padded and cut", "left(lpad((serial %% %[1]d)::text, 4, '0'), 3)"},
	{"digits of fractions", "right((serial / %[1]d.0)::numeric(20,6)::text, 6)"},
	{"days of the year", "extract(doy FROM joined + serial %% (100 * %[1]d))"},
	{"casts to real numbers", "(serial::float8 / %[1]d)::numeric(20,4) %% 1"},
	{"fractions of roots", "sqrt(serial::numeric * %[1]d) %% 1"},
	{"CASE over columns", "CASE WHEN age < 40 THEN serial %% %[1]d ELSE serial / 7 %% %[1]d END"},
	{"the greatest of two", "greatest(serial %% %[1]d, visits + serial / 9 %% %[1]d)"},
}

const coins = 20 // values of a row

var primes = [coins]int{1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051, 1061, 1063, 1069, 1087, 1091, 1093, 1097,
	1103, 1109, 1117, 1123}

// knownReference makes the public reference a small one, which statements are fitted to; and the secret a narrower
// range, as there is little that so few rows say of percentiles beyond it.
var knownReference = []string{"public.customer_reference", "public.few", "to: 0.60", "to: 0.30"}

// fitted is a condition that no row of the reference with a high income meets.
type fitted struct {
	values []string // SQL of the coins
	where  string   // over c0, c1, ...
	share  float64  // of the rows with a high income that meet it, as far as numbers can tell

	refused *error // the last refusal, that the model does not fit
}

var fits struct {
	sync.Mutex
	of map[string]fitted
}

// fit makes a condition for the small reference.
func (s scatter) fit(a analyst) fitted { return s.fitTo(a, "few", 5) }

// fitTo makes a tree of comparisons, each of which halves the rows, with leaves that are chosen by a reference: so many
// levels that a leaf has some three of its rows with a high income. It knows nothing of the protected rows.
func (s scatter) fitTo(a analyst, reference string, levels int) fitted {
	a.t.Helper()
	fits.Lock()
	defer fits.Unlock()
	name := s.name + " in " + reference
	if f, ok := fits.of[name]; ok {
		f.refused = new(error)
		return f
	}
	f := fitted{refused: new(error)}
	for i := range coins {
		f.values = append(f.values, fmt.Sprintf(s.of, primes[i]))
	}
	// Rows of the reference, and made-up ones: twice the same with new serial numbers, to choose by and to judge by.
	made := "(SELECT * FROM " + reference + " WHERE income = 'high') r"
	invented := func(name string) [][]bool {
		return f.compare(a, "(SELECT age, visits, joined, scattered('"+name+"' || g, id) AS serial FROM "+made+
			", generate_series(1, 20) g OFFSET 0) s")
	}
	rows, train, judge := f.compare(a, made), invented("train"), invented("judge")
	chosen := choose(byLeaf(rows, levels), byLeaf(train, levels))
	met := 0
	for _, r := range judge {
		if c := chosen[leaf(r, levels)]; c[0] >= 0 && (r[c[0]] || r[c[1]]) {
			met++
		}
	}
	f.share = float64(met) / float64(len(judge))
	f.where = tree(chosen, levels, 0, 0)
	if fits.of == nil {
		fits.of = map[string]fitted{}
	}
	fits.of[name] = f
	return f
}

// leaf is the leaf of a tree of so many levels that a row comes to.
func leaf(row []bool, levels int) int {
	n := 0
	for l := range levels {
		n *= 2
		if row[pair(2*l, 2*l+1)] {
			n++
		}
	}
	return n
}

// rowSet is a set of rows, a bit each.
type rowSet = []uint64

// byLeaf returns which of the rows in each leaf meet each comparison.
func byLeaf(rows [][]bool, levels int) [][]rowSet {
	of, members := make([][]rowSet, 1<<levels), make([][][]bool, 1<<levels)
	for _, r := range rows {
		n := leaf(r, levels)
		members[n] = append(members[n], r)
	}
	for l, list := range members {
		for p := range coins * coins {
			s := make(rowSet, (len(list)+63)/64)
			for i, r := range list {
				if r[p] {
					s[i/64] |= 1 << (i % 64)
				}
			}
			of[l] = append(of[l], s)
		}
	}
	return of
}

// choose takes for each leaf the two comparisons that no row of the reference meets, and most of the made-up ones; -1
// where there are none.
func choose(real, made [][]rowSet) [][2]int {
	chosen := make([][2]int, len(real))
	for l := range chosen {
		chosen[l] = [2]int{-1, -1}
		var free []int // comparisons that no row of the reference in this leaf meets
		for p := range coins * coins {
			empty := p/coins != p%coins
			for _, w := range real[l][p] {
				empty = empty && w == 0
			}
			if empty {
				free = append(free, p)
			}
		}
		most := -1
		for i, p := range free {
			for _, q := range free[i:] {
				n := 0
				for w := range made[l][p] {
					n += bits.OnesCount64(made[l][p][w] | made[l][q][w])
				}
				if n > most {
					most, chosen[l] = n, [2]int{p, q}
				}
			}
		}
	}
	return chosen
}

// tree is the condition in SQL: from a level on, where so much of the leaf is known.
func tree(chosen [][2]int, levels, level, l int) string {
	text := func(p int) string { return fmt.Sprintf("c%d < c%d", p/coins, p%coins) }
	if level == levels {
		if chosen[l][0] < 0 {
			return "false"
		}
		return text(chosen[l][0]) + " OR " + text(chosen[l][1])
	}
	return "CASE WHEN " + text(pair(2*level, 2*level+1)) + " THEN " + tree(chosen, levels, level+1, 2*l+1) + " ELSE " +
		tree(chosen, levels, level+1, 2*l) + " END"
}

func pair(a, b int) int { return a*coins + b }

// compare compares the coins of rows, each with each. PostgreSQL says of each coin how many of the row's are less: that
// is twenty numbers to read for four hundred comparisons. The OFFSET is a fence, as the one in fitTo: without it a
// coin, and the hash in it, would be worked out for each of the forty comparisons that it is in.
func (f fitted) compare(a analyst, from string) [][]bool {
	var ranks []string
	for j := range coins {
		var less []string
		for i := range coins {
			if i != j {
				less = append(less, fmt.Sprintf("(c%d < c%d)::int", i, j))
			}
		}
		ranks = append(ranks, strings.Join(less, " + "))
	}
	rows, err := a.as(a.t, "postgres").Query(a.t.Context(), "SELECT ARRAY["+strings.Join(ranks, ", ")+"] FROM ("+
		"SELECT "+f.named()+" FROM "+from+" OFFSET 0) c")
	if err != nil {
		a.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[[]int32])
	if err != nil {
		a.t.Fatal(err)
	}
	out := make([][]bool, len(all))
	for r, rank := range all {
		for i := range coins {
			for j := range coins {
				out[r] = append(out[r], rank[i] < rank[j])
			}
		}
	}
	return out
}

func (f fitted) named() string {
	var out []string
	for i, v := range f.values {
		out = append(out, fmt.Sprintf("%s AS c%d", v, i))
	}
	return strings.Join(out, ", ")
}

// from is the protected rows with their coins.
func (f fitted) from() string { return "(SELECT *, " + f.named() + " FROM customer) s" }
