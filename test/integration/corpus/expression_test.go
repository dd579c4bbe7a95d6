//go:build fuguhooks

package corpus

import (
	"fmt"
	"slices"
	"strings"
)

func (g *grammar) where(c func(string) string) string {
	if g.chance(40) {
		return ""
	}
	return " WHERE " + g.predicate(c, 2)
}

// predicate makes a condition over a row.
func (g *grammar) predicate(c func(string) string, depth int) string {
	if depth > 0 && g.chance(45) {
		l, r := g.predicate(c, depth-1), g.predicate(c, depth-1)
		return g.one("("+l+" OR "+r+")", "("+l+" OR "+r+")", l+" AND "+r, "NOT ("+l+")", "("+l+") IS NOT TRUE",
			"CASE WHEN "+l+" THEN "+r+" ELSE true END")
	}
	switch g.IntN(12) {
	case 0:
		return g.number(c, 1) + g.one(" > ", " >= ", " < ", " <> ", " <= ") + g.number(c, 1)
	case 1:
		return c("quantity") + g.one(" BETWEEN ", " NOT BETWEEN ") + g.one("1", "2", "4") + " AND " +
			g.one("3", "7", "9")
	case 2:
		return c("country") + g.one(" IN ", " NOT IN ") + g.one("('DE', 'AT')", "('BR', 'JP', 'CH')", "('DE')")
	case 3:
		return c("status") + g.one(" = ", " <> ", " > ", " IS DISTINCT FROM ") + g.one("'new'", "'open'", "'shipped'")
	case 4:
		return c("note") + g.one(" LIKE ", " NOT LIKE ", " ILIKE ") + g.one("'note%'", "'%b%'", "'_a%'",
			"'%50!%%' ESCAPE '!'")
	case 5:
		return c("created_on") + g.one(" >= ", " < ", " > ") + g.one("'2024-02-10'", "date '2024-06-30'",
			"date '2024-12-01' - 40")
	case 6:
		return c("created_at") + g.one(" >= ", " < ") + g.one("timestamp '2024-03-15 12:00'", "'2024-08-01'",
			"timestamp '2024-09-01' - interval '1 month'")
	case 7:
		return g.one(c("rating"), c("discount"), c("note"), c("is_gift"), c("shipped_at"), c("product_id")) +
			g.one(" IS NULL", " IS NOT NULL")
	case 8:
		return g.one(c("is_paid"), "NOT "+c("is_paid"), c("is_gift")+" IS NOT FALSE", c("is_gift")+" IS TRUE",
			c("is_paid")+" = true")
	case 9:
		return "extract(" + g.one("month", "day", "isodow", "doy") + " FROM " + g.one(c("created_on"),
			c("created_at")) + ") " + g.one("> 3", "< 6", "<> 2")
	case 10:
		return g.one(c("product_id")+" IN (SELECT id FROM products WHERE active)", "EXISTS (SELECT 1 FROM products e "+
			"WHERE e.id = "+c("product_id")+" AND e.category <> 'Seat')",
			c("country")+" IN (SELECT code FROM countries WHERE region = 'Europe')", "NOT EXISTS (SELECT FROM tags e "+
				"WHERE e.product_id = "+c("product_id")+" AND e.tag = 'sale')")
	}
	return g.one("length("+c("note")+") > 5", "lower("+c("status")+") < 'p'", "left("+c("country")+", 1) <> 'A'",
		"coalesce("+c("note")+", '') <> ''", c("quantity")+" % 3 = 1", c("status")+" || "+c("channel")+" <> 'newweb'")
}

// number makes a numeric expression over a row.
func (g *grammar) number(c func(string) string, depth int) string {
	if depth == 0 || g.chance(30) {
		return g.one(c("quantity"), c("amount"), c("discount"), c("tax"), c("rating"), c("priority"), c("customer_id"),
			c("id"), "2", "0.5", "10")
	}
	x, y := g.number(c, depth-1), g.number(c, depth-1)
	switch g.IntN(9) {
	case 0, 1:
		return "(" + x + g.one(" + ", " - ", " * ") + y + ")"
	case 2:
		return "(" + x + " / nullif(" + y + ", 0))"
	case 3:
		return "CASE WHEN " + g.predicate(c, 0) + " THEN " + x + " ELSE " + g.one("0", y) + " END"
	case 4:
		return "coalesce(" + g.one(c("rating"), c("discount"), x) + ", " + g.one("0", "1", y) + ")"
	case 5:
		return g.one("abs", "floor", "ceil", "round", "sign") + "(" + x + ")"
	case 6:
		return g.one("greatest", "least") + "(" + x + ", " + y + ")"
	case 7:
		return "(" + x + ")::" + g.one("numeric", "float8", "int8", "int")
	}
	return g.one("extract(day FROM "+c("created_on")+")", "length("+c("status")+")", "(- "+x+")", "mod("+c("quantity")+
		", 4)", "nullif("+c("quantity")+", 3)")
}

