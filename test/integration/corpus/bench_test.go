//go:build fuguhooks

package corpus

import (
	"fmt"
	"slices"
	"testing"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/wire"
)

// Each protected statement of the corpus is planned as if it had never been seen, a comment making its text new: over
// all of them, the median and the ninth decile of what one takes; and the median as a multiple of what libpg_query
// takes to read it and write it again.
func BenchmarkPlanColdCorpus(b *testing.B) {
	f := start(b)
	session, err := f.engine.Open(b.Context(), wire.Startup{User: "alice", Parameters: map[string]string{}})
	if err != nil {
		b.Fatal(err)
	}
	var texts []string
	names, units := corpus(b, "accept")
	for _, name := range names {
		for _, u := range units[name] {
			if len(u.steps) != 1 || len(u.params) > 0 || u.psql() {
				continue
			}
			if special, err := session.Interpret(b.Context(), u.text(), nil); err == nil && len(special) > 0 {
				texts = append(texts, u.text())
			}
		}
	}
	b.Logf("%d protected statements", len(texts))
	typical := func(f func(round int)) time.Duration {
		var times [5]time.Duration
		for round := range times {
			start := time.Now()
			f(round)
			times[round] = time.Since(start)
		}
		slices.Sort(times[:])
		return times[len(times)/2]
	}
	for number := 0; b.Loop(); number++ {
		var times []time.Duration
		var ratios []float64
		for i, sql := range texts {
			planned := typical(func(round int) {
				if _, err := session.Interpret(b.Context(), fmt.Sprintf("%s /* %d.%d.%d */", sql, number, i, round),
					nil); err != nil {
					b.Fatal(err)
				}
			})
			copied := typical(func(int) {
				tree, err := pg.Parse(sql)
				if err == nil {
					_, err = pg.Deparse(tree)
				}
				if err != nil {
					b.Fatal(err)
				}
			})
			times, ratios = append(times, planned), append(ratios, float64(planned)/float64(copied))
		}
		slices.Sort(times)
		slices.Sort(ratios)
		n := len(times)
		b.ReportMetric(float64(times[n/2].Microseconds()), "p50-µs/plan")
		b.ReportMetric(float64(times[n*9/10].Microseconds()), "p90-µs/plan")
		b.ReportMetric(ratios[n/2], "p50-times-libpg_query")
	}
}
