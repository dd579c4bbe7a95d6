package alike

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// table is what questions are made of: columns, and conditions with another way to write each.
type table struct {
	dataset, name string
	keys          []key
	numbers       []string    // never NULL in the reference
	conditions    [][2]string // both select the same rows
}

// key is a column with public values, and expressions that are one to one with it.
type key struct {
	column    string
	spelled   []string
	condition [2]string // over the column alone: itself, and as a CASE of two values
}

var tables = []table{
	{"adult", "adult", []key{
		{"sex", []string{"upper(sex)", "sex || '.'", "CASE sex WHEN 'Male' THEN 1 ELSE 2 END"},
			[2]string{"sex = 'Male'", "CASE WHEN sex = 'Male' THEN 'yes' ELSE 'no' END"}},
		{"education", []string{"lower(education)", "'is ' || education", "education::varchar"},
			[2]string{"education IN ('HS-grad', 'Masters')", "CASE WHEN education = 'HS-grad' " +
				"OR education = 'Masters' THEN 1 ELSE 0 END"}},
		{"age", []string{"age + 1", "age * 2", "age::text"}, [2]string{"age < 40", "CASE WHEN age >= 40 THEN 'old' " +
			"ELSE 'young' END"}},
	}, []string{"age", "hours_per_week", "capital_gain", "fnlwgt"}, [][2]string{
		{"age BETWEEN 30 AND 50", "age >= 30 AND NOT age > 50"},
		{"education IN ('HS-grad', 'Bachelors')", "(education = 'HS-grad' OR 'Bachelors' = education)"},
		{"hours_per_week > 35", "NOT (hours_per_week <= 35)"},
		{"sex <> 'Male'", "NOT sex = 'Male'"},
		{"workclass = 'Private'", "'Private' = workclass"},
	}},
	{"shop", "orders", []key{
		{"status", []string{"upper(status)", "status || '!'", "initcap(status)"},
			[2]string{"status = 'open'", "CASE WHEN status = 'open' THEN 'a' ELSE 'b' END"}},
		{"channel", []string{"'by ' || channel", "CASE channel WHEN 'web' THEN 1 WHEN 'shop' THEN 2 ELSE 3 END"},
			[2]string{"channel <> 'web'", "CASE WHEN channel = 'web' THEN 0 ELSE 1 END"}},
		{"country", []string{"lower(country)", "country::varchar(2)"}, [2]string{"country IN ('DE', 'AT')",
			"CASE WHEN country = 'DE' THEN 1 WHEN country = 'AT' THEN 1 ELSE 0 END"}},
		{"priority", []string{"priority + 10", "priority::text", "-priority"}, [2]string{"priority > 1",
			"CASE WHEN priority <= 1 THEN 'low' ELSE 'high' END"}},
		{"quantity", []string{"quantity * 3", "quantity::numeric"}, [2]string{"quantity > 4",
			"CASE WHEN quantity > 4 THEN 'many' ELSE 'few' END"}},
		{"is_paid", []string{"NOT is_paid", "is_paid::int"}, [2]string{"NOT is_paid", "CASE WHEN is_paid THEN 0 ELSE " +
			"1 END"}},
	}, []string{"amount", "quantity", "tax", "priority"}, [][2]string{
		{"quantity BETWEEN 2 AND 6", "quantity >= 2 AND quantity <= 6"},
		{"country IN ('DE', 'JP')", "(country = 'DE' OR country = 'JP')"},
		{"amount > 100", "NOT amount <= 100"},
		{"created_on >= '2024-03-01'", "NOT created_on < '2024-03-01'"},
		{"is_paid", "is_paid = true"},
		{"rating IS NOT NULL", "NOT rating IS NULL"},
		{"status <> 'returned'", "status NOT IN ('returned')"},
	}},
	{"clinic", "patients", []key{
		{"sex", []string{"upper(sex)", "CASE sex WHEN 'f' THEN 'woman' ELSE 'man' END"},
			[2]string{"sex = 'f'", "CASE WHEN sex = 'f' THEN 1 ELSE 2 END"}},
		{"region", []string{"initcap(region)", "region || ' side'"}, [2]string{"region IN ('north', 'east')",
			"CASE WHEN region = 'north' OR region = 'east' THEN 'ne' ELSE 'sw' END"}},
	}, []string{"height", "birth_year"}, [][2]string{
		{"birth_year < 1970", "NOT birth_year >= 1970"},
		{"region = 'north'", "'north' = region"},
		{"height > 1.6", "NOT height <= 1.6"},
		{"weight IS NOT NULL", "NOT weight IS NULL"},
	}},
	{"clinic", "visits", []key{
		{"department", []string{"upper(department)"}, [2]string{"department = 'eye'", "CASE WHEN department = 'eye' " +
			"THEN 1 ELSE 0 END"}},
		{"urgent", []string{"NOT urgent", "urgent::int"}, [2]string{"urgent", "CASE WHEN urgent THEN 1 ELSE 0 END"}},
	}, []string{"cost", "minutes"}, [][2]string{
		{"minutes > 30", "NOT minutes <= 30"},
		{"cost BETWEEN 50 AND 200", "cost >= 50 AND cost <= 200"},
	}},
}

