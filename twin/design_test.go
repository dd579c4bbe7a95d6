package twin

import (
	"math"
	"math/rand/v2"
	"testing"

	"fugu/policy"
)

func proportion(spans ...policy.Span) Secret {
	return Secret{Secret: policy.Secret{Name: "s", About: policy.AboutDataset, Proportion: "p", Spans: spans}}
}

// adult is the law of the policy of the example: sizes and expected errors as the prototype had them.
func adult(t *testing.T, knownRows int64) *Design {
	t.Helper()
	policies, err := policy.Load("../policy/testdata/adult_twin.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := FromPolicy(policies[0], policy.QualifiedName{Schema: "public", Name: "adult"}, nil,
		func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	spec.KnownRows = knownRows
	d, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAdult(t *testing.T) {
	d := adult(t, 0)
	counts := []int64{8742, 35222 - 8742}
	if !d.Covers(counts) {
		t.Fatal("not covered")
	}
	noisy, err := d.Draw(rand.NewChaCha8([32]byte{1}), counts)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := d.Take(noisy)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: noisy %v, taken %v, classes %+v, expected %+v, error %.4f", d, noisy, taken, d.Classes,
		d.Expect(counts), d.Error())
	// b = 1761 rows; A = b·ln(1+(e-1)/.002) = 11,898.
	l := d.noise.(*laplace)
	if want := int64(math.Ceil(1761 * math.Log1p((math.E-1)/.002))); l.most != want || l.move != 1761 {
		t.Errorf("A = %d and k = %d, want %d and 1761", l.most, l.move, want)
	}
	if c := d.Classes[True]; c.Least != 3523 || c.Most != 21133 {
		t.Errorf("class true has %d to %d rows", c.Least, c.Most)
	}
	for c, m := range taken {
		if m >= counts[c] || m < d.Classes[c].Least-1 {
			t.Errorf("class %d: %d of %d rows are taken", c, m, counts[c])
		}
	}
}