// statement makes a whole statement.
func (g *grammar) statement() made {
	switch g.IntN(9) {
	case 0, 1: // HAVING, ORDER BY, LIMIT
		c := g.cut(g.IntN(3), 1+g.IntN(3))
		sql := c.sql
		if len(c.keys) > 0 && g.chance(50) {
			sql += " HAVING " + g.one("count(*) > 3", "count(*) >= 0", "sum(quantity) IS NOT NULL", "avg(quantity) > 1")
		}
		if len(c.keys) > 0 && g.chance(60) {
			sql += " ORDER BY " + strings.Join(c.keys, g.one(", ", " DESC, ", " NULLS FIRST, "))
			if g.chance(50) {
				sql += g.one(" LIMIT 3", " LIMIT 2 OFFSET 1", " FETCH FIRST 4 ROWS ONLY")
			}
		}
		return made{sql, []string{c.witness}}
	case 2: // a derived table
		g.sets = true
		c := g.cut(g.IntN(3), 1+g.IntN(3))
		return made{fmt.Sprintf("SELECT %s FROM (%s) %s%s", g.outputs(c), c.sql, g.name(),
			g.one("", " WHERE "+c.aggs[0]+" IS NOT NULL", " WHERE "+c.aggs[0]+" > 10")), []string{c.witness}}
	case 3: // WITH
		g.sets = true
		c := g.cut(g.IntN(3), 1+g.IntN(2))
		n := g.name()
		return made{fmt.Sprintf("WITH %s AS %s(%s) SELECT %s FROM %s", n, g.one("", "MATERIALIZED ",
			"NOT MATERIALIZED "), c.sql, g.outputs(c), n), []string{c.witness}}
	case 4: // windows
		c := g.cut(1+g.IntN(2), 1)
		k := strings.Join(c.keys, ", ")
		return made{fmt.Sprintf("SELECT *, sum(a1) OVER (ORDER BY %s), count(*) OVER (PARTITION BY k1), row_number() "+
			"OVER (ORDER BY %s DESC) FROM (%s) w", k, k, c.sql), []string{c.witness}}
	case 5: // sets
		a, b := g.cut(1, 1), g.cut(1, 1)
		return made{fmt.Sprintf("SELECT k1::text, a1::numeric FROM (%s) a %s SELECT k1::text, a1::numeric FROM (%s) b",
			a.sql, g.one("UNION ALL", "UNION", "EXCEPT", "INTERSECT"), b.sql), []string{a.witness, b.witness}}
	case 6: // scalars
		a, b := g.cut(0, 1), g.cut(0, 1)
		return made{fmt.Sprintf("SELECT (%s) %s nullif((%s), 0) AS r", a.sql, g.one("/", "+", "-", "*"), b.sql),
			[]string{a.witness, b.witness}}
	case 7: // grouping again
		c := g.cut(2, 1)
		return made{fmt.Sprintf("SELECT k1, count(*), sum(a1), min(a1), max(k2::text) FROM (%s) g GROUP BY %s "+
			"ORDER BY k1", c.sql, g.one("k1", "1")), []string{c.witness}}
	}
	a, b := g.cut(1, 1), g.cut(1, 2)
	return made{fmt.Sprintf("SELECT a.k1::text, a.a1, b.a1, b.a2 FROM (%s) a %s JOIN (%s) b ON a.k1::text = b.k1::text",
		a.sql, g.one("LEFT", "FULL", "INNER"), b.sql), []string{a.witness, b.witness}}
}

// outputs makes a list over the columns of a cut.
func (g *grammar) outputs(c cut) string {
	if g.chance(30) {
		return "*"
	}
	out := slices.Clone(c.keys)
	for _, a := range c.aggs {
		out = append(out, g.one(a, a+" + 1 AS "+a+"_more", "round("+a+"::numeric, 2) AS r_"+a, "CASE WHEN "+a+
			" > 100 THEN 'much' ELSE 'little' END AS c_"+a, a+" IS NULL AS n_"+a))
	}
	return strings.Join(out, ", ")
}
