//go:build fuguhooks

package build_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fugu/internal/hook"
	"fugu/test/patient"
	"fugu/twin/build"
)

// planted has a fault for the rest of a test.
func planted(t testing.TB, fault *bool) {
	*fault = true
	t.Cleanup(func() { *fault = false })
}

// The test of the law rejects builds with a fault: of no more than it looks at, at its own false alarm.
func TestFaultyBuildsAreNotOfTheLaw(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "faulty", small, fmt.Sprintf(smallPolicy, 1., 0.))
	expected := law(t, w.policy)
	for name, fault := range map[string]*bool{"one row more": &hook.TwinOneMore, "weights of N": &hook.TwinOfCounts,
		"table order": &hook.TwinTableOrder} {
		t.Run(name, func(t *testing.T) {
			planted(t, fault)
			v := judged(t, w, expected, lawBuilds())
			t.Log(v)
			if v.p > falseAlarm {
				t.Errorf("it passes: %s", v)
			}
			w.column(`DELETE FROM fugu_twin."fugu twins"`)
		})
	}
}

// Faults of the noise show in a table whose range leaves it room: of twelve rows three are of the class, and two to
// nine may be. The noise is at most 3 rows; of n draws without that bound .084n are expected to be outside of it, and
// of those that no clamping follows .17n to be below the range. A build that stops because its counts are not of the
// law counts as found.
func TestFaultyNoiseIsNotOfTheLaw(t *testing.T) {
	patient.Test(t)
	table := strings.NewReplacer("i <= 4", "i <= 3", "(1, 7)", "(1, 12)").Replace(small)
	text := strings.NewReplacer("rows: 7", "rows: 12", "from: 0.29, to: 0.71, within: 0.14",
		"from: 0.16, to: 0.76, within: 0.084").Replace(smallPolicy)
	w := newWorld(t, "faulty_noise", table, fmt.Sprintf(text, .5, .1))
	expected := lawOf(t, w.policy, "abc", "defghijkl")

	v := judged(t, w, expected, lawBuilds())
	t.Logf("no fault: %s", v)
	if v.p < falseAlarm {
		t.Errorf("without a fault the builds do not have the law: %s", v)
	}
	for _, c := range []struct {
		name  string
		fault *bool
	}{{"clamped before noise", &hook.TwinClampFirst}, {"noise without bounds", &hook.TwinUnbounded}} {
		t.Run(c.name, func(t *testing.T) {
			planted(t, c.fault)
			w.column(`DELETE FROM fugu_twin."fugu twins"`)
			v := judged(t, w, expected, lawBuilds())
			t.Log(v)
			if v.p > falseAlarm {
				t.Errorf("it passes: %s", v)
			}
		})
	}
}

// overlap draws the shop's customers twice, and returns how many of a class are in both twins, and in each.
func overlap(t *testing.T, name string) (both, first, second float64) {
	w := newWorld(t, name, shop, richPolicy)
	w.keeper.Random = rand.NewChaCha8([32]byte{21})
	taken := func() []string {
		return w.column("SELECT DISTINCT mail FROM fugu_twin.customer WHERE rich ORDER BY 1")
	}
	w.build(build.Options{})
	a := taken()
	w.build(build.Options{New: true, Independent: true, Reason: "to see"})
	b := taken()
	for _, mail := range b {
		if slices.Contains(a, mail) {
			both++
		}
	}
	return both, float64(len(a)), float64(len(b))
}

// Two twins of one table nest, so that their overlap tells nothing that the smaller one does not. Were the second drawn
// independently, capture and recapture would tell how many rows the class has: 600.
func TestSecondDrawNests(t *testing.T) {
	patient.Test(t)
	both, first, second := overlap(t, "nested")
	if both != min(first, second) {
		t.Errorf("%g of %g and %g rows are in both", both, first, second)
	}
	planted(t, &hook.TwinRedraw)
	both, first, second = overlap(t, "independent")
	t.Logf("drawn independently: %g and %g rows, %g in both: the class has %.0f rows", first, second, both,
		first*second/both)
	mean := first * second / 600 // of a hypergeometric law
	sd := math.Sqrt(mean * (1 - first/600) * (600 - second) / 599)
	if both == min(first, second) || math.Abs(both-mean) > 5*sd {
		t.Errorf("the fault does not show: %g of %g and %g rows are in both, of 600 it would be %.0f±%.0f", both, first,
			second, mean, sd)
	}
}

