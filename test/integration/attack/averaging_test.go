//go:build fuguhooks

package attack

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
)

// many is how often an attack repeats that nothing stops. One answer at ε = 1 has Laplace noise of standard deviation
// 142, or up to 162 where the statement has many spellings. The mean of 320 independent ones has 9.1 at most, and is
// off by 50 with a probability below 1e-7: 5e-8, by a saddlepoint.
const many = 320

// until repeats ask until the budget refuses it, at most n times, and returns the mean.
func until(n int, ask func(i int) (float64, bool)) float64 {
	var m mean
	for i := range n {
		x, ok := ask(i)
		if !ok {
			break
		}
		m.add(x)
	}
	return m.value()
}

// run is for statements without a result that matters.
func run(t testing.TB, c *pgx.Conn, sql string) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

const rich = "SELECT count(*) FROM customer WHERE income = 'high'"

// spelled is one of endlessly many spellings of rich, which no normal form takes for the same: ids start at 0.
func spelled(i int) string { return fmt.Sprintf("%s AND id > %d", rich, -1-i) }

// The same statement, again and again. It is free, and so nothing but the stored answer stops the mean from closing in.
func TestNaiveAveraging(t *testing.T) {
	game{off: []*bool{&hook.NoStored, &hook.NoCharge}, guess: func(a analyst) float64 {
		n := 5
		if hook.NoStored {
			n = many
		}
		return until(n, func(int) (float64, bool) { return number(a.t, a.conn, rich) })
	}}.play(t)
}

// The same statement over every road: to all of them it is the same answer, and paid for once.
func TestAveragingOverAllRoads(t *testing.T) {
	roads := map[string]func(testing.TB, *fugu, *pgx.Conn) (float64, error){
		"again": func(t testing.TB, f *fugu, c *pgx.Conn) (float64, error) { return value(t, c, rich) },
		"simple": func(t testing.TB, f *fugu, c *pgx.Conn) (float64, error) {
			return value(t, c, rich, pgx.QueryExecModeSimpleProtocol)
		},
		"named": func(t testing.TB, f *fugu, c *pgx.Conn) (float64, error) {
			return value(t, c, rich, pgx.QueryExecModeCacheStatement)
		},
		"bob": func(t testing.TB, f *fugu, c *pgx.Conn) (float64, error) {
			return value(t, f.connect(t, "bob"),
				rich)
		},
		"name": func(t testing.TB, f *fugu, c *pgx.Conn) (float64, error) { return value(t, c, rich+" LIMIT 7") },
		"white space": func(t testing.TB, f *fugu, c *pgx.Conn) (float64, error) {
			return value(t, c, "/* "+rich+" */ select COUNT( * )from public.customer as c where(c.income='high')")
		},
		"other work above": func(t testing.TB, f *fugu, c *pgx.Conn) (float64, error) {
			return value(t, c, "SELECT x * 2.0 / 2 FROM (SELECT count(*) AS x FROM customer WHERE income = 'high') q "+
				"ORDER BY 1")
		},
	}
	answers := func(t *testing.T) (map[float64]int, float64, int) {
		f := serve(t, worlds[0], options{})
		c := f.connect(t, "")
		seen := map[float64]int{}
		for name, road := range roads {
			for range 3 {
				x, err := road(t, f, c)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				seen[x]++
			}
		}
		e, n := spent(t, c)
		return seen, e, n
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.NoStored, &hook.NoCharge)
		if seen, _, _ := answers(t); len(seen) < len(roads) {
			t.Errorf("%d different answers: it is no test of the defence", len(seen))
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if seen, e, n := answers(t); len(seen) != 1 || n != 1 || e > 1+1e-9 {
			t.Errorf("answers %v, epsilon %g in %d releases", seen, e, n)
		}
	})
}

// Spellings of one condition are one question.
func TestSpellings(t *testing.T) {
	spellings := []string{"income = 'high' AND age >= 18", "age >= 18 AND income = 'high'",
		"'high' = income AND NOT age < 18", "income IN ('high') AND 18 <= age",
		"(((income))) = 'high'::text AND age >= 10 + 8", "NOT (income <> 'high' OR age < 18)",
		"income = 'high' AND income = 'high' AND age >= 18 AND true"}
	answers := func(t *testing.T) (map[float64]int, float64, int) {
		f := serve(t, worlds[0], options{policy: []string{"budget: {epsilon: 1,", "budget: {epsilon: 100,"}})
		c := f.connect(t, "")
		seen := map[float64]int{}
		for _, s := range spellings {
			x, err := value(t, c, "SELECT count(*) FROM customer WHERE "+s)
			if err != nil {
				t.Fatalf("%s: %v", s, err)
			}
			seen[x]++
		}
		e, n := spent(t, c)
		return seen, e, n
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.AsSpelled)
		if _, _, n := answers(t); n < len(spellings)-1 {
			t.Errorf("%d releases: it is no test of the defence", n)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if seen, e, n := answers(t); len(seen) != 1 || n != 1 || e > 1+1e-9 {
			t.Errorf("answers %v, epsilon %g in %d releases", seen, e, n)
		}
	})
}

