//go:build fuguhooks

package attack

import (
	"errors"
	"math"
	"os"
	"slices"
	"sort"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/stat/distuv"
)

// game is an attack on what noise protects. Its guess is an estimate of the number of customers with a high income,
// made through a fresh Fugu.
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
	trials int      // in each world; 0: 18
}

// analyst asks one Fugu.
type analyst struct {
	t testing.TB
	*fugu
	conn *pgx.Conn // alice's
}

// threshold is half-way between the worlds, and apart from either.
const threshold, apart = 450, 50

// play shows that with the defence off one guess in each world is within 50 of the truth, which tells the worlds apart,
// and that otherwise guesses are right no more often than the budget allows.
//
// The attacker is right in a share of at most (e^ε+δ)/(1+e^ε) of trials, the worlds being equally likely: the best test
// of two (ε,δ)-indistinguishable laws [Dwork & Roth, section 2.3; Kairouz, Oh & Viswanath 2015, Theorem 2.1]. The
// worlds may differ in how often that is, which makes great numbers of right guesses no likelier than if they did not
// [Hoeffding 1956, Theorem 4]: so they are above what mostRight says of a binomial law with a probability of at most
// 1e-6. With n = 36 and ε = 0.5, the whole budget here, that is 34 of them, a share of 0.944: of fewer than 30 all
// could be right by chance. An attack that the defence does not stop is right in nearly all of them: one that is right
// in 99 of 100 is found out by 95 of 100 runs. By night there are ten times as many trials, see patience, and 75% do.
//
// What n trials would say is known before the last of them: once so many guesses are wrong that the right ones cannot
// exceed that number any more, nobody guesses on. Which runs fail does not change by it, and how likely that is.
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
				got := median(max(1, g.tries), near(w.rich), func() float64 {
					f.renew()
					return g.guess(analyst{t, f, f.connect(t, "")})
				})
				t.Logf("the attack finds %.1f", got)
				if !near(w.rich)(got) {
					t.Errorf("the attack finds %.1f customers where there are %d: it is no test of the defence", got,
						w.rich)
				}
			})
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if g.waits != "" {
			t.Skip("waits for " + g.waits)
		}
		if g.trials == 0 {
			g.trials = 18
		}
		g.trials *= patience(t)
		const epsilon, delta = 0.5, 0.001
		v := verdict{n: 2 * g.trials}
		v.most = mostRight(v.n, (math.Exp(epsilon)+delta)/(1+math.Exp(epsilon)))
		if v.most >= v.n {
			t.Fatal("too few trials to see anything")
		}
		t.Run("trials", func(t *testing.T) {
			for _, w := range g.worlds {
				t.Run(w.database, func(t *testing.T) {
					t.Parallel()
					g.try(t, w, epsilon, &v)
				})
			}
		})
		t.Logf("right in %d and wrong in %d of %d trials, at most %d right ones expected", v.right.Load(),
			v.wrong.Load(), v.n, v.most)
		if right := int(v.right.Load()); right > v.most {
			t.Errorf("the attacker is right in %d of %d trials, more than %d", right, v.n, v.most)
		}
	})
}

// verdict counts the guesses of n trials in two worlds, of which most may be right.
type verdict struct {
	n, most      int
	right, wrong atomic.Int64
}

// decided reports whether the right ones can be no more than most, whatever is guessed in the trials that are left.
func (v *verdict) decided() bool { return int(v.wrong.Load()) >= v.n-v.most }

// try has the attacker guess in one world as often as the game has trials, with a budget of ε each time, and counts how
// often that is right, until the verdict is decided.
func (g game) try(t *testing.T, w world, epsilon float64, v *verdict) {
	t.Helper()
	f := serve(t, w, options{policy: slices.Concat(g.policy, g.on, []string{"epsilon: 1", "epsilon: 0.5"})})
	for range g.trials {
		if v.decided() {
			return
		}
		f.renew()
		a := analyst{t, f, f.connect(t, "")}
		if (g.guess(a) > threshold) == (w.rich > threshold) {
			v.right.Add(1)
		} else {
			v.wrong.Add(1)
		}
		if e, _ := spent(t, a.conn); e > epsilon+1e-9 {
			t.Fatalf("epsilon %g was spent of %g", e, epsilon)
		}
		_ = a.conn.Close(t.Context())
	}
}

// mostRight is the least number that so many trials, each with a success of probability p or less, exceed with a
// probability of at most 1e-6.
func mostRight(trials int, p float64) int {
	law := distuv.Binomial{N: float64(trials), P: p}
	return sort.Search(trials, func(k int) bool { return law.Survival(float64(k)) <= 1e-6 })
}

// patience is how many times as many trials are asked for as a bound needs: FUGUHOOKS_TRIALS, or 1.
func patience(t *testing.T) int {
	t.Helper()
	text := os.Getenv("FUGUHOOKS_TRIALS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("FUGUHOOKS_TRIALS is %q, and no number of times", text)
	}
	return n
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

// median is the middle one of n values, n odd, or of fewer: once more than half of n are within bounds, their middle
// one is within them whatever the others are, and no more are asked for.
func median(n int, within func(float64) bool, f func() float64) float64 {
	var x []float64
	for inside := 0; len(x) < n && inside <= n/2; {
		x = append(x, f())
		if within(x[len(x)-1]) {
			inside++
		}
	}
	slices.Sort(x)
	return x[len(x)/2]
}

// near is within the bounds of what tells the worlds apart, around the truth.
func near(rich int) func(float64) bool {
	return func(x float64) bool { return math.Abs(x-float64(rich)) < apart }
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
