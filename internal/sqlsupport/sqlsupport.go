// Package sqlsupport writes the page of the documentation that says which SQL is answered on protected data, how, and
// what is refused with which hint. It takes everything from the tables that the parser and the planner themselves go
// by, and runs every example through the parser, so that the page cannot say otherwise than the program does.
package sqlsupport

import (
	"errors"
	"fmt"
	"strings"

	"fugu/parser"
	"fugu/planner/row"
	"fugu/sqlstate"
)

// section is a heading with the statements that show what it is about.
type section struct {
	title, text string
	statements  []string
}

var sections = []section{
	{"Above the cut: any SQL",
		"Every SELECT that aggregates protected rows is cut out of its statement, at any depth, and " +
			"replaced by a relation of noisy values. What stands above runs on your own connection, as " +
			"PostgreSQL runs it. Several cuts in a statement are one release, charged once; one that comes " +
			"twice has one answer. How far a value may be off is asked beside it: `fugu_noise_sd` of an aggregate is " +
			"the standard deviation of its noise, `fugu_lower` and `fugu_upper` are the ends of its interval at " +
			"`fugu.confidence`, of estimates where these are shown; it costs nothing beside the value. The deviation " +
			"has four digits, and ends are rounded outwards to a hundredth of it or less, as in `fugu.last_release`.",
		[]string{
			"SELECT sex, count(*) AS n FROM adult GROUP BY sex HAVING count(*) > 100 ORDER BY n DESC LIMIT 5",
			"SELECT education, avg(age), rank() OVER (ORDER BY avg(age)), count(*) / sum(count(*)) OVER () AS\n  " +
				"share FROM adult GROUP BY education",
			"WITH m AS MATERIALIZED (SELECT sex, count(*) n FROM adult GROUP BY sex) SELECT m.*, c.name FROM m\n  " +
				"JOIN country c ON length(c.name) < m.n",
			"SELECT education, avg(age), fugu_noise_sd(avg(age)), fugu_lower(avg(age)), fugu_upper(avg(age)) FROM\n  " +
				"adult GROUP BY education",
			"SELECT sex, count(*) FROM adult GROUP BY sex UNION ALL SELECT 'all', count(*) FROM adult",
			"SELECT name FROM country WHERE length(name) < (SELECT avg(age) FROM adult)",
			"INSERT INTO country SELECT sex, count(*)::text FROM adult GROUP BY sex",
			"UPDATE country SET continent = (SELECT count(*)::text FROM adult)",
			"CREATE TABLE kept AS SELECT sex, count(*) FROM adult GROUP BY sex",
			"DECLARE c CURSOR WITH HOLD FOR SELECT sex, count(*) FROM adult GROUP BY sex",
			"COPY (SELECT sex, count(*) FROM adult GROUP BY sex) TO STDOUT WITH CSV",
			"PREPARE q (int) AS SELECT count(*) FROM adult WHERE age > $1",
			"EXPLAIN (PRIVACY) SELECT count(*) FROM adult",
		}},
	{"Below the cut: what is read",
		"Derived tables, WITH queries and views that only filter and choose columns are taken apart; a partition is " +
			"its rows of the whole table. " +
			"Ordinary tables of an owner who may read the protected ones can be joined, and asked with " +
			"EXISTS and IN; the answer then stands for what they hold at that moment. Protected tables can " +
			"be joined where the policy links them; a statistic of the joined rows is summed over what " +
			"belongs to each row of the root, and bounded there. An ordinary table that is joined on a key " +
			"of its own multiplies nothing: grouping by its columns has the noise of grouping by the key. " +
			"Conditions on it alone leave out the groups that are theirs; its rows that no declared value is " +
			"joined with make no group.", []string{
			"SELECT count(*) FROM (SELECT * FROM adult WHERE age > 30) AS s WHERE s.sex = 'Male'",
			"WITH grown AS (SELECT age AS years, sex FROM adult WHERE age >= 18) SELECT sex, avg(years) FROM\n  " +
				"grown GROUP BY sex",
			"SELECT c.continent, count(*) FROM adult a LEFT JOIN country c ON c.name = a.native_country GROUP BY\n  " +
				"c.continent",
			"SELECT count(*) FROM adult JOIN education_level USING (education)",
			"SELECT count(*) FROM adult WHERE native_country IN (SELECT name FROM country WHERE continent = 'Asia')",
			"SELECT count(*) FROM adult a WHERE NOT EXISTS (SELECT FROM country c WHERE c.name = a.native_country)",
			"SELECT sex, sum(v.cost) FROM adult a JOIN visit v ON v.adult_id = a.id GROUP BY sex",
		}},
	{"Groups",
		"A group key is an expression whose values follow from the policy's public domains, from an " +
			"ordinary table, or from its own form. Every public combination is in the answer, empty or not; " +
			"keys that read the same column, or the same ordinary table, have only the combinations that its " +
			"values, or its rows, give them. Conditions of WHERE on the columns of a key choose among its " +
			"values. Of a column of dates or times that the policy makes public [by day, week, month, " +
			"quarter or year](policy.md#tables), a key can ask what is the same all through each unit: by " +
			"month, `date_trunc('month', t)`, `extract(year FROM t)`, `to_char(t, 'YYYY-MM')`, and any " +
			"expression of such; what is finer is PV003. `width_bucket(x, low, high, n)` has n + 2 values " +
			"whatever x is.", []string{
			"SELECT sex, education, count(*) FROM adult GROUP BY sex, education",
			"SELECT DISTINCT education FROM adult",
			"SELECT age / 10 * 10 AS decade, count(*) FROM adult GROUP BY decade",
			"SELECT CASE WHEN age < 30 THEN 'young' WHEN sex = 'Male' THEN 'man' ELSE 'woman' END AS who,\n  " +
				"count(*) FROM adult GROUP BY 1",
			"SELECT age > 30 AS older, count(*) FROM adult GROUP BY older",
			"SELECT sex, education, grouping(sex, education), count(*) FROM adult GROUP BY ROLLUP (sex, education)",
			"SELECT sex, education, count(*) FROM adult GROUP BY GROUPING SETS ((sex), (education), ())",
			"SELECT count(*) FILTER (WHERE age > 30), avg(age) FILTER (WHERE sex = 'Male') FROM adult",
		}},
	{"Percentiles and distinct values",
		"They are answered of one table, without joins. The noise is that of [percentiles and distinct " +
			"values](theory/coupling.md#percentiles-and-distinct-values).", []string{
			"SELECT sex, percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS median FROM adult GROUP BY sex",
			"SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY age) FILTER (WHERE sex = 'Male') FROM adult",
			"SELECT count(DISTINCT native_country), sum(DISTINCT age), avg(DISTINCT age) FROM adult",
		}},
	{"The most frequent value",
		"`mode()` is the value with the greatest of the noisy counts of the values that the policy makes " +
			"public, the first of equals in the order of ORDER BY. It costs what the grouped count costs, " +
			"and takes the same form: `GROUP BY` with one key more. NULL is no value, and there is a value " +
			"even where no row is selected.", []string{
			"SELECT sex, mode() WITHIN GROUP (ORDER BY education) FROM adult GROUP BY sex",
			"SELECT mode() WITHIN GROUP (ORDER BY education DESC) FILTER (WHERE age < 30) FROM adult",
		}},
	{"What is refused, and what to write instead",
		"Every refusal has the SQLSTATE, the position of the construct, and a hint.\n\n" +
			"A name may begin with the database that the session is in, as in PostgreSQL; with another one it is " +
			"refused with 0A000, in PostgreSQL's words.\n\n" +
			"In expressions that the database keeps or that take no subquery (DEFAULT, CHECK, generated columns, " +
			"indexes, partition keys, triggers' WHEN, USING of ALTER TYPE, defaults of functions' parameters, " +
			"arguments of CALL), functions whose argument Fugu masks (`pg_relation_size` and its like) are refused " +
			"with PV001: ask for the value in a query, and store it. `currval` works.\n\n" +
			"In a statement with masks of the catalog no WITH query may be called `fugu masked oids`, " +
			"`fugu database oids` or `fugu shown oids`: these are the masks' own.",
		[]string{
			"SELECT age FROM adult, country",
			"SELECT max(age) FROM adult",
			"SELECT percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY age) FROM adult",
			"SELECT mode(age) FROM adult",
			"SELECT string_agg(sex, ',') FROM adult",
			"SELECT count(*) FROM adult a JOIN adult b ON a.age = b.age JOIN country ON false FULL JOIN country\n  " +
				"d ON true",
			"SELECT count(*) FROM (SELECT age FROM adult ORDER BY age LIMIT 10) t",
			"SELECT count(*) FROM (SELECT age FROM adult UNION ALL SELECT age FROM adult) t",
			"SELECT count(*) FROM adult WHERE age > (SELECT avg(age) FROM adult)",
			"SELECT *, (SELECT count(*) FROM adult WHERE adult.native_country = country.name) FROM country",
			"SELECT count(*) FROM adult TABLESAMPLE SYSTEM (10)",
			"SELECT count(*) FROM adult WHERE occupation ~ '^A'",
			"SELECT count(*) FROM adult WHERE age > extract(year FROM now())",
			"SELECT count(*) FROM adult WHERE ctid = '(0,1)'",
			"SELECT count(adult) FROM adult",
			"SELECT count(*) FROM adult, generate_series(1, 10)",
			"DELETE FROM adult WHERE age > 3",
			"COPY adult TO STDOUT",
			"LOCK TABLE adult",
			"CREATE VIEW v AS SELECT count(*) FROM adult",
			"EXPLAIN ANALYZE SELECT count(*) FROM adult",
		}},
}

