//go:build fuguhooks

package attack

import (
	"strings"
	"testing"

	"fugu/internal/hook"
)

// mayRaise are further statements that PostgreSQL may raise an error for on a row of one world, or close to those.
var mayRaise = []string{
	"SELECT c.region, count(*) FROM customer c LEFT JOIN plain p ON c.divisor = p.weight GROUP BY c.region",
	"SELECT sum(c.visits / p.weight) FROM customer c JOIN plain p ON c.divisor = p.weight",
	"SELECT sum(p.weight / c.divisor) FROM customer c JOIN plain p ON c.region = p.region",
	"SELECT count(*) FROM customer c WHERE c.code IN (SELECT weight::text FROM plain)",
	"SELECT count(*) FROM customer c WHERE c.code::int IN (SELECT weight FROM plain)",
	"SELECT count(*) FROM customer c WHERE EXISTS (SELECT FROM plain p WHERE p.weight / c.divisor > 1)",
	"SELECT region, avg(age) FILTER (WHERE 10 / divisor > 2) FROM customer GROUP BY CUBE (region)",
	"SELECT upper(region), avg(spike) FROM customer GROUP BY 1",
	"SELECT avg(ln(spike)), avg(sqrt(bonus)), sum(exp(spike)) FROM customer",
	"SELECT count(*) FROM customer WHERE substring(code, 1, divisor - 1) = 's'",
	"SELECT count(*) FROM customer WHERE substring(code from bonus for -1) = 's'",
	"SELECT count(*) FROM customer WHERE left(code, -bonus) = 's'",
	"SELECT count(*) FROM customer WHERE date_trunc('month', joined) > '2020-02-01'",
	"SELECT count(*) FROM customer WHERE extract(year FROM joined) > 2019",
	"SELECT avg(extract(epoch FROM joined)) FROM customer",
	"SELECT count(*) FROM customer WHERE joined + bonus > '2020-01-01'",
	"SELECT count(*) FROM customer WHERE joined::timestamp - timestamp '2020-01-01' > '1 day'",
	"SELECT count(*) FROM customer WHERE code::date > '2020-01-01'",
	"SELECT count(*) FROM customer WHERE code::numeric > 1",
	"SELECT count(*) FROM customer WHERE code::bool",
	"SELECT count(*) FROM customer WHERE mod(age, divisor) = 1 OR age % divisor = 1",
	"SELECT count(*) FROM customer WHERE div(spend, divisor) > 1",
	"SELECT count(*) FROM customer WHERE divisor = ANY (ARRAY[1, 2 / divisor])",
	"SELECT count(*) FROM customer WHERE (code || '1')::int = 1",
	"SELECT count(*) FROM customer WHERE coalesce(nullif(divisor, 0), 1 / divisor) = 1",
	"SELECT count(*) FROM customer WHERE CASE divisor WHEN 0 THEN code::int ELSE 1 END = 1",
	"SELECT count(*) FROM customer WHERE greatest(10 / divisor, 1) > 1",
	"SELECT count(*) FROM customer WHERE divisor BETWEEN 1 / divisor AND 5",
	"SELECT count(*) FROM customer WHERE (divisor, code::int) = (1, 2)",
	"SELECT count(*) FROM customer WHERE (1 / divisor) IS NULL",
	"SELECT sum(bonus), sum(bonus::int8 * bonus * bonus) FROM customer",
	"SELECT sum(bonus::int8 * 4000000000) FROM customer",
	"SELECT sum(-bonus - bonus) FROM customer",
	"SELECT sum(spike * spike) FROM customer",
	"SELECT count(spike::int), count(spike::int8), count(spike::int2) FROM customer",
	"SELECT count(spike::numeric(5,2)), count(code::varchar(2)), count(code::char(2)) FROM customer",
	"SELECT count(*) FROM (SELECT * FROM customer WHERE 10 / divisor > 2) c",
	"SELECT count(*) FROM (SELECT age / divisor AS q FROM customer) c WHERE q > 1",
	"SELECT avg(q) FROM (SELECT region, sum(age) / count(divisor) AS q FROM customer GROUP BY region) c",
	"SELECT bonus IS NULL, count(*) FROM customer GROUP BY 1",
	"SELECT divisor = 0, count(*) FROM customer GROUP BY 1",
	"SELECT count(*) FROM customer WHERE id IN (SELECT id FROM customer_reference) AND divisor = 0",
	"SELECT count(*) FROM customer c JOIN customer_reference r ON c.id = r.id WHERE 1 / c.divisor = 1",
	"SELECT count(*) FROM customer c JOIN plain p ON c.code::int = p.weight",
	"SELECT count(*) FROM customer c LEFT JOIN plain p ON p.weight = 10 / c.divisor",
}

