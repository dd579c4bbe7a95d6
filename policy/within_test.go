package policy

import (
	"strings"
	"testing"
)

func TestWithin(t *testing.T) {
	if w := load(t, "testdata/within.good.yaml").Privacy.Within; w == nil || *w != (Within{Rows: 5, Lambda: .1}) {
		t.Errorf("%+v", w)
	}
	if w := load(t, "testdata/nearly.good.yaml").Privacy.Within; w == nil || *w != (Within{Eta: 1e-9, Lambda: .01}) {
		t.Errorf("%+v", w)
	}
	if w := load(t, "testdata/minimal.good.yaml").Privacy.Within; w != nil {
		t.Errorf("%+v", w)
	}
}

// The largest eta that a finding names is one that leaves something, and a little more is not.
func TestMostEta(t *testing.T) {
	const text = `version: 1
dataset: d
tables: {t: {rows: 10, reference: r}}
secrets: {s: {table: t, proportion: x, pairs: [[0.1, 0.2]]}}
privacy:
  epsilon: 1
  delta: 1e-6
  model: {within: {eta: ETA, lambda: 0.01}}
  budget: {epsilon: 20, delta: 1e-4}
`
	for eta, ok := range map[string]bool{"2.0e-15": true, "2.2e-15": false} {
		if _, err := Parse("f", []byte(strings.Replace(text, "ETA", eta, 1))); (err == nil) != ok {
			t.Errorf("eta %s: %v", eta, err)
		}
	}
}
