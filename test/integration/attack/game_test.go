//go:build fuguhooks

package attack

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// game is an attack on what noise protects. Its guess is an estimate of the number of customers with a high income, made
// through a fresh Fugu.
type game struct {
	policy []string // edits of the policy
	off    []*bool  // the defences that it breaks on
	more   []string // edits of the policy with the defence off, where the policy can switch it off
	on     []string // edits of the policy with the defence on, where the policy is the defence
	role   string   // of the guest with the defence off, where grants are the defence
	guess  func(analyst) float64
	worlds [2]world // none: worlds
	waits  string   // what the defence waits for; empty once it is there
	tries  int      // with the defence off: the median of so many guesses counts; 0: 1
	trials int      // in each world; 0: 75
}

// analyst asks one Fugu.
type analyst struct {
	t testing.TB
	*fugu
	conn *pgx.Conn // alice's
}

// threshold is half-way between the worlds.
const threshold = 450

// play shows that with the defence off one guess in each world is within 45 of the truth, where 50 would do to tell the
// worlds apart, and that otherwise guesses are right no more often than the budget allows.
//
// The attacker is right in a share of at most (e^ε+δ)/(1+e^ε) of trials, the worlds being equally likely: the best test of
// two (ε,δ)-indistinguishable laws [Dwork & Roth, section 2.3; Kairouz, Oh & Viswanath 2015, Theorem 2.1]. In n trials the
// share is beyond that by √(ln(10⁶)/2n) with probability at most 1e-6 [Hoeffding]. With n = 150 and ε = 0.5, the whole
// budget here, that is 0.84.
func (g game) play(t *testing.T) {
	t.Helper()
	if g.worlds[0].database == "" {
		g.worlds = worlds
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, g.off...)
		for _, w := range g.worlds {
			t.Run(w.database, func(t *testing.T) {
				t.Parallel()
				f := serve(t, w, options{guest: g.role, policy: append(append([]string{}, g.policy...), g.more...)})
				got := median(max(1, g.tries), func() float64 {
					f.renew()
					return g.guess(analyst{t, f, f.connect(t, "")})
				})
				t.Logf("the attack finds %.1f", got)
				if !(math.Abs(got-float64(w.rich)) < 45) {
					t.Errorf("the attack finds %.1f customers where there are %d: it is no test of the defence", got, w.rich)
				}
			})
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if g.waits != "" {
			t.Skip("waits for " + g.waits)
		}
		if g.trials == 0 {
			g.trials = 75
		}
		const epsilon, delta = 0.5, 0.001
		var right atomic.Int64
		t.Run("trials", func(t *testing.T) {
			for _, w := range g.worlds {
				t.Run(w.database, func(t *testing.T) {
					t.Parallel()
					f := serve(t, w, options{policy: slices.Concat(g.policy, g.on, []string{"epsilon: 1", "epsilon: 0.5"})})
					for range g.trials {
						f.renew()
						a := analyst{t, f, f.connect(t, "")}
						if (g.guess(a) > threshold) == (w.rich > threshold) {
							right.Add(1)
						}
						if e, _ := spent(t, a.conn); e > epsilon+1e-9 {
							t.Fatalf("epsilon %g was spent of %g", e, epsilon)
						}
						_ = a.conn.Close(t.Context())
					}
				})
			}
		})
		n := float64(2 * g.trials)
		share, most := float64(right.Load())/n, (math.Exp(epsilon)+delta)/(1+math.Exp(epsilon))+math.Sqrt(math.Log(1e6)/2/n)
		t.Logf("right in %.2f of %.0f trials, at most %.2f expected", share, n, most)
		if most >= 1 {
			t.Fatal("too few trials to see anything")
		}
		if share > most {
			t.Errorf("the attacker is right in %.2f of the trials, more than %.2f", share, most)
		}
	})
}

// number asks for one number over c. ok is false when the budget does not cover the statement.
func number(t testing.TB, c *pgx.Conn, sql string, args ...any) (x float64, ok bool) {
	t.Helper()
	v, err := value(t, c, sql, args...)
	if code(err) == "PV002" {
		return 0, false
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v, true
}

// value is the number that sql returns.
func value(t testing.TB, c *pgx.Conn, sql string, args ...any) (float64, error) {
	t.Helper()
	r, err := c.Query(t.Context(), sql, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var raw string
	for r.Next() {
		raw = string(r.RawValues()[0])
	}
	if r.Err() != nil {
		return 0, r.Err()
	}
	if raw == "" {
		return 0, errors.New("no value")
	}
	return strconv.ParseFloat(raw, 64)
}

// median is the middle one of n values, n odd.
func median(n int, f func() float64) float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f()
	}
	slices.Sort(x)
	return x[n/2]
}

// mean collects estimates; with none it is the threshold.
type mean struct{ sum, n float64 }

func (m *mean) add(x float64) { m.sum += x; m.n++ }

func (m *mean) value() float64 {
	if m.n == 0 {
		return threshold
	}
	return m.sum / m.n
}