// An expression that PostgreSQL raises an error for, on the rows that only one world has.
func TestErrorOracle(t *testing.T) {
	channel{off: []*bool{&hook.RowErrors}, tell: []string{
		"SELECT count(*) FROM customer WHERE 10 / divisor > 3",
		"SELECT sum(10 % divisor) FROM customer",
		"SELECT region, avg(age / divisor) FROM customer GROUP BY region",
		"SELECT stddev(age / divisor) FROM customer",
		"SELECT corr(age, 10 % divisor), regr_slope(spend, visits) FROM customer",
		"SELECT covar_pop(code::int, age) FROM customer",
		"SELECT count(*) FROM customer WHERE CASE WHEN income = 'high' " +
			"AND id = 400 THEN 1 / (age - age) ELSE 1 END = 1",
		"SELECT count(*) FROM customer WHERE code::int > 4",
		"SELECT sum(bonus + 1) FROM customer WHERE id < 1000",
		"SELECT count(*) FROM customer WHERE joined - date '2020-01-01' > 30",
		"SELECT avg(spike * 10) FROM customer WHERE id <> 403",
		"SELECT count(*) FROM customer WHERE spike::float4 > 1",
	}, more: mayRaise}.compare(t)
}

// A sum or an average that is not a finite number, because of a row that only one world has.
func TestNotANumberOracle(t *testing.T) {
	channel{off: []*bool{&hook.NoClamp, &hook.RowErrors}, tell: []string{
		"SELECT sum(spike) FROM customer",
		"SELECT avg(spike::numeric) FROM customer WHERE id > 400",
		"SELECT sum(CASE WHEN income = 'high' AND id = 400 THEN 'NaN'::numeric ELSE 1 END) FROM customer",
	}}.compare(t)
}

// A floating-point sum overflows, or does not, by the number of large terms.
func TestFloatSumThreshold(t *testing.T) {
	channel{off: []*bool{&hook.FloatSums, &hook.NoClamp}, tell: []string{
		"SELECT sum(spike) FROM customer WHERE id <> 403",
		"SELECT avg(spike) FROM customer WHERE spike > 0 AND id <> 403",
		"SELECT stddev(spike) FROM customer WHERE id <> 403",
		"SELECT covar_samp(spike, age) FROM customer WHERE id <> 403",
		"SELECT region, sum(spike) FROM customer WHERE id <> 403 GROUP BY region",
	}}.compare(t)
}

// An average over rows of which there are none, and a sum of NULLs alone, in one world.
func TestNullOracle(t *testing.T) {
	channel{off: []*bool{&hook.NoStart}, tell: []string{
		"SELECT avg(age) FROM customer WHERE region = 'remote'",
		"SELECT sum(bonus) FROM customer",
		"SELECT stddev(bonus + visits) FROM customer",
		"SELECT corr(spend, age + bonus * 0) IS NULL FROM customer",
		"SELECT regr_slope(spend, age + bonus * 0) FROM customer",
		"SELECT regr_sxx(spend, bonus + visits), var_pop(bonus + age) FROM customer",
		"SELECT avg(bonus) IS NULL FROM customer",
		"SELECT coalesce(sum(visits), 0) FROM customer WHERE region = 'remote'",
		"SELECT 1 / count(*) FROM (SELECT avg(bonus) AS b FROM customer) q WHERE b IS NULL",
	}, more: []string{ // where the key decides, the rows do not
		"SELECT region, sum(age) FILTER (WHERE region <> 'remote') IS NULL FROM customer GROUP BY region",
		"SELECT region, count(*) FILTER (WHERE region = 'remote'), sum(CASE WHEN region = 'remote' THEN 1 ELSE 0 " +
			"END) FROM customer GROUP BY region",
		"SELECT region, avg(CASE WHEN region <> 'remote' AND visits > 1 THEN age END) IS NULL FROM customer " +
			"GROUP BY CUBE (region)",
		"SELECT upper(region), sum(bonus) FILTER (WHERE region = 'remote') IS NULL FROM customer GROUP BY 1",
	}}.compare(t)
}

