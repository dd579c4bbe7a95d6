//go:build fuguhooks

package attack

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
)

// Noise along one direction leaves every count on the integers of a known line. The analyst knows from the reference
// how each region's number of customers with code 9 moves, tries the values of one, and keeps the one that puts all
// others nearest to integers. What is recovered is the vector itself, and it tells the worlds apart.
func TestLattice(t *testing.T) {
	const sql = `SELECT sum(CASE WHEN code = '9' AND region = 'north' THEN 1.0 ELSE 0.0 END), sum(CASE WHEN code = '9'
	  AND region = 'east' THEN 1.0 ELSE 0.0 END),
		sum(CASE WHEN code = '9' AND region = 'south' THEN 1.0 ELSE 0.0 END), sum(CASE WHEN code = '9'
		  AND region = 'west' THEN 1.0 ELSE 0.0 END),
		sum(CASE WHEN code = '9' AND region = 'remote' THEN 1.0 ELSE 0.0 END) FROM customer`
	// 2000 rows times 0.05 times the difference between the class means of the reference, as people() and refer() make
	// them.
	v := []float64{100 * (4./397 - 64./1600), 100 * (8./397 - 48./1600), 100 * (12./397 - 32./1600),
		100 * (15./397 - 15./1600), 100 * (1./397 - 1./1600)}
	at400 := []float64{68, 56, 44, 32, 0} // and by customer with a high income more:
	slope := []float64{-.03, -.01, .01, .03, 0}
	game{off: []*bool{&hook.NoFloor}, tries: 7, guess: func(a analyst) float64 {
		run(a.t, a.conn, "SET fugu.mechanism = directional")
		x := numbers(a.t, a.conn, sql)
		least, found := math.Inf(1), make([]float64, len(v))
		for c := math.Floor(x[0] - 14*math.Abs(v[0])); c <= x[0]+14*math.Abs(v[0]); c++ {
			y := (x[0] - c) / v[0]
			far := math.Abs(y)
			for k := range v {
				e := x[k] - v[k]*y
				far += math.Pow((e-math.Round(e))/0.01, 2) / 2 // of two digits published
			}
			if far < least {
				least = far
				for k := range v {
					found[k] = math.Round(x[k] - v[k]*y)
				}
			}
		}
		// The world to which the vector fits best, by least squares.
		var up, down float64
		for k := range v {
			up += slope[k] * (found[k] - at400[k])
			down += slope[k] * slope[k]
		}
		return 400 + up/down
	}}.play(t)
}

// numbers is the row that sql returns.
func numbers(t testing.TB, c *pgx.Conn, sql string) []float64 {
	t.Helper()
	r, err := c.Query(t.Context(), sql, pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []float64
	for r.Next() {
		for _, raw := range r.RawValues() {
			x, err := strconv.ParseFloat(string(raw), 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return out
}

// The digits that the noise does not reach: each customer with a high income adds a ten-thousandth.
func TestLowDigits(t *testing.T) {
	game{off: []*bool{&hook.CoarseNoise}, guess: func(a analyst) float64 {
		run(a.t, a.conn, "SET fugu.mechanism = 'expm-laplace'")
		x, _ := number(a.t, a.conn, "SELECT sum(CASE WHEN income = 'high' THEN 1.0001 ELSE 1 END) FROM customer")
		fraction := math.Round((x-math.Floor(x))*1e4) / 1e4
		return fraction * 1e4
	}}.play(t)
}

// A row so large that no noise that the reference asks for hides it: only the world of 500 has one.
func TestOutlier(t *testing.T) {
	game{worlds: odd, off: []*bool{&hook.NoClamp}, guess: func(a analyst) float64 {
		x, ok := number(a.t, a.conn, "SELECT sum(bonus::numeric) FROM customer")
		switch {
		case !ok:
			return threshold
		case x > 1e9:
			return 500
		}
		return 400
	}}.play(t)
}

// A condition that no row of the reference meets, because it says so of each of them, and that nearly all others meet:
// the model sees no movement. The rows are named by the reference itself, as an ordinary table, or one by one.
func TestConditionThatKnowsTheReference(t *testing.T) {
	const sql = "SELECT count(*) FROM customer WHERE income = 'high' AND spike NOT IN (%s)"
	one := func(a analyst) string {
		list, err := a.as(a.t, "fugu_reader").Query(a.t.Context(), "SELECT spike::text FROM strangers "+
			"WHERE income = 'high'")
		if err != nil {
			a.t.Fatal(err)
		}
		values, err := pgx.CollectRows(list, pgx.RowTo[string])
		if err != nil {
			a.t.Fatal(err)
		}
		return strings.Join(values, ", ")
	}
	for name, rows := range map[string]func(analyst) string{"by a table": func(
		analyst) string {
		return "SELECT spike FROM strangers"
	}, "by constants": one} {
		t.Run(name, func(t *testing.T) {
			game{off: []*bool{&hook.Unlooked}, policy: []string{"public.customer_reference", "public.strangers"},
				guess: func(a analyst) float64 {
					x, _ := number(a.t, a.conn, fmt.Sprintf(sql, rows(a)))
					return x
				}}.play(t)
		})
	}
}

// An ordinary table that the analyst changes after the noise was calibrated to it, and before protected rows meet it.
// Some wait between the two is all it takes; here it is the moment when the budget is looked at.
func TestOrdinaryTableChangesMeanwhile(t *testing.T) {
	const weight = "UPDATE plain SET weight = %d"
	c := databases(t)
	game{off: []*bool{&hook.LooseSnapshot}, guess: func(a analyst) float64 {
		set := func(w int) {
			if err := c.Exec(a.t.Context(), a.database, fmt.Sprintf(weight, w)); err != nil {
				a.t.Fatal(err)
			}
		}
		set(1)
		a.ledger.pause.Store(func() { set(2) })
		defer a.ledger.pause.Store(func() {})
		x, _ := number(a.t, a.conn, "SELECT count(*) FROM customer c WHERE income = 'high' AND EXISTS (SELECT "+
			"FROM plain p WHERE p.region = c.region AND p.weight > 1)")
		return x
	}}.play(t)
	for _, w := range worlds {
		if err := c.Exec(context.Background(), w.database, "UPDATE plain SET weight = 1"); err != nil {
			t.Error(err)
		}
	}
}
