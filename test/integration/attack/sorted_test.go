//go:build fuguhooks

package attack

import (
	"math"
	"testing"

	"fugu/internal/hook"
)

// An ordinary table says for each day which remainders of serial numbers no high income of the reference has who
// joined then: half of all customers have one of them, and none of the reference. The statement is short; what was
// chosen is in the table.
func TestTableFittedToTheReference(t *testing.T) {
	game{off: []*bool{&hook.Unlooked}, guess: func(a analyst) float64 {
		x, _ := number(a.t, a.conn,
			`SELECT count(*) FROM customer s JOIN fits f ON f.income = s.income AND f.day = s.joined
			WHERE s.serial % 8 IN (f.a, f.b, f.c, f.d)`)
		return 2 * x
	}}.play(t)
}

// The same where the table sorts days alone: into those on which no high income of the reference has a low serial
// number, and others. Hardly a day has one customer alone; and the condition on serial numbers is short. What was
// chosen is one of as many choices as there are sets of days.
func TestDaysSortedToTheReference(t *testing.T) {
	const low = 53687091.0 / (1 << 28) // the share of serial numbers
	var days float64
	noise := func() float64 {
		f := serve(t, worlds[0], options{policy: []string{"public.customer_reference", "public.uneven"}})
		a := analyst{t, f, f.connect(t, "")}
		const chosen = "SELECT count(*) FROM sorts WHERE above"
		if err := a.as(t, "fugu_reader").QueryRow(t.Context(), chosen).Scan(&days); err != nil {
			t.Fatal(err)
		}
		if _, err := value(t, a.conn,
			`SELECT count(*) FROM customer s JOIN sorts f ON f.income = s.income AND f.day = s.joined
			WHERE f.above AND s.serial < 53687091`); err != nil {
			t.Fatal(err)
		}
		var sd float64
		if err := a.conn.QueryRow(t.Context(), "SELECT noise_sd FROM fugu.last_release").Scan(&sd); err != nil {
			t.Fatal(err)
		}
		return sd
	}

	// Each world's high incomes are spread evenly over 100 days, and the second world has 100 of them more.
	after := noise()
	off(t, &hook.SortedForFree)
	before := noise()
	moves := days * low
	least := math.Sqrt2 * moves // of a Laplace variable that hides so much at ε = 1
	t.Logf(
		"%.0f days: the worlds' means differ by %.2f rows; noise %.2f where sorting is free and %.2f where it is not",
		days, moves, before, after)
	if before > 0.8*least {
		t.Errorf("noise %.2f with the defence off, where %.2f hides the movement: it is no test", before, least)
	}
	if after < least {
		t.Errorf("noise %.2f does not hide a movement of %.2f rows: %.2f would", after, moves, least)
	}
}
