package twin

import (
	"testing"

	"fugu/policy"
)

// Where a delta lets vectors be truncated, it pays: of Adult's size, with a predicate that can be NULL and with two
// secrets, the error is less than that of noise without bounds, and New takes it. Such a law has an edition of its own,
// as the same Spec had noise without bounds before; the others have none, so that their twins stay what they are.
func TestTruncationPays(t *testing.T) {
	income := proportion(policy.Span{From: .1, To: .6, Within: .05})
	nullable := income
	nullable.Nullable = true
	sex := proportion(policy.Span{From: .2, To: .5, Within: .05})
	for name, secrets := range map[string][]Secret{"NULL": {nullable}, "two secrets": {income, sex}} {
		for _, epsilon := range []float64{1, 5} {
			s := Spec{Rows: 35222, Epsilon: epsilon, Delta: .001, Smallest: .02, Secrets: secrets}
			with, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			s.Delta = 0
			without, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, ε = %v: error %.4f (%s), without bounds %.4f", name, epsilon, with.Error(), with,
				without.Error())
			if s.Edition() != "" || without.truncated() {
				t.Errorf("%s, ε = %v: truncated at delta 0", name, epsilon)
			}
			if s.Delta = .001; s.Edition() == "" || with.Error() >= without.Error() {
				t.Errorf("%s, ε = %v: truncation does not pay", name, epsilon)
			}
		}
	}

	if e := (Spec{Rows: 35222, Epsilon: 5, Delta: .001, Secrets: []Secret{income}}).Edition(); e != "" {
		t.Errorf("two classes have the edition %q", e)
	}
}

// Who knows rows of a public cell is paid for by known_rows as elsewhere.
func TestKnownRowsOfCells(t *testing.T) {
	secret := []Secret{proportion(policy.Span{From: .1, To: .6, Within: .02})}
	s := Spec{Rows: 35222, Epsilon: 5, Delta: .001, Smallest: .1, Public: publicly(11486, 23736), Secrets: secret}
	counts, other := []int64{1723, 9763, 4000, 19736}, []int64{1723 + 704, 9763 - 704, 4000, 19736}
	for _, known := range []int64{0, 1, 10} {
		s.KnownRows = known
		d, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		loss := d.Loss(known, counts, other, s.Delta)
		t.Logf("%d known rows: %s, error %.4f, ε = %.2f", known, d, d.Error(), loss)
		if loss > s.Epsilon+4*lossStep {
			t.Errorf("%d known rows: ε = %.3f", known, loss)
		}
	}
}
