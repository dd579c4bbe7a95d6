package alike

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// pair is a question in two spellings. Every value of the first is one of the second, times scale.
type pair struct {
	left, right string
	scale       float64 // 0: 1

	// answers is how many answers to the first, about the same rows of the root, the second is; 0: 1. For its ε the
	// first is asked as often at a share of it each, and that is the price at which the two are compared.
	answers float64
}

// kind is a way to write a question in other words. rewrite returns false for questions that it says nothing of.
//
// What is no kind, as the two are not alike by design:
//
//   - avg(x) of a group against sum(x)/count(*) in it: a sum and a number move with the size of the group, an average
//     does not, and what two answers' noise makes of a quotient is more than the noise of the quotient. Where the
//     number of rows is public there is a kind.
//   - count(x) against count(*): that x is never NULL is nothing that the policy says, so the one has noise where the
//     other is public.
//   - one statement with many groups and columns against a statement for each: together they share ε, apart each has
//     it. There are kinds for one column or one grouping set more.
type kind struct {
	name    string
	rewrite func(*rand.Rand, question) (pair, bool)
}

var kinds = []kind{
	{"a count beside it", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.aggregates = append(slices.Clone(w.aggregates), "count(*)")
		return pair{left: q.plain().sql(), right: w.sql()}, !slices.Contains(q.aggregates, "count(*)")
	}},
	{"another average beside it", func(r *rand.Rand, q question) (pair, bool) {
		w, more := q.plain(), "avg("+q.table.numbers[r.IntN(len(q.table.numbers))]+")"
		w.aggregates = append([]string{more}, w.aggregates...)
		return pair{left: q.plain().sql(), right: w.sql()}, !slices.Contains(q.aggregates, more)
	}},
	{"a count of the secret beside it", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		secret := map[string]string{"adult": "income = '>50K'", "orders": "is_paid", "patients": "smoker"}[q.table.name]
		w.aggregates = append(slices.Clone(w.aggregates), filtered("count(*)", secret))
		return pair{left: q.plain().sql(), right: w.sql()}, secret != ""
	}},
	{"columns in another order", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.keys, w.aggregates = slices.Clone(w.keys), slices.Clone(w.aggregates)
		slices.Reverse(w.keys)
		slices.Reverse(w.aggregates)
		return pair{left: q.plain().sql(), right: w.sql()}, len(w.keys)+len(w.aggregates) > 2
	}},
	{"FILTER for WHERE", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.where, w.aggregates = "", nil
		for _, a := range q.aggregates {
			w.aggregates = append(w.aggregates, filtered(a, q.where[0]))
		}
		return pair{left: q.plain().sql(), right: w.sql()}, q.where[0] != ""
	}},
	{"CASE for WHERE", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.where, w.aggregates = "", nil
		for _, a := range q.aggregates {
			w.aggregates = append(w.aggregates, cased(a, q.where[0]))
		}
		return pair{left: q.plain().sql(), right: w.sql()}, q.where[0] != ""
	}},
	{"a condition in other words", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.where = q.where[1]
		return pair{left: q.plain().sql(), right: w.sql()}, q.where[0] != ""
	}},
	{"a CASE key for a condition", func(_ *rand.Rand, q question) (pair, bool) {
		if len(q.keys) == 0 {
			return pair{}, false
		}
		v, w := q.plain(), q.plain()
		v.keys, w.keys = []string{q.keys[0].condition[0]}, []string{q.keys[0].condition[1]}
		v.group, w.group = "1", "1"
		return pair{left: v.sql(), right: w.sql()}, true
	}},
	{"WHERE for a group", func(_ *rand.Rand, q question) (pair, bool) {
		if len(q.keys) == 0 {
			return pair{}, false
		}
		v, w := q.plain(), q.plain()
		v.keys, v.where = nil, q.keys[0].condition[0]
		w.keys, w.where, w.group = []string{q.keys[0].condition[0]}, "", "1"
		// A patient has visits in both groups: the second statement answers twice about each row of the root.
		answers := map[string]float64{"visits": 2}[q.table.name]
		return pair{left: v.sql(), right: w.sql(), answers: answers}, true
	}},
	{"one grouping set", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.group = "GROUPING SETS ((" + strings.Join(w.keys, ", ") + "))"
		return pair{left: q.plain().sql(), right: w.sql()}, len(q.keys) > 0
	}},
	{"a total beside the groups", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.group = "GROUPING SETS ((" + strings.Join(w.keys, ", ") + "), ())"
		return pair{left: q.plain().sql(), right: w.sql()}, len(q.keys) > 0
	}},
	{"a total for a rollup's", func(_ *rand.Rand, q question) (pair, bool) {
		v, w := q.plain(), q.plain()
		v.keys = nil
		if len(w.keys) > 1 {
			w.keys = w.keys[:1]
		}
		w.group = "ROLLUP (" + strings.Join(w.keys, ", ") + ")"
		return pair{left: v.sql(), right: w.sql()}, len(q.keys) > 0
	}},
	{"a derived table", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.from, w.where = "(SELECT * FROM "+q.table.name+where(q.where[0])+") d", ""
		return pair{left: q.plain().sql(), right: w.sql()}, true
	}},
	{"WITH", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.from, w.where = "d", ""
		return pair{left: q.plain().sql(), right: "WITH d AS (SELECT * FROM " + q.table.name + where(q.where[0]) +
			") " + w.sql()}, true
	}},
	{"HAVING true", func(_ *rand.Rand, q question) (pair, bool) {
		w := q.plain()
		w.rest = " HAVING true"
		return pair{left: q.plain().sql(), right: w.sql()}, true
	}},
	{"a key that is one to one with the column", func(r *rand.Rand, q question) (pair, bool) {
		if len(q.keys) == 0 {
			return pair{}, false
		}
		w := q.plain()
		w.keys = slices.Clone(w.keys)
		w.keys[0] = q.keys[0].spelled[r.IntN(len(q.keys[0].spelled))]
		w.group = strings.Join([]string{"1", "2"}[:len(w.keys)], ", ")
		return pair{left: q.plain().sql(), right: w.sql()}, true
	}},
	{"a sum over the public number of rows for an average", func(r *rand.Rand, q question) (pair, bool) {
		rows := map[string]float64{"orders": 9000, "patients": 2000}[q.table.name]
		number := q.table.numbers[r.IntN(len(q.table.numbers))]
		left := fmt.Sprintf("SELECT avg(%s) FROM %s", number, q.table.name)
		right := fmt.Sprintf("SELECT sum(%s), count(*) FROM %s", number, q.table.name)
		return pair{left: left, right: right, scale: 1 / rows}, rows > 0
	}},
	{"date_trunc for extract", func(_ *rand.Rand, q question) (pair, bool) {
		v, w := q.plain(), q.plain()
		v.keys, w.keys = []string{"extract(month FROM created_on)"}, []string{"date_trunc('month', created_on)"}
		v.group, w.group = "1", "1"
		return pair{left: v.sql(), right: w.sql()}, q.table.name == "orders"
	}},
	{"a dimension for the key", func(_ *rand.Rand, q question) (pair, bool) {
		v, w := q.plain(), q.plain()
		v.from, w.from = "orders o", "orders o JOIN countries c ON c.code = o.country"
		v.keys, w.keys = []string{"o.country"}, []string{"c.name"}
		return pair{left: v.sql(), right: w.sql()}, q.table.name == "orders"
	}},
	{"a dimension for a condition", func(r *rand.Rand, q question) (pair, bool) {
		v, w := q.plain(), q.plain()
		of := [][2]string{
			{"country IN ('DE', 'AT')", "name LIKE '%t%ia%' OR name = 'Germany'"},
			{"country <> 'JP'", "c.population > 0"},
			{"country = 'BR'", "c.region = 'America'"},
		}[r.IntN(3)]
		v.where, w.where = of[0], of[1]
		if q.where[0] != "" {
			v.where, w.where = v.where+" AND "+q.where[0], "("+w.where+") AND "+q.where[0]
		}
		w.from = "orders JOIN countries c ON c.code = country"
		about := slices.Contains(q.columns(), "country") || strings.Contains(q.where[0], "country")
		return pair{left: v.sql(), right: w.sql()}, q.table.name == "orders" && !about
	}},
	{"a null test for a count of a column", func(_ *rand.Rand, q question) (pair, bool) {
		v, w := q.plain(), q.plain()
		column := map[string]string{"orders": "rating", "patients": "weight"}[q.table.name]
		v.aggregates = []string{"count(" + column + ")"}
		w.aggregates = []string{filtered("count(*)", column+" IS NOT NULL")}
		return pair{left: v.sql(), right: w.sql()}, column != ""
	}},
}

func where(condition string) string {
	if condition == "" {
		return ""
	}
	return " WHERE " + condition
}