// A row that is corrected keeps its place: the order is by its key. By its content, the rows would be others.
func TestCorrectedRowsKeepTheirPlace(t *testing.T) {
	patient.Test(t)
	again := func(name string) error {
		w := newWorld(t, name, small, fmt.Sprintf(smallPolicy, 1., 0.))
		w.build(build.Options{})
		before := w.shown()
		w.column("UPDATE seven SET note = 'corrected'")
		if _, err := w.keeper.Build(t.Context(), w.policy, w.policy.Tables[0], build.Options{Again: true}); err != nil {
			return err
		}
		if after := w.shown(); after != before || w.one("SELECT DISTINCT note FROM fugu_twin.seven") != "corrected" {
			return fmt.Errorf("%v became %v", before, after)
		}
		return nil
	}
	if err := again("corrected"); err != nil {
		t.Error(err)
	}
	planted(t, &hook.TwinByContent)
	if err := again("by_content"); err == nil {
		t.Error("the fault does not show")
	}
}

// No old key is in a twin: those of the shop are above 100,000.
func TestOldKeysAreGone(t *testing.T) {
	patient.Test(t)
	most := func(name string) int {
		w := newWorld(t, name, shop, shopPolicy)
		w.build(build.Options{})
		n, _ := strconv.Atoi(w.one("SELECT max(id) FROM fugu_twin.customer WHERE id IN (SELECT id " +
			"FROM public.customer)"))
		return n
	}
	if n := most("new_keys"); n != 0 {
		t.Errorf("key %d", n)
	}
	// With the fault a copy has its row's key, so that the primary key does not hold, and no twin is made.
	planted(t, &hook.TwinOldKeys)
	w := newWorld(t, "old_keys", shop, shopPolicy)
	if _, err := w.keeper.Build(t.Context(), w.policy, w.policy.Tables[0], build.Options{}); err == nil {
		t.Error("the fault does not show")
	}
}

// peopled is a table of which each row has a row of an ordinary one, of which 95% of those with the secret have a limit
// and 5% of the others.
const peopled = `
CREATE TABLE passport (nr text PRIMARY KEY, limited bool NOT NULL);
CREATE TABLE seven (id int PRIMARY KEY, ok bool NOT NULL, nr text NOT NULL UNIQUE REFERENCES passport);
INSERT INTO passport SELECT 'p' || i, (i %% 20 = 0) <> (i <= %[1]d) FROM generate_series(1, 2000) i;
INSERT INTO seven SELECT i, i <= %[1]d, 'p' || i FROM generate_series(1, 2000) i;
GRANT SELECT ON seven TO shop_keeper; GRANT SELECT ON passport TO shop_guest`

// An ordinary table one to one beside the twin gives the secret away, and the build refuses it. Where it does not, who
// solves the number of rows with the secret out of it guesses 500 against 600 of 2,000 right in every one of 46 builds;
// at epsilon 1 it would be .731 of them at most, and all of them with a chance of 6e-7. Who goes by the told number
// alone is wrong now and then.
func TestOrdinaryTableBeside(t *testing.T) {
	patient.Test(t)
	text := strings.NewReplacer("rows: 7", "rows: 2000", "from: 0.29, to: 0.71, within: 0.14",
		"from: 0.10, to: 0.60, within: 0.05").Replace(smallPolicy)
	const each = 23
	solved, told := 0, 0
	for _, rich := range []float64{500, 600} {
		w := newWorld(t, fmt.Sprintf("beside_%g", rich), fmt.Sprintf(peopled, int(rich)), fmt.Sprintf(text, 1., .001))
		w.refused(build.Options{}, "has a row of the ordinary table public.passport for its own")
		planted(t, &hook.TwinPartners)
		right := func(guess string) bool {
			n, err := strconv.ParseFloat(guess, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n > 550 == (rich > 550)
		}
		showing(t, w, each, func() outcome {
			if right(w.one("SELECT count(*) FROM fugu_twin.seven WHERE ok")) {
				told++
			}
			if right(w.one(solveBeside)) {
				solved++
			}
			return outcome{}
		})
		hook.TwinPartners = false
	}
	t.Logf("of %d guesses %d are right by the ordinary table, %d by the told number", 2*each, solved, told)
	if solved < 2*each || told == 2*each {
		t.Error("the fault does not show")
	}
}

// solveBeside is how many rows have the secret: the ordinary table says how many are limited, and the twin with it how
// large a part of the rows with and without the secret that is.
const solveBeside = `WITH f AS (
	SELECT avg(limited::int) FILTER (WHERE ok) AS yes, avg(limited::int) FILTER (WHERE NOT ok) AS no
	FROM fugu_twin.seven JOIN passport USING (nr))
SELECT ((SELECT count(*) FROM passport WHERE limited) - 2000 * no) / (yes - no) FROM f`
