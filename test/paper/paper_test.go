package main

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/pgcluster"
	"fugu/test/setting"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// people makes records of which half are in the income predicate, and whose first value tells it if told is true.
func people(n int, told bool) []record {
	rng := rand.New(rand.NewPCG(1, 0))
	var out []record
	for i := range n {
		r := record{values: []float64{rng.NormFloat64(), rng.NormFloat64(), 0, 1, rng.NormFloat64()},
			in: map[string]bool{"income": i%2 == 0}}
		if told && i%2 == 0 {
			r.values[0] += 1000
		}
		out = append(out, r)
	}
	return out
}

// A dataset has exactly the share that it is asked for: its average tells how many records are inside.
func TestDatasetHasItsShare(t *testing.T) {
	p := divide(people(2000, true), secrets[0])
	rng := rand.New(rand.NewPCG(2, 0))
	for _, share := range []float64{.3, .45, .55, .7} {
		f := p.dataset(share, rng)
		if got := math.Round(f[0] / 10); got != math.Round(share*100) { // an average of thousands and nothings
			t.Errorf("share %g: about %g of 100 records are inside", share, got)
		}
		if f[3] != setting.Records {
			t.Errorf("%g records are counted", f[3])
		}
	}
}

// The attack is always right where F tells the secret, and guesses where it tells nothing: 4000 guesses are half right
// to within 6 standard deviations (2e-9), .047.
func TestAttack(t *testing.T) {
	d, err := none.calibrate(setting.Income, .1, budget(1, .001))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 0))
	for _, noised := range []bool{false, true} {
		told, idle := divide(people(2000, true), secrets[0]), divide(people(2000, false), secrets[0])
		if rate, err := accuracy(d, told, told, .1, 5, noised, rng); err != nil || rate != 1 {
			t.Errorf("accuracy %g, %v, where F tells the secret", rate, err)
		}
		if rate, err := accuracy(d, idle, idle, .1, 20, noised, rng); err != nil || math.Abs(rate-.5) > .047 {
			t.Errorf("accuracy %g, %v, where F tells nothing", rate, err)
		}
	}
}

func TestRelative(t *testing.T) {
	total, median, err := relative(map[string]float64{"a": 1, "b": 2, "c": 3, "more": 9},
		map[string]float64{"a": 10, "b": -4, "c": 0})
	if err != nil || total != 6./14 || median != .5 {
		t.Errorf("%g, %g, %v", total, median, err)
	}
	if _, _, err := relative(nil, map[string]float64{"a": 1}); err == nil {
		t.Error("a cell without noise is accepted")
	}
}

// What the dashboard measures beside the engine is put together here, of the product's parts: it fits them, and has a
// component for each cell of every panel.
func TestModelsFitTheProduct(t *testing.T) {
	cluster := pgcluster.Shared(t)
	if _, err := adult.Load(t.Context(), cluster, "adult", adult.Options{}); err != nil {
		t.Fatal(err)
	}
	truth, err := pgx.Connect(t.Context(), cluster.DSN("postgres", "adult"))
	if err != nil {
		t.Fatal(err)
	}
	defer truth.Close(t.Context())
	m, err := newModels(t.Context(), truth, cluster, true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()

	for _, p := range panels {
		f, err := m.measure(t.Context(), p.sql)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		exact, err := cells(t.Context(), truth, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range slices.Sorted(maps.Keys(exact)) {
			if !slices.Contains(f.labels, key) {
				t.Errorf("%s: no component is called %q", p.name, key)
			}
		}
	}
}