// catalog is the schema of the examples.
type catalog struct{}

func (catalog) Table(schema, name string) (parser.Table, bool) {
	switch {
	case schema != "" && schema != "public":
	case name == "adult":
		columns := strings.Fields("id age education sex occupation native_country income")
		return parser.Table{Schema: "public", Name: name, Columns: columns}, true
	case name == "visit":
		return parser.Table{Schema: "public", Name: name, Columns: strings.Fields("adult_id cost")}, true
	}
	return parser.Table{}, false
}

func (catalog) Ordinary(_, name string) (parser.Table, error) {
	t := parser.Table{Schema: "public", Name: name, Ordinary: true}
	switch name {
	case "country":
		t.Columns = []string{"name", "continent"}
	case "education_level":
		t.Columns = []string{"education", "degree"}
	default:
		return t, errors.New("no such table")
	}
	return t, nil
}

// Markdown returns the page.
func Markdown() (string, error) {
	var p page
	p.WriteString("<!-- Written by `go test ./internal/sqlsupport -update`; do not edit. -->\n\n")
	p.WriteString("# SQL on protected data\n\n")
	p.paragraph("In the examples `adult` is a protected table, `visit` one that the policy links to it, and " +
		"`country` and `education_level` are ordinary. All of this is about tables that are answered with noise; on " +
		"one that is answered from its twin any SQL is, or, where its rows are not listed, what [twin](twin.md) says.")

	// Every statement is really parsed, so that the page says what the parser does.
	for _, s := range sections {
		p.heading(2, s.title)
		for i, text := range strings.Split(s.text, "\n\n") {
			if i > 0 {
				p.WriteString("\n")
			}
			p.paragraph(text)
		}
		for _, sql := range s.statements {
			outcome, err := try(sql)
			if err != nil {
				return "", fmt.Errorf("%s: %w", sql, err)
			}
			p.statement(sql)
			p.paragraph(outcome)
		}
	}

	p.aggregates()
	p.expressions()
	return p.String(), nil
}

