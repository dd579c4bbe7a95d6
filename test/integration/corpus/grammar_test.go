//go:build fuguhooks

package corpus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// grammar makes statements over the fixture's orders. Everything that it makes is valid for PostgreSQL, but for what
// overflows or divides by zero.
type grammar struct {
	*rand.Rand
	aliases int
	sets    bool // cuts may have grouping sets
}

// made is a statement with its witnesses: queries that are true if no group of a cut is empty, so that PostgreSQL shows
// the same groups as Fugu.
type made struct {
	sql       string
	witnesses []string
}

func (g *grammar) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *grammar) chance(percent int) bool { return g.IntN(100) < percent }

// name makes an alias that the statement does not have yet.
func (g *grammar) name() string {
	g.aliases++
	return fmt.Sprintf(g.one("t%d", "q%d", "sub%d", `"T %d"`, "x_%d"), g.aliases)
}

// pick returns n different items.
func (g *grammar) pick(n int, of []string) []string {
	var out []string
	for _, i := range g.Perm(len(of))[:min(n, len(of))] {
		out = append(out, of[i])
	}
	return out
}

// source is what a cut reads: text for FROM, and what stands for each column in it.
type source struct {
	from   string
	whole  string // the same without conditions
	column func(string) string
	domain string              // how many values a key of the joined table has
	keys   map[string][]string // group keys by the column that they depend on
}

var orderColumns = []string{"id", "customer_id", "product_id", "status", "channel", "country", "created_at",
	"created_on", "shipped_at", "is_paid", "is_gift",
	"amount", "tax", "discount", "quantity", "priority", "rating", "note"}

// keysOf are expressions over the columns that have a public domain. %s is the column.
var keysOf = map[string][]string{
	"status": {"%s", "%s", "upper(%s)", "CASE %[1]s WHEN 'new' THEN 'fresh' ELSE 'old' END"}, "channel": {"%s", "%s"},
	"country": {"%s", "%s", "%s IN ('DE', 'AT')", "lower(%s)"}, "is_paid": {"%s"}, "is_gift": {"%s", "%s IS NULL"},
	"priority": {"%s", "%s > 1"},
	"quantity": {"%s", "%s % 2", "%s / 3", "width_bucket(%s, 1, 9, 2)", "CASE WHEN %s > 4 THEN 'many' ELSE 'few' END",
		"%s::text"}, "rating": {"%s", "coalesce(%s, 0)"},
	"created_on": {"%s", "date_trunc('month', %s)", "extract(quarter FROM %s)", "extract(isodow FROM %s)",
		"date_trunc('month', %s)::date"},
	"created_at": {"date_trunc('month', %s)", "extract(hour FROM %s)", "%s::date", "date_part('month', %s)"},
}

// byDay are the keys of a group for each day.
var byDay = map[string]string{"created_on": "%s", "created_at": "%s::date"}

// source makes what stands in FROM.
func (g *grammar) source() source {
	s := source{keys: map[string][]string{}}
	for c, list := range keysOf {
		s.keys[c] = list
	}
	alias := "orders"
	switch g.IntN(10) {
	case 0, 1, 2:
		s.from = g.one("orders", "public.orders", `"public"."orders"`)
	case 3, 4:
		alias = g.name()
		s.from = g.one("orders", "public.orders") + g.one(" AS ", " ") + alias
	case 5: // a derived table that filters and projects
		alias = g.name()
		s.from = fmt.Sprintf("(SELECT %s FROM orders%s) %s", g.one("*", strings.Join(orderColumns, ", ")),
			g.where(named("orders")), alias)
		s.whole = "orders " + alias
	case 6: // and one in it
		alias = g.name()
		s.from = fmt.Sprintf("(SELECT * FROM (SELECT %s FROM orders) %s%s) AS %s", strings.Join(orderColumns, ", "),
			g.name(), g.where(named("")), alias)
		s.whole = "orders " + alias
	case 7, 8:
		alias = g.name()
		s.from = "orders " + alias
		table := g.IntN(3)
		on := []string{"products p ON p.id = %s.product_id", "countries p ON p.code = %s.country",
			"calendar p ON p.day = %s.created_on"}[table]
		join := g.one(" JOIN ", " LEFT JOIN ", " INNER JOIN ")
		s.from += join + fmt.Sprintf(on, alias)
		s.keys["p"] = []string{[]string{"p.category", "p.region", "p.quarter"}[table]}
		s.domain = "(SELECT count(*) FROM (SELECT DISTINCT " + s.keys["p"][0] + " FROM " +
			[]string{"products p", "countries p", "calendar p"}[table] + ") d)"
		if join == " LEFT JOIN " { // and NULL, for rows that find no partner
			s.domain = "(1 + " + s.domain + ")"
		}
	default:
		alias = g.name()
		s.from = "paid_orders " + alias
		for _, c := range []string{"is_paid", "is_gift", "priority", "rating"} {
			delete(s.keys, c)
		}
	}
	if s.whole == "" {
		s.whole = s.from
	}
	s.column = named(alias)
	if strings.Contains(s.from, "paid_orders") {
		s.column = instead(s.column)
	}
	return s
}

