package build_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/policy"
	"fugu/test/forgetful"
	"fugu/test/nightly"
	"fugu/test/patient"
	"fugu/test/policies"
	"fugu/twin"
	"fugu/twin/build"
	"fugu/twin/margin"
)

// small is a table of seven rows, four of one class and three of the other, each with a name of its own.
const small = `
CREATE TABLE seven (id int PRIMARY KEY, ok bool NOT NULL, name text NOT NULL, note text NOT NULL DEFAULT '');
INSERT INTO seven (id, ok, name) SELECT i, i <= 4, chr(96 + i) FROM generate_series(1, 7) i;
GRANT SELECT ON seven TO shop_keeper`

const smallPolicy = `version: 1
dataset: seven
tables:
  public.seven: {rows: 7, answers: twin, twin: {rows: shown}}
secrets:
  ok: {table: public.seven, proportion: ok, values: {from: 0.29, to: 0.71, within: 0.14}}
assume: [exchangeable]
privacy: {epsilon: %g, delta: %g, budget: {epsilon: 100, delta: 0.4, per: dataset}}
`

// outcome is what a twin of the small table shows: how many rows of each class it has, and which ones.
type outcome struct {
	told  string
	names string
}

// law is the law of what the small table's twin shows, exactly: K of package twin, and every choice of rows alike.
func law(t *testing.T, p *policy.Policy) map[outcome]float64 {
	t.Helper()
	return lawOf(t, p, "abcd", "efg")
}

