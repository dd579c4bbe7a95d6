package parser

import (
	"fmt"
	"testing"
)

// What planning a statement costs without PostgreSQL: parse, cut, rewrite, deparse, read back.
func BenchmarkParseAndRewrite(b *testing.B) {
	for name, sql := range map[string]string{
		"count": "SELECT count(*) FROM adult WHERE hours_per_week > %d",
		"grouped": "SELECT education, round(avg(age), 1) AS a FROM adult WHERE sex = 'Male' AND hours_per_week > %d " +
			"GROUP BY education HAVING count(*) > 10 ORDER BY a",
		"report": "WITH e AS (SELECT education, sex, avg(age) AS a, count(*) AS n FROM adult WHERE hours_per_week " +
			"BETWEEN 20 AND %d GROUP BY education, sex) SELECT e.education, sum(e.n), max(e.a) - min(e.a), rank() " +
			"OVER " +
			"(ORDER BY sum(e.n)) FROM e JOIN (VALUES ('Bachelors'), ('Masters')) v(x) ON v.x = e.education GROUP BY " +
			"1 ORDER BY 2 DESC LIMIT 10",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				statements, err := Parse(fmt.Sprintf(sql, i), adult)
				if err != nil {
					b.Fatal(err)
				}
				s := statements[0]
				c := s.Cuts[0]
				r := Relation{First: 1}
				for _, k := range c.Keys {
					r.Columns = append(r.Columns, RelationColumn{k.Name, "text"})
				}
				for _, a := range c.Aggregates {
					r.Columns = append(r.Columns, RelationColumn{a.Name, "pg_catalog.numeric"})
				}
				if _, err := s.Rewrite([]Relation{r}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
