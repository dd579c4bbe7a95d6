//go:build fuguhooks

package attack

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"fugu/internal/hook"
)

// shape is a place in a statement that a condition can stand in, and what its answer says of the number of rows that
// meet it.
type shape struct {
	name string
	ask  func(a analyst, f fitted) float64
	unit float64 // rows that one of the answer stands for; 0: 1

	tries int // with the defence off: the median of so many guesses counts; 0: 1
}

// asks is the answer of one statement with the condition and the coins in their places.
func asks(sql string) func(analyst, fitted) float64 {
	return func(a analyst, f fitted) float64 {
		a.t.Helper()
		return f.asked(a, sql)
	}
}

func (f fitted) asked(a analyst, sql string, args ...any) float64 {
	a.t.Helper()
	x, err := value(a.t, a.conn, strings.NewReplacer("{rows}", f.from(), "{met}", f.where).Replace(sql), args...)
	if code(err) == "PV004" {
		*f.refused = err
	} else if err != nil {
		a.t.Fatal(err)
	}
	return x
}

// besides is what some rows with a low income do, so that the reference shows both values; it has no rows that are
// fitted to. One in a hundred does.
const besides = "income = 'low' AND age = 34 AND visits = 5"

// less takes the rows off that besides adds, and those that it would have added in place of rows with a high income.
func less(x float64, f fitted) float64 { return (x - 0.01*2000) / (f.share - 0.01) * f.share }

var shapes = []shape{
	{name: "WHERE", ask: asks("SELECT count(*) FROM {rows} WHERE income = 'high' AND ({met})")},
	{name: "FILTER", ask: asks("SELECT count(*) FILTER (WHERE income = 'high' AND ({met})) FROM {rows}")},
	{name: "count of CASE", ask: asks("SELECT count(CASE WHEN income = 'high' AND ({met}) THEN 1 END) FROM {rows}")},
	{name: "sum of CASE", tries: 9, ask: func(a analyst, f fitted) float64 {
		return less(f.asked(a, "SELECT sum(CASE WHEN income = 'high' AND ({met}) OR "+besides+
			" THEN 1 ELSE 0 END) FROM {rows}"), f)
	}},
	{name: "group key", tries: 15, ask: asks("SELECT n FROM (SELECT CASE WHEN {met} THEN 'met' ELSE 'not' END AS k, " +
		"count(*) AS n FROM {rows} WHERE income = 'high' GROUP BY 1) g WHERE k = 'met'")},
	{name: "the opposite of the opposite", ask: asks("SELECT count(*) FROM {rows} WHERE NOT (income <> 'high' " +
		"OR coalesce(NOT ({met}), true))")},
	{name: "average", tries: 7, unit: 2000, ask: func(a analyst, f fitted) float64 {
		return less(2000*f.asked(a, "SELECT avg(CASE WHEN income = 'high' AND ({met}) OR "+besides+
			" THEN 1 ELSE 0 END) FROM {rows}"), f)
	}},
	{name: "several statements", ask: func(a analyst, f fitted) float64 {
		x := 0.0
		for _, part := range []string{"visits < 8", "visits >= 8"} {
			run(a.t, a.conn, "SET fugu.epsilon = 0.4")
			x += f.asked(a, "SELECT count(*) FROM {rows} WHERE income = 'high' AND "+part+" AND ({met})")
		}
		return x
	}},
	{name: "parameters", ask: func(a analyst, f fitted) float64 {
		return f.asked(a, "SELECT count(*) FROM {rows} WHERE income = $1 AND ({met}) = $2::bool", "high", "true")
	}},
	{name: "a join with an ordinary table", tries: 7, ask: func(a analyst, f fitted) float64 {
		return less(f.asked(a, "SELECT count(*) FROM {rows} JOIN plain p ON p.region = s.region "+
			"WHERE CASE WHEN income = 'high' THEN ({met}) ELSE "+besides+" END"), f)
	}},
}

// A condition that was chosen, without a constant that stands for a row, such that no row of the reference with a high
// income meets it: so the model would see no movement, and the answer be all but exact.
//
// The bound on what an expression may cost is off: it refuses the longest of them by chance, and the rule needs no
// help.
func TestConditionFittedWithoutLiterals(t *testing.T) {
	off(t, &hook.DearRows)
	at := serveSides(t, options{policy: knownReference})
	for _, s := range scatters {
		t.Run(s.name, func(t *testing.T) { s.against(t, at, shapes[0]) })
	}
	for _, sh := range shapes[1:] {
		t.Run(sh.name, func(t *testing.T) { scatters[0].against(t, at, sh) })
	}
}

// A whole game, with many trials, for one of them.
func TestFittedConditionInManyTrials(t *testing.T) {
	game{off: []*bool{&hook.Unlooked}, policy: knownReference, guess: func(a analyst) float64 {
		f := scatters[0].fit(a)
		return shapes[0].ask(a, f) / f.share
	}}.play(t)
}