// lawOf is the law of what a twin shows of a table whose rows are letters, one word of them a class.
func lawOf(t *testing.T, p *policy.Policy, classes ...string) map[outcome]float64 {
	t.Helper()
	counts := make([]int64, len(classes))
	for i, letters := range classes {
		counts[i] = int64(len(letters))
	}
	spec, err := margin.Spec(p, p.Tables[0].Qualified(), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	d, err := twin.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	num, den, _ := d.Unit()
	x := big.NewRat(int64(math.Round(math.Exp(-float64(num)/float64(den))*(1<<20))), 1<<20) // to a millionth, for speed
	out := map[outcome]float64{}
	for _, o := range d.Law(x, counts) {
		chance, _ := o.Probability.Float64()
		if chance == 0 || o.Counts == nil && chance < 1e-9 { // far-away noise, all of it together
			continue
		}
		take, err := d.Take(o.Counts)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{""}
		for c, letters := range classes {
			var longer []string
			for _, name := range names {
				for _, more := range subsets(letters, int(take[c])) {
					longer = append(longer, name+more)
				}
			}
			names = longer
		}
		for _, name := range names {
			out[outcome{fmt.Sprint(o.Counts), name}] = chance / float64(len(names))
		}
	}
	return out
}

// subsets are the choices of n letters.
func subsets(letters string, n int) (out []string) {
	if n == 0 {
		return []string{""}
	}
	for i := range letters {
		for _, rest := range subsets(letters[i+1:], n-1) {
			out = append(out, letters[i:i+1]+rest)
		}
	}
	return out
}

// distance is the p-value of n outcomes against a law, and in how many bins: Pearson's chi-square of what is told and
// of which rows it is told by, and that of what is told alone, which finds wrong noise among fewer; twice the smaller
// p-value of the two. It is 0 if an outcome was seen that the law excludes.
func distance(expected map[outcome]float64, seen map[outcome]int, n int) (p float64, bins int) {
	toldExpected, toldSeen := map[outcome]float64{}, map[outcome]int{}
	for o, chance := range expected {
		toldExpected[outcome{told: o.told}] += chance
	}
	for o, count := range seen {
		if expected[o] == 0 {
			return 0, 0
		}
		toldSeen[outcome{told: o.told}] += count
	}
	p, bins = pearson(expected, seen, n)
	told, _ := pearson(toldExpected, toldSeen, n)
	return min(1, 2*p, 2*told), bins
}

// pearson is the p-value of Pearson's chi-square, in bins of at least eight expected outcomes: what is likely has one
// of its own, and what is not shares one with what is as unlikely.
func pearson(expected map[outcome]float64, seen map[outcome]int, n int) (p float64, bins int) {
	keys := slices.SortedFunc(maps.Keys(expected), func(a, b outcome) int {
		return cmp.Or(cmp.Compare(expected[b], expected[a]), strings.Compare(a.told+a.names, b.told+b.names))
	})
	var masses, counts []float64
	mass, count := 0., 0.
	for _, key := range keys {
		mass, count = mass+expected[key]*float64(n), count+float64(seen[key])
		if mass >= 8 {
			masses, counts = append(masses, mass), append(counts, count)
			mass, count = 0, 0
		}
	}

	// What is left is too little for a bin of its own, and one bin says nothing.
	last := len(masses) - 1
	if last < 1 {
		return 1, 1
	}
	masses[last], counts[last] = masses[last]+mass, counts[last]+count
	chi := 0.
	for i, mass := range masses {
		chi += (counts[i] - mass) * (counts[i] - mass) / mass
	}
	return distuv.ChiSquared{K: float64(last)}.Survival(chi), len(masses)
}

// verdict is how twins go with a law.
type verdict struct {
	p      float64 // of all looks at them together
	builds int
	why    string
}

// judged holds twins against a law: n of them, or as many as refute it. It looks at what they show after half of them
// and after all, at twice the p-value each, and ends at once where the law excludes what a twin shows, which is no
// matter of chance. Of one that keeps to the law n builds are made, and the false alarm is that of all looks
// together.
func judged(t *testing.T, w *world, expected map[outcome]float64, n int) verdict {
	t.Helper()
	seen := map[outcome]int{}
	v := verdict{}
	for v.builds < n {
		o := anew(t, w, v.builds, w.shown)
		seen[o]++
		v.builds++
		if expected[o] == 0 {
			return verdict{0, v.builds, fmt.Sprintf("the law excludes %q of %q", o.told, o.names)}
		}
		if v.builds != n/2 && v.builds != n {
			continue
		}
		p, bins := distance(expected, seen, v.builds)
		v.p, v.why = min(1, 2*p), fmt.Sprintf("chi-square in %d bins", bins)
		if v.p < falseAlarm {
			break
		}
	}
	return v
}

// String is for logs.
func (v verdict) String() string {
	return fmt.Sprintf("p = %.3g of %d builds: %s", v.p, v.builds, v.why)
}

// showing builds n twins, each with a ledger and random bytes of its own, and counts what they show.
func showing(t *testing.T, w *world, n int, shown func() outcome) map[outcome]int {
	t.Helper()
	seen := map[outcome]int{}
	for i := range n {
		seen[anew(t, w, i, shown)]++
	}
	return seen
}

// anew builds the i-th twin, which knows nothing of those before it: it has a ledger and random bytes of its own. A
// build that fails has an outcome that no law knows.
func anew(t *testing.T, w *world, i int, shown func() outcome) outcome {
	t.Helper()
	var seed [32]byte
	binary.BigEndian.PutUint64(seed[:], uint64(i))
	w.keeper.Random, w.keeper.Ledger = rand.NewChaCha8(sha256.Sum256(seed[:])), forgetful.NewMemory()
	if i > 0 {
		w.column(`DELETE FROM fugu_twin."fugu twins"`)
	}
	if _, err := w.keeper.Build(t.Context(), w.policy, w.policy.Tables[0], build.Options{}); err != nil {
		return outcome{told: err.Error()}
	}
	return shown()
}

// shown is what the twin of the small table shows.
func (w *world) shown() outcome {
	w.t.Helper()
	line := w.one(`SELECT count(*) FILTER (WHERE ok), count(*) FILTER (WHERE NOT ok),
		string_agg(DISTINCT name, '' ORDER BY name) FROM fugu_twin.seven`)
	parts := strings.Split(line, "|")
	return outcome{"[" + parts[0] + " " + parts[1] + "]", parts[2]}
}

// falseAlarm is the chance with which a correct build would be rejected by each test, if its seeds were not fixed.
const falseAlarm = 1e-6

// lawBuilds is how many builds are held against their law: by day as many as every fault that is planted needs to be
// found, at the same false alarm.
func lawBuilds() int { return nightly.Or(250, 100) }

// What a build on PostgreSQL shows has the law of package twin, which its own tests hold to the theorem exhaustively:
// how many rows of each class, and which rows. n builds with fixed seeds by each of two laws.
func TestBuildFollowsTheLaw(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "seven", small, fmt.Sprintf(smallPolicy, 1., 0.))
	for name, price := range map[string][2]float64{"pure": {1, 0}, "truncated": {4, .1}} {
		w.policy = policies.Load(t, fmt.Sprintf(smallPolicy, price[0], price[1]))
		v := judged(t, w, law(t, w.policy), lawBuilds())
		t.Logf("%s: %s", name, v)
		if v.p < falseAlarm {
			t.Errorf("%s: the builds do not have the law: %s", name, v)
		}
		w.column(`DELETE FROM fugu_twin."fugu twins"`)
	}
}

// Keys are counted anew, and rows lie in another order than the table's.
func TestOrderOfRows(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "rows", shop, shopPolicy)
	w.build(build.Options{})
	rich := w.column("SELECT rich FROM fugu_twin.customer ORDER BY ctid")
	if ids := w.column("SELECT id FROM fugu_twin.customer ORDER BY id"); !slices.Equal(ids,
		w.column("SELECT generate_series(1, 2000)")) {
		t.Error("keys are not counted from 1")
	}
	// Of 1999 neighbours as many differ as at random: 2pq of them, with sd .011 at most.
	changes, yes := 0, 0
	for i, v := range rich {
		if v == "t" {
			yes++
		}
		if i > 0 && v != rich[i-1] {
			changes++
		}
	}
	share := float64(yes) / 2000
	if got, want := float64(changes)/1999, 2*share*(1-share); math.Abs(got-want) > 5.5*.0112 {
		t.Errorf("neighbours differ in %.3f of the rows, at random it would be %.3f", got, want)
	}
}
