package model_test

import (
	"math"
	"testing"
)

// One group: a single block without rank-one terms, in which a count of all rows has no variance but rounding; several
// groups keep their rank-one terms.
func TestOneGroupIsOneBlock(t *testing.T) {
	_, reader, table := people(t, 250)
	_, m := measure(t, reader, table, "SELECT count(*), sum(x) FROM people")
	c := m.Paths(secretShare, psi)[0].Covariance(.3)
	if len(c.Blocks) != 1 || len(c.Low) != 0 || c.Blocks[0].Size != 2 {
		t.Fatalf("%+v", c)
	}
	if e := c.Blocks[0].Entries; math.Abs(e[0]) > 1e-9 || math.Abs(e[1]) > 1e-6*math.Sqrt(e[3]) || e[1] != e[2] ||
		!(e[3] > 1) {
		t.Errorf("%v", e)
	}
	_, m = measure(t, reader, table, "SELECT g, count(*) FROM people GROUP BY g")
	if c := m.Paths(secretShare, psi)[0].Covariance(.3); len(c.Blocks) < 2 || len(c.Low) == 0 {
		t.Errorf("%+v", c)
	}
}
