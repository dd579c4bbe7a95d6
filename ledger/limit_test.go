package ledger

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"fugu/privacy"
)

// What each secret has lost stays within the limit, summed exactly: a charge that would bring one of them over it is
// refused.
func TestLimitHoldsForEverySecret(t *testing.T) {
	limit := privacy.Budget{Epsilon: 1, Delta: 0.01}
	// Of several releases of normal noise: see privacy.Loss.SpentAt.
	kappa := privacy.Kappa(privacy.Budget{Epsilon: 1 - 0x1p-20, Delta: 0.01 / 4})
	half := privacy.Loss{Kappa2: kappa * kappa / 2}
	tests := []struct {
		name   string
		losses []map[string]privacy.Loss
		over   string // secret at which the last one fails; empty: it is paid
	}{
		{"exactly the limit", []map[string]privacy.Loss{{"a": {Pure: 0.75}}, {"a": {Pure: 0.25}}}, ""},
		{"one unit over", []map[string]privacy.Loss{{"a": {Pure: 0.75}}, {"a": {Pure: math.Nextafter(0.25, 1)}}}, "a"},
		// 0.1 is a little more than a tenth: ten of them, summed exactly, are more than 1, though float64 says less.
		{"ten tenths", repeat(10, map[string]privacy.Loss{"a": {Pure: 0.1}}), "a"},
		{"four quarters", repeat(4, map[string]privacy.Loss{"a": {Pure: 0.25}}), ""},
		{"a free one after the last", []map[string]privacy.Loss{{"a": {Pure: 1}}, {"a": {}}}, ""},
		{"the second secret only", []map[string]privacy.Loss{{"b": {Pure: 0.75}}, {"a": {Pure: 0.5}, "b": {Pure: 0.5}}},
			"b"},
		{"the first of two", []map[string]privacy.Loss{{"a": {Pure: 1}, "b": {Pure: 1}},
			{"a": {Pure: 1}, "b": {Pure: 1}}}, "a"},
		{"secrets are apart", []map[string]privacy.Loss{{"a": {Pure: 1}}, {"b": {Pure: 1}}}, ""},
		{"gaussian shifts add as squares", []map[string]privacy.Loss{{"a": half},
			{"a": {Kappa2: half.Kappa2 * (1 - 1e-6)}}}, ""},
		{"gaussian shifts over", []map[string]privacy.Loss{{"a": half}, {"a": {Kappa2: half.Kappa2 * (1 + 1e-6)}}},
			"a"},
		{"delta", []map[string]privacy.Loss{{"a": {Delta: 0.0078125}}, {"a": {Delta: 0.0078125}}}, "a"},
		{"gaussian on top of pure", []map[string]privacy.Loss{{"a": {Pure: 0.5}}, {"a": {Kappa2: half.Kappa2 * 2}}},
			"a"},
		{"infinite sum", []map[string]privacy.Loss{{"a": {Pure: math.MaxFloat64}}}, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, p place) {
				l := p.open(t, Options{})
				last := len(tt.losses) - 1
				for i, losses := range tt.losses {
					c := with(charge(i), func(c *Charge) { c.Losses, c.Limit = losses, limit })
					if i == last && tt.over != "" {
						refuses(t, l, c, tt.over)
					} else if _, err := l.Charge(t.Context(), c); err != nil {
						t.Fatalf("charge %d: %v", i, err)
					}
				}
			})
		})
	}
}

// refuses holds a ledger to refusing a charge that a secret has no budget left for, without a trace of it.
func refuses(t *testing.T, l Ledger, c Charge, over string) {
	t.Helper()
	before := spent(t, l, "")
	_, err := l.Charge(t.Context(), c)
	var x *Exhausted
	if !errors.As(err, &x) || x.Secret != over || x.Dataset != "adult" || x.Wanted != c.Losses[over] {
		t.Errorf("got %#v, want secret %s exhausted", err, over)
		return
	}

	if after := spent(t, l, ""); !reflect.DeepEqual(after, before) {
		t.Errorf("a refused charge was booked: %+v, before %+v", after, before)
	}
	if _, ok, _ := l.Find(t.Context(), c.Key, ""); ok {
		t.Error("a refused answer was stored")
	}
}

func repeat(n int, m map[string]privacy.Loss) []map[string]privacy.Loss {
	out := make([]map[string]privacy.Loss, n)
	for i := range out {
		out[i] = m
	}
	return out
}