func (p *page) aggregates() {
	p.heading(2, "Aggregates")
	p.paragraph("Answered: " + code(parser.Aggregates(), ", ") + ", each with FILTER; " +
		code(parser.DistinctAggregates(), ", ") + " also with DISTINCT. Refused, and what to ask instead:")
	p.WriteString("\n")
	for _, r := range parser.RefusedAggregates() {
		p.item("`" + r.Name + "`: " + r.Instead)
	}
}

func (p *page) expressions() {
	p.heading(2, "Row expressions")
	p.paragraph("WHERE, ON, FILTER, group keys and the arguments of aggregates are row expressions. They are read " +
		"into a closed language, typed as PostgreSQL types them, brought to a normal form, so that another " +
		"spelling is the same question, and made total: no row can make one fail.")
	p.WriteString("\n")
	p.item("Operators: " + code(parser.Operators(), " ") + ", AND, OR, NOT, IN, BETWEEN, LIKE, ILIKE, IS [NOT] NULL " +
		"/ TRUE / FALSE / UNKNOWN / DISTINCT FROM, = ANY (array), <> ALL (array), CASE, COALESCE, NULLIF, GREATEST, " +
		"LEAST, comparisons of rows (a, b) with = and IN")
	p.item("Casts to: " + code(parser.CastTypes(), ", "))
	p.item("Functions: " + code(parser.FunctionNames(), ", "))

	p.heading(3, "The normal form")
	p.paragraph("These rules, in the order in which they are tried on each operation, make one question of its " +
		"spellings. Each keeps the value for every row. What no rule takes for the same is another question.")
	p.WriteString("\n")
	for _, r := range row.NormalRules() {
		p.item("**" + r.Name + "**: " + r.Says)
	}

	p.heading(3, "How operations are kept from failing")
	p.paragraph("What is in this list has this value where PostgreSQL would raise an error on a row. Any other " +
		"operation cannot fail on one, and is printed as it was written.")
	p.WriteString("\n")
	for _, r := range row.Rules() {
		if r.Total != "" {
			p.item("`" + r.Name + "`: " + r.Total)
		}
	}

	p.heading(3, "Refused functions")
	p.paragraph("And what to write instead:")
	p.WriteString("\n")
	// Functions that are refused for the same reason are in one item, where the first of them stands.
	var reasons []string
	names := map[string][]string{}
	for _, r := range parser.RefusedFunctions() {
		if names[r.Instead] == nil {
			reasons = append(reasons, r.Instead)
		}
		names[r.Instead] = append(names[r.Instead], r.Name)
	}
	for _, reason := range reasons {
		p.item(code(names[reason], ", ") + ": " + reason)
	}
}

