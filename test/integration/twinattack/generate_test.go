//go:build fuguhooks

package twinattack

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes statements at random, of all kinds that an analyst may ask of a twin; some fail, and how they fail
// is compared as well.
type generator struct{ *rand.Rand }

func (g generator) pick(words ...string) string { return words[g.IntN(len(words))] }

// value is an expression over a row, of a number.
func (g generator) value(depth int) string {
	column := g.pick("age", "fnlwgt", "education_num", "hours_per_week", "capital_gain", "id", "length(name)",
		"length(note)", "spike", "extract(doy FROM joined)")
	if depth == 0 || g.IntN(3) == 0 {
		return column
	}
	other := g.value(depth - 1)
	return g.pick(
		column+" + "+other, "("+column+") * 2 - ("+other+")", column+" % 7", "abs("+column+" - "+other+")",
		fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.condition(depth-1), column, other),
		fmt.Sprintf("%s / nullif(%s, 0)", column, other), column+" / ("+other+")", // some of these divide by zero
		fmt.Sprintf("coalesce(nullif(%s, %d), %s)", column, g.IntN(60), other),
		fmt.Sprintf("('x' || substr(md5((%s)::text), 1, 6))::bit(24)::int", column),
		fmt.Sprintf("hashtext((%s)::text)", other),
		"length(reverse(("+column+")::text))", "(substr(note, 2, 3))::int")
}

// condition is a predicate over a row.
func (g generator) condition(depth int) string {
	simple := g.pick(
		fmt.Sprintf("income = '%s'", g.pick(">50K", "<=50K")), fmt.Sprintf("sex = '%s'", g.pick("Female", "Male")),
		fmt.Sprintf("age %s %d", g.pick("<", ">", "="), 17+g.IntN(70)), fmt.Sprintf("education IN ('%s', '%s')",
			g.pick("HS-grad", "Doctorate"), g.pick("Bachelors", "Masters")),
		fmt.Sprintf("name LIKE '%%%d'", g.IntN(10)), fmt.Sprintf("joined BETWEEN '2026-%02d-01' AND '2026-12-01'",
			1+g.IntN(12)),
		"note <> 'seen'", "spike = 'NaN'", "race = 'Martian'", fmt.Sprintf("id %% %d = 0", 2+g.IntN(9)),
		"token::text < '8'")
	if depth == 0 || g.IntN(2) == 0 {
		return simple
	}
	return g.pick(
		simple+" AND "+g.condition(depth-1), "("+simple+" OR "+g.condition(depth-1)+")",
		"NOT ("+g.condition(depth-1)+")",
		fmt.Sprintf("%s > %s", g.value(depth-1), g.value(depth-1)), fmt.Sprintf("(%s) IS NULL", g.value(depth-1)),
		fmt.Sprintf("EXISTS (SELECT FROM visit v WHERE v.person = adult.id AND v.cost > %d)", g.IntN(100000)),
		fmt.Sprintf("age > (SELECT %s FROM adult WHERE %s)", g.pick("avg(age)", "min(age)",
			"percentile_disc(.3) WITHIN GROUP (ORDER BY age)"), g.condition(0)),
		fmt.Sprintf("sex IN (SELECT region FROM plain WHERE weight < %d)", g.IntN(4)))
}

func (g generator) aggregate() string {
	v := g.value(g.IntN(3))
	return g.pick("count(*)", "sum("+v+")", "avg("+v+")", "min("+v+")", "max("+v+")", "count(DISTINCT "+v+")",
		"stddev_samp("+v+")",
		"percentile_cont(0."+g.pick("1", "5", "96")+") WITHIN GROUP (ORDER BY "+v+")",
		"count(*) FILTER (WHERE "+g.condition(1)+")",
		"mode() WITHIN GROUP (ORDER BY "+v+")", "corr("+v+", age)", "string_agg(DISTINCT race, ',')",
		"array_agg("+v+")", "bool_and("+g.condition(1)+")",
		"sum(CASE WHEN "+g.condition(1)+" THEN "+v+" ELSE -age END)", "md5(string_agg(adult::text, ','))",
		"json_agg(age ORDER BY id)")
}

func (g generator) key() string {
	return g.pick("sex", "race", "education", "income", "age / 10", "joined - joined % 7",
		"date_trunc('month', joined)", "income, sex", "hours_per_week > 40", "left(name, 6)")
}