// A hash serves only to scatter rows, and is none of the functions that protected rows can be given to.
func TestHashesOfProtectedColumns(t *testing.T) {
	f := serve(t, worlds[0], options{})
	a := analyst{t, f, f.connect(t, "")}
	for _, hash := range []string{"md5(serial::text)", "reverse(serial::text)", "hashint4(serial)::text",
		"sha256(serial::text::bytea)::text", "translate(serial::text, '123', '321')"} {
		if _, err := value(t, a.conn, "SELECT count(*) FROM customer WHERE "+hash+" < 'a'"); code(err) != "PV001" {
			t.Errorf("%s: %v, want PV001", hash, err)
		}
	}
}

// against shows that the attack finds the number of high incomes in both worlds with the defence off, and that with it
// the noise is what hides as many rows as the worlds differ in, or more; or that it is refused.
func (s scatter) against(t *testing.T, at sides, sh shape) {
	t.Helper()
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.Unlooked)
		for i, w := range worlds {
			f := at.off[i]
			fit := s.fit(analyst{t, f, f.connect(t, "")})
			got := median(max(1, sh.tries), near(w.rich), func() float64 {
				f.renew()
				return sh.ask(analyst{t, f, f.connect(t, "")}, fit) / fit.share
			})
			t.Logf("%s: %.1f of %d; %.2f meet the condition", w.database, got, w.rich, fit.share)
			if !near(w.rich)(got) {
				t.Errorf("%s: the attack finds %.1f customers where there are %d: it is no test of the defence",
					w.database, got, w.rich)
			}
		}
	})
	for i, w := range worlds {
		t.Run("defence on, "+w.database, func(t *testing.T) {
			f := at.on[i]
			f.renew()
			a := analyst{t, f, f.connect(t, "")}
			fit := s.fit(a)
			sh.ask(a, fit)
			if code(*fit.refused) == "PV004" {
				return
			}
			var sd float64
			if err := a.conn.QueryRow(t.Context(), "SELECT max(noise_sd) FROM fugu.last_release").Scan(
				&sd); err != nil {
				t.Fatal(err)
			}
			// A Laplace variable hides a movement as long as its scale at ε = 1, the most that a session can ask for
			// here.
			if least := math.Sqrt2 * 100 * fit.share; sd*math.Max(1, sh.unit) < least {
				t.Errorf("noise %.1f hides less than the worlds differ in: %.1f would", sd*math.Max(1, sh.unit), least)
			}
		})
	}
}

// Statements whose means are known by number theory, though the reference has another: of all remainders and
// thresholds, those for which the reference's errors hide the movement. The reference is large, so that rows which it
// may not show are few beside its errors.
func TestConditionFittedToTheReferencesErrors(t *testing.T) {
	sql, moves := "", 0.0
	noise := func() float64 {
		f := serve(t, worlds[0], options{policy: []string{"public.customer_reference", "public.many"}})
		a := analyst{t, f, f.connect(t, "")}
		if sql == "" {
			sql, moves = lucky(a)
		}
		if _, err := value(t, a.conn, sql); err != nil {
			t.Fatal(err)
		}
		var sd float64
		if err := a.conn.QueryRow(t.Context(), "SELECT noise_sd FROM fugu.last_release").Scan(&sd); err != nil {
			t.Fatal(err)
		}
		return sd
	}
	off(t, &hook.Unlooked)
	before := noise()
	hook.Unlooked = false
	after := noise()
	most := math.Sqrt2 * moves // that noise would have to have
	t.Logf("the worlds' means differ by %.2f rows; noise %.2f without the defence and %.2f with it", moves, before,
		after)
	if before > most/2 {
		t.Errorf("noise %.2f with the defence off, where %.2f hides the movement: it is no test of the defence", before,
			most)
	}
	if after < most {
		t.Errorf("noise %.2f does not hide a movement of %.2f rows: %.2f would", after, moves, most)
	}
}

// lucky finds a statement that the reference takes for one whose mean hardly moves, and by how many rows its mean
// moves.
func lucky(a analyst) (sql string, moves float64) {
	a.t.Helper()
	rows, err := a.as(a.t, "fugu_reader").Query(a.t.Context(), "SELECT serial, income = 'high' FROM many")
	if err != nil {
		a.t.Fatal(err)
	}
	defer rows.Close()
	var serials [2][]int
	for rows.Next() {
		var serial int
		var high bool
		if err := rows.Scan(&serial, &high); err != nil {
			a.t.Fatal(err)
		}
		class := 0
		if high {
			class = 1
		}
		serials[class] = append(serials[class], serial)
	}
	if rows.Err() != nil {
		a.t.Fatal(rows.Err())
	}
	for p := 53; p < 200; p += 2 {
		var below [2][]float64 // the share of the class with a remainder below a threshold
		for class, list := range serials {
			below[class] = make([]float64, p+1)
			for _, s := range list {
				below[class][s%p+1] += 1 / float64(len(list))
			}
			for r := range p {
				below[class][r+1] += below[class][r]
			}
		}
		for h := range p {
			for l := range p {
				if real := 100 * math.Abs(float64(h-l)) / float64(p); real > moves &&
					100*math.Abs(below[1][h]-below[0][l]) < 0.1 {
					moves = real
					sql = fmt.Sprintf("SELECT count(*) FROM customer WHERE serial %% %d < CASE WHEN income = 'high' "+
						"THEN %d ELSE %d END", p, h, l)
				}
			}
		}
	}
	a.t.Log(sql)
	return sql, moves
}