// Statements that mean the same and that no normal form takes for the same.
func TestRespelledAveraging(t *testing.T) {
	game{off: []*bool{&hook.NoCharge}, guess: func(a analyst) float64 {
		return until(many, func(i int) (float64, bool) { return number(a.t, a.conn, spelled(i)) })
	}}.play(t)
}

// Spellings whose values differ in the bytes of a parameter. Up to 30 decimals the normal form sees through them.
func TestAveragingByParameters(t *testing.T) {
	game{off: []*bool{&hook.NoCharge}, guess: func(a analyst) float64 {
		return until(many, func(i int) (float64, bool) {
			return number(a.t, a.conn, rich+" AND id > $1::numeric AND id > $2::int",
				fmt.Sprintf("-1.%0*d", 31+i%200, 0), -1-i/200)
		})
	}}.play(t)
}

// A condition, its negation, and their complements to the public number of rows.
func TestComplementaryPairs(t *testing.T) {
	game{off: []*bool{&hook.NoCharge}, guess: func(a analyst) float64 {
		run(a.t, a.conn, "SET fugu.epsilon = "+map[bool]string{true: "1", false: "0.125"}[hook.NoCharge])
		return until(many, func(i int) (float64, bool) {
			switch i % 4 {
			case 0:
				return number(a.t, a.conn, fmt.Sprintf("SELECT count(*) FROM customer WHERE income = 'high' "+
					"AND age > %d", -i))
			case 1:
				return number(a.t, a.conn, fmt.Sprintf("SELECT 2000 - count(*) FROM customer "+
					"WHERE NOT income = 'high' AND age > %d", -i))
			case 2:
				return number(a.t, a.conn, fmt.Sprintf("SELECT sum(CASE WHEN income = 'high' THEN 1 ELSE 0 END) "+
					"FROM customer WHERE age > %d", -i))
			}
			return number(a.t, a.conn, fmt.Sprintf("SELECT 2000 * avg(CASE WHEN income = 'low' THEN 0 ELSE 1 END) "+
				"FROM customer WHERE age > %d", -i))
		})
	}}.play(t)
}

// The difference of two answers speaks of the few rows between them; many differences add up to all rows.
func TestDifferencing(t *testing.T) {
	game{off: []*bool{&hook.NoCharge}, guess: func(a analyst) float64 {
		run(a.t, a.conn, "SET fugu.epsilon = "+map[bool]string{true: "1", false: "0.05"}[hook.NoCharge])
		// The customers with a high income have ids below their number.
		return until(many, func(i int) (float64, bool) {
			all, ok := number(a.t, a.conn, fmt.Sprintf("SELECT count(*) FROM customer WHERE id > %d", -1-i))
			poor, also := number(a.t, a.conn, fmt.Sprintf("SELECT count(*) FROM customer WHERE id > %d "+
				"AND income = 'low'", -1-i))
			return all - poor, ok && also
		})
	}}.play(t)
}

// Statements each so cheap that no single one is worth refusing, by every mechanism in turn. At ε = 0.8 one has noise
// of standard deviation 194, the mean of 500 independent ones 8.7: off by 50 with a probability below 1e-7.
func TestManySmallEpsilons(t *testing.T) {
	game{off: []*bool{&hook.NoCharge}, guess: func(a analyst) float64 {
		epsilon, kinds := "0.05", []string{"expm-laplace", "expm-gaussian", "directional"}
		if hook.NoCharge {
			epsilon, kinds = "0.8", kinds[:1]
		}
		run(a.t, a.conn, "SET fugu.epsilon = "+epsilon)
		return until(500, func(i int) (float64, bool) {
			run(a.t, a.conn, "SET fugu.mechanism = '"+kinds[i%len(kinds)]+"'")
			return number(a.t, a.conn, spelled(i))
		})
	}}.play(t)
}

// Users who put their answers together. A policy whose budget is per user promises nothing against them, and says so.
func TestCollusion(t *testing.T) {
	game{policy: []string{"per: dataset", "per: user"}, off: []*bool{&hook.Apart}, guess: func(a analyst) float64 {
		return until(many, func(i int) (float64, bool) {
			c := a.connect(a.t, fmt.Sprintf("user%d", i))
			defer c.Close(a.t.Context())
			return number(a.t, c, spelled(i))
		})
	}}.play(t)
}