// A group that only one world has, seen by its row, by a command tag, by HAVING, or by what is ordered or limited.
func TestRowCountOracle(t *testing.T) {
	channel{off: []*bool{&hook.NoStart}, tell: []string{
		"SELECT region, avg(age) FROM customer GROUP BY region",
		"SELECT region FROM customer GROUP BY region HAVING avg(age) >= 0",
		"SELECT DISTINCT region FROM customer GROUP BY region HAVING avg(age) IS NOT NULL",
		"SELECT region, avg(age) FROM customer GROUP BY region ORDER BY 2 DESC, 1 LIMIT 1 OFFSET 4",
		"BEGIN | INSERT INTO plain SELECT region, avg(age)::int FROM customer GROUP BY region | ROLLBACK",
		"BEGIN | DELETE FROM plain WHERE region IN (SELECT region FROM customer GROUP BY region " +
			"HAVING avg(age) > -1) | ROLLBACK",
		"SELECT count(*) OVER () FROM customer GROUP BY region HAVING avg(age) IS NOT NULL",
	}, more: []string{
		"SELECT region, count(*) FROM customer GROUP BY region HAVING count(*) > 0",
		"SELECT p.region FROM plain p JOIN (SELECT region, count(*) AS n FROM customer GROUP BY region) q " +
			"USING (region) WHERE n >= 0 ORDER BY 1",
	}}.compare(t)
}

// The text of an error, which quotes the value that it is about: to the client or in the log.
func TestErrorText(t *testing.T) {
	told := func(t *testing.T) string {
		f := serve(t, odd[1], options{})
		p := dial(t, f)
		defer p.Conn.Close()
		out := ""
		for _, r := range roads {
			p.Send(t, r.messages("SELECT count(*) FROM customer WHERE code::int > 4")...)
			out += p.untilReady(t)
		}
		return out + f.log.String()
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.RawErrors, &hook.RowErrors)
		if s := told(t); !strings.Contains(s, "seven") {
			t.Errorf("it is no test of the defence:\n%s", s)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if s := told(t); strings.Contains(s, "seven") {
			t.Errorf("a value is told:\n%s", s)
		}
	})
}

// The noise itself: its scale, the digits that are published, what a release is said to cost.
func TestScaleOracle(t *testing.T) {
	channel{off: []*bool{&hook.ModelFromData}, tell: []string{
		"EXPLAIN (PRIVACY) SELECT avg(visits), sum(spend) FROM customer",
		"EXPLAIN (PRIVACY, FORMAT JSON) SELECT region, avg(spend) FROM customer GROUP BY region",
		"SELECT avg(spend) FROM customer WHERE region = 'north' | SELECT noise_sd FROM fugu.last_release",
		"SELECT avg(spend) FROM customer WHERE region = 'north' | SELECT lower, upper FROM fugu.last_release",
		"SET fugu.notices = on | SELECT avg(spend) FROM customer WHERE region = 'north'",
		"SELECT avg(spend) FROM customer WHERE region = 'remote'", // PV004 where no row is
	}, more: []string{
		"SELECT count(*) FROM customer | SELECT * FROM fugu.budget",
		"SELECT count(*) FROM customer | SELECT statement_id, dataset, mechanism, assumption, epsilon, delta, failed " +
			"FROM fugu.releases",
		"SELECT * FROM fugu.policy",
	}}.compare(t)
}

// Whether an answer is computed from others, from which, with what error, and what it looks like.
func TestPastOracle(t *testing.T) {
	channel{policy: []string{"budget: {epsilon: 1,", "error: 1000%\n  budget: {epsilon: 5,"},
		off: []*bool{&hook.ModelFromData}, tell: []string{
			"SELECT region, count(*) FROM customer WHERE visits > 3 GROUP BY region | EXPLAIN (PRIVACY) " +
				"SELECT count(*) " +
				"FROM customer WHERE visits > 3 AND region IN ('north', 'south')",
			"SELECT region, count(*) FROM customer WHERE visits > 3 GROUP BY region | SELECT count(*) FROM customer " +
				"WHERE visits > 3 AND region < 'p' | SELECT noise_sd, lower, upper FROM fugu.last_release",
		}, more: []string{
			"SELECT region, count(*), sum(visits) FROM customer GROUP BY region | SELECT count(*), sum(visits) " +
				"FROM customer | SELECT * FROM fugu.last_release | SELECT * FROM fugu.budget",
			"SELECT region, count(*) FROM customer GROUP BY region | SET fugu.notices = on | SELECT count(*) " +
				"FROM customer WHERE region <> 'remote' | SELECT mechanism, assumption, epsilon FROM fugu.releases",
			"SELECT region, count(*) FROM customer WHERE income = 'high' GROUP BY region | SET fugu.error = '10' | " +
				"SELECT count(*) FROM customer WHERE income = 'high' | SELECT * FROM fugu.budget",
			"SELECT region, count(*) FROM customer GROUP BY ROLLUP (region) | SELECT left(region, 1), count(*) " +
				"FROM customer GROUP BY 1 | SELECT mechanism FROM fugu.last_release",
		}}.compare(t)
}
