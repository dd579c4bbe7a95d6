package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fugu/parser/lex"
	"fugu/wire"
)

// median times each call of f and reports the middle one: on a busy machine the mean is the neighbours'.
func median(b *testing.B, f func(i int)) {
	b.Helper()
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		f(i)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns/op")
}

// decide interprets a text, and fails unless it is special just when it should be.
func decide(b *testing.B, s *session, sql string, special bool) {
	if st, err := s.Interpret(b.Context(), sql, nil); err != nil || (st != nil) != special {
		b.Fatalf("%s: %d statements, %v", sql, len(st), err)
	}
}

// Every text is new: parsed, cut, described by PostgreSQL, planned, rewritten, deparsed and read back.
func BenchmarkPlanCold(b *testing.B) {
	for name, sql := range map[string]string{
		"count": "SELECT count(*) FROM adult WHERE hours_per_week > %d",
		"grouped": "SELECT education, round(avg(age), 1) AS a FROM adult WHERE sex = 'Male' AND hours_per_week > %d " +
			"GROUP BY education HAVING count(*) > 10 ORDER BY a",
		"report": "WITH e AS (SELECT education, sex, avg(age) AS a, count(*) AS n FROM adult WHERE hours_per_week " +
			"BETWEEN 20 AND %d GROUP BY education, sex) SELECT e.education, sum(e.n), max(e.a) - min(e.a), rank() " +
			"OVER (ORDER BY sum(e.n)) FROM e JOIN (VALUES ('Bachelors'), ('Masters')) v(x) ON v.x = e.education " +
			"GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
	} {
		b.Run(name, func(b *testing.B) {
			s := &session{engine: newHouse(b).engine, user: "alice"}
			median(b, func(i int) { decide(b, s, fmt.Sprintf(sql, i), true) })
		})
	}
}

func BenchmarkPlanCached(b *testing.B) {
	s := &session{engine: newHouse(b).engine, user: "alice"}
	sql := "SELECT education, round(avg(age), 1) AS a FROM adult WHERE sex = 'Male' GROUP BY education HAVING " +
		"count(*) > 10 ORDER BY a"
	median(b, func(int) { decide(b, s, sql, true) })
}

// ordinary are texts of every day, by what the decision takes.
var ordinary = map[string]string{
	"point": "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
	"orm": `SELECT "t0"."id", "t0"."name", "t0"."created_at", "t1"."total", "t1"."currency" ` +
		`FROM "public"."customers" AS "t0" LEFT JOIN "public"."orders" AS "t1" ON "t1"."customer_id" = "t0"."id" ` +
		`WHERE "t0"."region" IN ($1, $2, $3) AND "t1"."total" > 100 ` +
		`ORDER BY "t0"."created_at" DESC LIMIT $4 OFFSET $5`,
	"mentions": "SELECT note FROM adult_notes WHERE kind = 'adult' AND id = 7",
}

func BenchmarkDecideOrdinary(b *testing.B) {
	for name, sql := range ordinary {
		b.Run(name, func(b *testing.B) {
			s := &session{engine: newHouse(b).engine, user: "alice"}
			b.ReportAllocs()
			median(b, func(int) { decide(b, s, sql, false) })
		})
	}
	b.Run("insert of 100 kB", func(b *testing.B) {
		s := &session{engine: newHouse(b).engine, user: "alice"}
		sql := "INSERT INTO t VALUES " + strings.Repeat("(17, 'some text that is inserted', now()), ", 2300) +
			"(1, '', now())"
		b.SetBytes(int64(len(sql)))
		median(b, func(int) { decide(b, s, sql, false) })
	})
}

// A stored answer, from the binding to the arrays: what Fugu does besides PostgreSQL and the protocol.
func BenchmarkBindStored(b *testing.B) {
	s := &session{engine: newHouse(b).engine, user: "alice"}
	statements, err := s.Interpret(b.Context(), "SELECT education, avg(age) FROM adult WHERE hours_per_week > -1 "+
		"GROUP BY education", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	median(b, func(int) {
		bound, err := statements[0].Bind(b.Context(), wire.Binding{Ask: hearsAll})
		if err != nil || len(bound.Values) != 2 {
			b.Fatal(bound, err)
		}
	})
}

// The same where nothing of the session is needed, as it is from the second time on.
func BenchmarkRecall(b *testing.B) {
	s := &session{engine: newHouse(b).engine, user: "alice"}
	statements, err := s.Interpret(b.Context(), "SELECT education, avg(age) FROM adult WHERE hours_per_week > -1 "+
		"GROUP BY education", nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := statements[0].Bind(b.Context(), wire.Binding{Ask: hearsAll}); err != nil {
		b.Fatal(err)
	}
	recaller := statements[0].(wire.Recaller)
	b.ReportAllocs()
	median(b, func(int) {
		if bound, ok := recaller.Recall(b.Context(), nil, nil); !ok || len(bound.Values) != 2 {
			b.Fatal(bound, ok)
		}
	})
}

// The same with what the client bound: eight values, as of a report with its filters.
func BenchmarkRecallBound(b *testing.B) {
	s := &session{engine: newHouse(b).engine, user: "alice"}
	statements, err := s.Interpret(b.Context(), "SELECT education, avg(age) FROM adult WHERE hours_per_week IN ($1, "+
		"$2, $3, $4, $5, $6, $7, $8) GROUP BY education", nil)
	if err != nil {
		b.Fatal(err)
	}
	var bound wire.Binding
	for i := range 8 {
		bound.Values = append(bound.Values, fmt.Append(nil, 30+i))
	}
	if _, err := statements[0].Bind(b.Context(), bound); err != nil {
		b.Fatal(err)
	}
	recaller := statements[0].(wire.Recaller)
	b.ReportAllocs()
	median(b, func(int) {
		if _, ok := recaller.Recall(b.Context(), nil, bound.Values); !ok {
			b.Fatal("nothing is recalled")
		}
	})
}

// A text on a twin with constants of its own, whose shape is known.
func BenchmarkRenameByShape(b *testing.B) {
	s := twinned()
	sql := "SELECT abalance FROM account WHERE aid = %d"
	splice, _, ok := read(s, fmt.Sprintf(sql, 1))
	found, _ := lex.Constants(fmt.Sprintf(sql, 1))
	s.shapes.Add(planKey{sql: lex.Shape(fmt.Sprintf(sql, 1), found)}, shape{edits: splice.Edits, constants: found}, 1)
	b.ReportAllocs()
	median(b, func(i int) {
		if _, known := s.reshaped(planKey{sql: fmt.Sprintf(sql, i)}, nil); !known || !ok {
			b.Fatal("the shape is not known")
		}
	})
}

// What is decided about a text on a twin before it is relayed: of which another was planned that differs by a constant,
// and that was interpreted last.
func BenchmarkDecideTwin(b *testing.B) {
	for name, sql := range map[string]string{
		"by shape": "SELECT count(*) FROM adult WHERE age = %d;",
		"again":    "SELECT count(*) FROM adult WHERE age = $1; -- %.0d",
	} {
		b.Run(name, func(b *testing.B) {
			s := onTwin(b, fmt.Sprintf(sql, 1))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				text := fmt.Appendf(nil, sql, i)
				if s.Ordinary(text) || s.Lookup(b.Context(), string(text)) != "" {
					b.Fatal("more is to be done than there is")
				}
				decide(b, s, string(text), true)
			}
		})
	}
}
