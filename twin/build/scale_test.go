package build_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fugu/twin/build"
)

// BenchmarkBuild is a build of a twin beside CREATE TABLE AS of the same table, with the same index, in the same run: what
// counts is the ratio of the two, times-ctas.
func BenchmarkBuild(b *testing.B) {
	for _, rows := range []int{1_000_000, 10_000_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			const table = `CREATE TABLE person (id bigint PRIMARY KEY, region int, name text, sick bool NOT NULL, cost numeric, seen date);
				INSERT INTO person SELECT i, i %% 100, 'person ' || i, i %% 3 = 0, i %% 1000, date '2026-01-01' + i %% 365 FROM generate_series(1, %d) i;
				ANALYZE person; GRANT SELECT ON person TO shop_keeper`
			w := newWorld(b, fmt.Sprint("scale_", rows), fmt.Sprintf(table, rows),
				strings.Replace(fmt.Sprintf(sourcePolicy, ""), "1200", fmt.Sprint(rows), 1))
			w.build(build.Options{})
			var copied, built time.Duration
			b.ResetTimer()
			for range b.N {
				start := time.Now()
				w.column("CREATE TABLE copied AS TABLE person")
				copied += time.Since(start)
				w.column("DROP TABLE copied")
				start = time.Now()
				w.keeper.Progress = func(s build.Step) { b.Logf("%5.1f s %s", time.Since(start).Seconds(), s.What) }
				w.build(build.Options{Again: true})
				built += time.Since(start)
			}
			b.ReportMetric(built.Seconds()/copied.Seconds(), "times-ctas")
		})
	}
}
