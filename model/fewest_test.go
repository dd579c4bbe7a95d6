package model_test

import (
	"math/rand/v2"
	"testing"

	"fugu/model"
)

// Of 4,000 tables drawn from the model at the value of the secret that gives fewest rows, a share of at most e^-3 has
// fewer rows in the average than Fewest says: 199 expected at the bound, and more than 280 with a probability below
// 1e-6. It is no idle bound, and knows nothing of secret means and other functions.
func TestFewest(t *testing.T) {
	all, reader, table := people(t, 250)
	_, m := measure(t, reader, table, "SELECT avg(x), count(*), stddev(x) FROM people WHERE x > 12")
	var by [2][]person
	for _, p := range all {
		if p.s {
			by[1] = append(by[1], p)
		} else {
			by[0] = append(by[0], p)
		}
	}

	average := -1
	for k := range m.Components {
		switch least := m.Fewest(m.Components[k], []model.Psi{psi}, 3); {
		case least > 0 && average >= 0:
			t.Fatal("two averages")
		case least > 0:
			average = k
		}
	}

	if average < 0 {
		t.Fatal("no average is bounded")
	}
	least := m.Fewest(m.Components[average], []model.Psi{psi}, 3)

	r := rand.New(rand.NewPCG(1, 2))
	below, total := 0, 0
	for range 4000 {
		n := 0
		for i := range 250 {
			class := by[0]
			if i < 25 { // a share of .1, at which fewest have x > 12
				class = by[1]
			}
			if class[r.IntN(len(class))].x > 12 {
				n++
			}
		}

		total += n
		if float64(n) < least {
			below++
		}
	}
	mean := float64(total) / 4000
	t.Logf("at least %.1f of %.1f rows: %d of 4000 tables have fewer", least, mean, below)
	if below > 280 || least < .6*mean {
		t.Errorf("at least %.1f of %.1f rows: %d of 4000 tables have fewer", least, mean, below)
	}
	if far := m.Fewest(m.Components[average], []model.Psi{psi}, 1000); far != 0 {
		t.Errorf("but for e^-1000 at least %v rows", far)
	}
}
