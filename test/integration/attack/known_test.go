//go:build fuguhooks

package attack

import (
	"testing"

	"fugu/internal/hook"
)

// inParts adds up answers for the rich of the north, the others of the north, and the rich elsewhere.
func inParts(x []float64) (rich, inNorth float64) { return x[0] + x[2], x[0] + x[1] }

// totals are ways to ask for the numbers of the rich and of customers in the north at once.
var totals = map[string]struct {
	ask  string
	seen func([]float64) (rich, inNorth float64)
}{
	"filters": {`SELECT count(*) FILTER (WHERE income = 'high' AND region = 'north'),
		  count(*) FILTER (WHERE income <> 'high' AND region = 'north'),
			count(*) FILTER (WHERE income = 'high' AND region <> 'north'), count(*) FILTER (WHERE income <> 'high'
			  AND region <> 'north') FROM customer`, inParts},
	"counts of CASE": {`SELECT count(CASE WHEN income = 'high' AND region = 'north' THEN 1 END), count(CASE
		  WHEN income = 'low' AND region = 'north' THEN 1 END),
			count(CASE WHEN income = 'high' AND region <> 'north' THEN 1 END) FROM customer`, inParts},
	"sums": {`SELECT sum((income = 'high' AND region = 'north')::int), sum((income <> 'high'
		  AND region = 'north')::int),
			sum((income = 'high' AND region <> 'north')::int) FROM customer`, inParts},
	"grouped by region": {`SELECT sum(h) FILTER (WHERE region = 'north'), sum(l) FILTER (WHERE region = 'north'),
		  sum(h) FILTER (WHERE region <> 'north')
			FROM (SELECT region, count(*) FILTER (WHERE income = 'high') AS h,
			  count(*) FILTER (WHERE income <> 'high') AS l FROM customer GROUP BY region) AS c`, inParts},
	"grouped by conditions": {`SELECT sum(n) FILTER (WHERE h AND north), sum(n) FILTER (WHERE NOT h AND north),
		  sum(n) FILTER (WHERE h AND NOT north)
			FROM (SELECT income = 'high' AS h, region = 'north' AS north, count(*) AS n FROM customer GROUP BY 1,
			  2) AS c`, inParts},
	"WITH, and a view's spelling": {`WITH c AS (SELECT income = 'high' AS h, region FROM customer)
			SELECT count(*) FILTER (WHERE h AND region = 'north'),
			count(*) FILTER (WHERE NOT h AND region = 'north'), count(*) FILTER (WHERE h AND region <> 'north') FROM c`,
		inParts},
	"scalar subqueries": {`SELECT (SELECT count(*) FROM customer WHERE income = 'high' AND region = 'north'),
			(SELECT count(*) FROM customer WHERE income <> 'high' AND region = 'north'), (SELECT count(*) FROM customer
			  WHERE income = 'high' AND region <> 'north')`, inParts},
	"UNION ALL": {`SELECT sum(n) FILTER (WHERE i = 1), sum(n) FILTER (WHERE i = 2), sum(n) FILTER (WHERE i = 3)
		  FROM (
			SELECT 1 AS i, count(*) AS n FROM customer WHERE income = 'high' AND region = 'north' UNION ALL
			SELECT 2, count(*) FROM customer WHERE income <> 'high' AND region = 'north' UNION ALL
			SELECT 3, count(*) FROM customer WHERE income = 'high' AND region <> 'north') AS c`, inParts},
	"totals of regions": {`SELECT sum(h), sum(n) FILTER (WHERE region = 'north')
			FROM (SELECT region, count(*) FILTER (WHERE income = 'high') AS h, count(*) AS n FROM customer
			  GROUP BY region) AS c`,
		func(x []float64) (rich, inNorth float64) { return x[0], x[1] }},
	"all regions": {`SELECT sum(h) FILTER (WHERE region = 'north'), sum(n) FILTER (WHERE region = 'north'),
		  sum(h) FILTER (WHERE region <> 'north')
			FROM (SELECT region, sum(CASE WHEN income = 'high' THEN 1 ELSE 0 END) AS h, sum(CASE
			  WHEN income = 'high' THEN 0 ELSE 1 END) AS n FROM customer GROUP BY region) AS c`, inParts},
}

// Who knows the true number of customers in the north, exactly, sees in one answer by income and region what the noise
// along the direction was, and takes it off the number of high incomes. The policy's `public` is the defence: what is
// declared is answered as it is, and everything else is modelled given it. So every total that somebody knows exactly
// belongs there: Fugu cannot know what analysts know.
func TestKnownTotal(t *testing.T) {
	const (
		north = 13300 // in both worlds
		// 40000 rows times 0.05 times the difference between the class means of the reference, as refer() makes them.
		high, moves = 2000, 2000 * (40./397 - 640./1599)
	)
	declare := []string{"assume: [translation]", `public:
  regions:
    statement: SELECT count(*) FROM customer WHERE region = 'north'
    values: {count(*): 13300}
assume: [translation, gaussian]`}
	// One guess is off by more than 50 once in ten times, if the noise is as large as it is at some; the middle one of
	// 31 in less than one of 1e8 runs.
	off(t, &hook.NoCovariances) // which refuses some of these statements: another defence
	for name, attack := range totals {
		t.Run(name, func(t *testing.T) {
			game{worlds: large, policy: []string{"rows: 2000", "rows: 40000"}, on: declare, tries: 31,
				guess: func(a analyst) float64 {
					run(a.t, a.conn, "SET fugu.mechanism = directional")
					rich, inNorth := attack.seen(numbers(a.t, a.conn, attack.ask))
					return (rich - high*(inNorth-north)/moves) / 20
				}}.play(t)
		})
	}
}