func named(alias string) func(string) string {
	return func(name string) string {
		if alias == "" {
			return name
		}
		return alias + "." + name
	}
}

// instead gives other columns for those that the view paid_orders does not have.
func instead(f func(string) string) func(string) string {
	other := map[string]string{"is_paid": "(%s > 4)", "is_gift": "(%s < 3)", "shipped_at": "created_at",
		"note": "status", "rating": "quantity", "priority": "quantity",
		"discount": "amount", "tax": "amount"}
	return func(name string) string {
		o, ok := other[name]
		switch {
		case !ok:
			return f(name)
		case strings.Contains(o, "%s"):
			return fmt.Sprintf(o, f("quantity"))
		}
		return f(o)
	}
}

// cut makes an aggregating SELECT. Its outputs are named k1.. and a1..
type cut struct {
	sql        string
	keys, aggs []string
	witness    string
}

func (g *grammar) cut(keys, aggs int) cut {
	s := g.source()
	var c cut
	columns := slices.Sorted(maps.Keys(s.keys))
	var list, group, plain, distinct, present []string
	for i, name := range g.pick(keys, columns) {
		key := g.one(s.keys[name]...)
		// a year's days times other keys take their time
		if days := byDay[name]; key == days && keys > 1 && !g.chance(10) {
			key = strings.Replace("date_trunc('month', %s)", "%s", days, 1)
		}
		key = strings.ReplaceAll(key, "%s", "%[1]s")
		key = strings.ReplaceAll(key, "% 2", "%% 2")
		if name != "p" {
			key = fmt.Sprintf(key, s.column(name))
		}
		label := fmt.Sprintf("k%d", i+1)
		c.keys = append(c.keys, label)
		list = append(list, key+" AS "+label)
		plain = append(plain, key)
		group = append(group, g.one(key, fmt.Sprint(i+1)))
		if name == "p" {
			distinct = append(distinct, s.domain)
		} else {
			distinct = append(distinct, fmt.Sprintf("(SELECT count(*) FROM (SELECT DISTINCT %s FROM %s) d)", key,
				s.whole))
		}
	}
	for i := range aggs {
		label := fmt.Sprintf("a%d", i+1)
		c.aggs = append(c.aggs, label)
		agg, arg := g.aggregate(s.column)
		list = append(list, agg+" AS "+label)
		present = append(present, arg)
	}
	where := g.where(s.column)
	tail := ""
	if len(group) > 0 {
		tail = " GROUP BY " + strings.Join(group, ", ")
	}
	c.sql = "SELECT " + strings.Join(list, ", ") + " FROM " + s.from + where
	if all := strings.Join(plain, ", "); g.sets && len(plain) > 0 && g.chance(40) {
		c.sql += " GROUP BY " + g.one("ROLLUP ("+all+")", "CUBE ("+all+")", "GROUPING SETS (("+all+"), ())",
			"GROUPING SETS ("+all+")")
	} else {
		c.sql += tail
	}
	present = append(present, "count(*)")
	// The groups that hold rows, and of each aggregate's values, are all that there can be.
	c.witness = fmt.Sprintf("SELECT (SELECT count(*) FROM (SELECT %s FROM %s%s%s HAVING least(%s) > 0) w) = %s",
		strings.Join(list, ", "), s.from, where, tail, strings.Join(present, ", "),
		strings.Join(append(distinct, "1"), " * "))
	return c
}

// aggregate makes a call, and the count of the rows that it is over.
func (g *grammar) aggregate(c func(string) string) (call, rows string) {
	filter, only := "", ""
	if g.chance(10) {
		only = g.predicate(c, 1)
		filter = " FILTER (WHERE " + only + ")"
	}
	switch g.IntN(8) {
	case 0, 1:
		return "count(*)" + filter, "1"
	case 2:
		return "count(" + g.one(c("rating"), c("note"), c("is_gift"), c("discount"), c("id"), "1") + ")" + filter, "1"
	}
	arg := g.number(c, 2)
	return g.one("sum", "avg", "SUM") + "(" + arg + ")" + filter, "count(" + arg + ")" + filter
}