// code is a list of names, each between backquotes.
func code(names []string, between string) string {
	return "`" + strings.Join(names, "`"+between+"`") + "`"
}

// try runs a statement through the parser.
func try(sql string) (string, error) {
	statements, err := parser.Parse(sql, catalog{})
	var refusal *sqlstate.Error
	if errors.As(err, &refusal) {
		out := fmt.Sprintf("Refused with %s at character %d: %s.", refusal.Code, refusal.Position, refusal.Message)
		if refusal.Hint != "" {
			out += " *" + refusal.Hint + "*"
		}
		return out, nil
	} else if err != nil {
		return "", err
	}

	// What is answered is told by its cuts.
	var parts []string
	for _, c := range statements[0].Cuts {
		parts = append(parts, describe(c))
	}
	if len(parts) == 0 {
		return "", errors.New("an example without a cut is answered")
	}
	return "Answered: " + strings.Join(parts, "; ") + ".", nil
}

// describe says what a cut is answered with: its aggregates, its keys, and how many sets of these.
func describe(c *parser.Cut) string {
	sources := func(n int, of func(int) string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = "`" + of(i) + "`"
		}
		return out
	}
	out := "groups alone, which are public"
	if n := len(c.Aggregates); n > 0 {
		out = strings.Join(sources(n, func(i int) string { return c.Aggregates[i].Source }), ", ")
	}
	if n := len(c.Keys); n > 0 {
		out += " by " + strings.Join(sources(n, func(i int) string { return c.Keys[i].Source }), ", ")
	}
	if n := len(c.Sets); n > 0 {
		out += fmt.Sprintf(" in %d grouping sets", n)
	}
	return out
}