// question is a grouped or ungrouped aggregate of a table, drawn at random.
type question struct {
	table      table
	keys       []key
	aggregates []string
	where      [2]string // empty: all rows
}

func draw(r *rand.Rand) question {
	q := question{table: tables[r.IntN(len(tables))]}
	for _, i := range r.Perm(len(q.table.keys))[:[]int{0, 1, 1, 1, 2}[r.IntN(5)]] {
		q.keys = append(q.keys, q.table.keys[i])
	}
	if len(q.keys) == 2 && slices.ContainsFunc(q.keys, func(k key) bool { return k.column == "age" }) {
		q.keys = q.keys[:1] // a thousand cells take their time
	}
	for range 1 + r.IntN(2) {
		number := q.table.numbers[r.IntN(len(q.table.numbers))]
		a := []string{"count(*)", "avg(" + number + ")", "sum(" + number + ")"}[r.IntN(3)]
		if !slices.Contains(q.aggregates, a) {
			q.aggregates = append(q.aggregates, a)
		}
	}
	if r.IntN(2) == 0 {
		q.where = q.table.conditions[r.IntN(len(q.table.conditions))]
	}
	return q
}

func (q question) columns() []string {
	var out []string
	for _, k := range q.keys {
		out = append(out, k.column)
	}
	return out
}

// written puts a statement together.
type written struct {
	keys, aggregates []string
	from, where      string
	group            string // empty: the keys
	rest             string
}

func (q question) plain() written {
	return written{keys: q.columns(), aggregates: q.aggregates, from: q.table.name, where: q.where[0]}
}

func (w written) sql() string {
	out := "SELECT " + strings.Join(append(slices.Clone(w.keys), w.aggregates...), ", ") + " FROM " + w.from
	if w.where != "" {
		out += " WHERE " + w.where
	}
	switch {
	case w.group != "":
		out += " GROUP BY " + w.group
	case len(w.keys) > 0:
		out += " GROUP BY " + strings.Join(w.keys, ", ")
	}
	return out + w.rest
}

// filtered is an aggregate over the rows that fulfil a condition.
func filtered(aggregate, condition string) string {
	return fmt.Sprintf("%s FILTER (WHERE %s)", aggregate, condition)
}

// cased is the same as an aggregate of a CASE.
func cased(aggregate, condition string) string {
	name, argument, _ := strings.Cut(strings.TrimSuffix(aggregate, ")"), "(")
	if argument == "*" {
		argument = "1"
	}
	return fmt.Sprintf("%s(CASE WHEN %s THEN %s END)", name, condition, argument)
}