// query is a SELECT.
func (g generator) query() string {
	var where string
	if g.IntN(3) > 0 {
		where = " WHERE " + g.condition(2)
	}
	name := g.pick("adult", "adult", "public.adult AS adult", `"adult"`, "fugu_twin.adult AS adult")
	switch g.IntN(10) {
	case 0, 1:
		return fmt.Sprintf("SELECT %s, %s FROM %s%s", g.aggregate(), g.aggregate(), name, where)
	case 2, 3:
		key := g.key()
		return fmt.Sprintf("SELECT %s, %s, %s FROM %s%s GROUP BY %[1]s%s", key, g.aggregate(), g.aggregate(), name,
			where,
			g.pick("", " HAVING count(*) > 3", " ORDER BY count(*) DESC LIMIT 3", " ORDER BY 2, 1"))
	case 4:
		return fmt.Sprintf("SELECT * FROM %s%s LIMIT %d", name, where, g.IntN(6)) // in the order in which the rows lie
	case 5:
		return fmt.Sprintf("SELECT ctid, xmin, %s, %s OVER (PARTITION BY %s ORDER BY id) FROM %s%s ORDER BY id LIMIT 4",
			g.value(2), g.pick("row_number()", "sum(age)", "lag(name)", "rank()"), g.pick("sex", "education",
				"income"), name, where)
	case 6:
		return fmt.Sprintf("SELECT %s, count(*), sum(v.cost) FROM %s JOIN visit v ON v.person = adult.id%s "+
			"GROUP BY %[1]s", g.pick("sex", "income", "education"), name, where)
	case 7:
		return fmt.Sprintf("SELECT count(*), max(a.id - b.id) FROM adult a JOIN adult b USING (age, %s) "+
			"WHERE a.income <> b.income", g.pick("sex", "education"))
	case 8:
		return fmt.Sprintf("WITH x AS (SELECT %s AS k, %s AS v FROM %s%s GROUP BY 1) SELECT count(*), min(v::text) "+
			"FROM x", g.pick("race", "education"), g.aggregate(), name, where)
	default:
		return fmt.Sprintf("SELECT count(*), %s FROM %s TABLESAMPLE BERNOULLI (%d) REPEATABLE (%d)%s",
			g.aggregate(), g.pick("adult", "public.adult"), 5+g.IntN(60), g.IntN(99),
			g.pick("", " WHERE income = '>50K'"))
	}
}

// script is a statement, or a few that are divided by " | ".
func (g generator) script() string {
	q := g.query()
	switch g.IntN(20) {
	case 0:
		return "EXPLAIN " + q
	case 1:
		return "EXPLAIN (ANALYZE, TIMING off, SUMMARY off, BUFFERS off) " + q
	case 2:
		return "COPY (" + q + ") TO STDOUT"
	case 3:
		return "BEGIN | DECLARE c SCROLL CURSOR FOR " + q + " | FETCH 2 FROM c | FETCH LAST FROM c | ROLLBACK"
	case 4:
		return "BEGIN | CREATE TEMP TABLE kept AS " + strings.Replace(q, "SELECT", "SELECT 1 AS one,",
			1) + " | SELECT count(*), md5(string_agg(kept::text, ',')), pg_relation_size('kept') FROM kept | ROLLBACK"
	case 5:
		return g.pick("SELECT pg_relation_size('adult'), pg_total_relation_size('fugu_twin.adult')",
			"SELECT relname, reltuples, relpages FROM pg_class WHERE relname ~ 'adult|visit'",
			"SELECT * FROM pg_stats WHERE tablename = 'adult'",
			"SELECT n_live_tup, n_tup_ins FROM pg_stat_all_tables WHERE relname = 'adult'",
			"SELECT told, taken, count_error FROM fugu.twin",
			"EXPLAIN (PRIVACY) SELECT count(*) FROM adult",
			"SELECT tableoid::regclass, count(*) FROM adult GROUP BY 1", "SELECT max(ssn) FROM adult",
			"INSERT INTO adult (id) VALUES (1)",
			"SELECT pg_column_size(adult) FROM adult ORDER BY 1 DESC LIMIT 2",
			"SELECT last_value FROM pg_sequences", "TRUNCATE adult", "SELECT * FROM visit LIMIT 3",
			"SELECT id FROM visit ORDER BY id DESC LIMIT 2")
	}
	return q
}
