package alike

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fugu/pipeline"
	"fugu/privacy"
)

// pairs is how many pairs of each kind are drawn; most is how much the noise of two spellings may differ.
const (
	pairs = 16
	most  = 2.5
)

// Whoever asks the same in other words gets about the same answer: of every value, in every pair, the standard errors
// differ by at most 2.5 times. An error is what noise and sampling make together: noise that is a twentieth of what the
// value varies by anyway is as good as half of it. What the noise alone differs by is printed beside it.
func TestSpellingsHaveAlikeNoise(t *testing.T) {
	houses := map[string]*house{}
	for _, q := range tables {
		if houses[q.dataset] == nil {
			houses[q.dataset] = open(t, q.dataset)
		}
	}
	total, held, worst := 0, 0, 1.0
	for i, k := range kinds {
		r := rand.New(rand.NewPCG(13, uint64(i)))
		compared, louder, apart, loudest := 0, 0, 1.0, 1.0
		var example pair
		seen := map[pair]bool{}
		for tries := 0; compared < pairs && tries < 20*pairs; tries++ {
			q := draw(r)
			p, ok := k.rewrite(r, q)
			if !ok || seen[p] {
				continue
			}
			seen[p] = true
			ratio, noise, err := houses[q.table.dataset].compare(t, p)
			if err != nil {
				t.Errorf("%s:\n\t%s\n\t%s\n\t%v", k.name, p.left, p.right, err)
				continue
			}
			compared++
			if ratio > max(most, k.limit) {
				t.Errorf("%s: the error differs %.3g times:\n\t%s\n\t%s", k.name, ratio, p.left, p.right)
			}
			if loudest = math.Max(loudest, noise); noise > most {
				louder++
			}
			if ratio > apart {
				apart, example = ratio, p
			}
		}
		if compared == 0 {
			t.Errorf("%s: no pair", k.name)
		}
		t.Logf("%-52s %3d pairs: error at most %.3g times, noise alone %.3g times, more than %g times in %d. %s", k.name, compared, apart, loudest, most, louder, example.right)
		if total += compared; k.open != "" {
			t.Logf("    held to %g times, not %g: %s", k.limit, most, k.open)
			continue
		}
		held, worst = held+compared, math.Max(worst, apart)
	}
	t.Logf("%d pairs of spellings, %d held to %g times: at most %.3g times", total, held, most, worst)
}

// compare says by how much the error of any value differs, one way or the other, and its noise alone.
func (h *house) compare(t *testing.T, p pair) (ratio, noise float64, err error) {
	left, err := h.values(t, p.left)
	if err != nil {
		return 0, 0, fmt.Errorf("left: %w", err)
	}
	right, err := h.values(t, p.right)
	if err != nil {
		return 0, 0, fmt.Errorf("right: %w", err)
	}
	if p.scale != 0 {
		for i := range right {
			right[i].SD, right[i].Expected, right[i].Inherent = right[i].SD*p.scale, right[i].Expected*p.scale, right[i].Inherent*p.scale
		}
	}
	ratio, noise = 1, 1
	for len(left) > 0 {
		// Equal values have equal models. Those of one model are told apart by their noise: the least by the least.
		of := left[0]
		same := func(v pipeline.ExplainedValue) bool {
			return alike(v.Expected, of.Expected) && alike(v.Inherent, of.Inherent)
		}
		mine, others := only(left, same), only(right, same)
		if len(others) < len(mine) {
			return 0, 0, fmt.Errorf("%d values like %+v of %d", len(others), of, len(mine))
		}
		for i, v := range mine {
			o := others[i]
			if len(others) > len(mine) {
				o = slices.MinFunc(others, func(a, b pipeline.ExplainedValue) int { return cmp.Compare(times(v.SD, a.SD), times(v.SD, b.SD)) })
			}
			noise = math.Max(noise, times(v.SD, o.SD))
			ratio = math.Max(ratio, times(math.Hypot(v.SD, v.Inherent), math.Hypot(o.SD, o.Inherent)))
		}
		left = slices.DeleteFunc(left, same)
	}
	return ratio, noise, nil
}

// values are those that a statement gives noise to.
func (h *house) values(t *testing.T, sql string) ([]pipeline.ExplainedValue, error) {
	if v, ok := h.known[sql]; ok {
		return slices.Clone(v), nil
	}
	xs, err := h.engine.Preview(t.Context(), sql, nil, []privacy.Epsilon{1})
	if err != nil {
		return nil, err
	}
	h.known[sql] = xs[0].Values
	return slices.Clone(xs[0].Values), nil
}

// only are the values that keep says, those of the least noise first.
func only(of []pipeline.ExplainedValue, keep func(pipeline.ExplainedValue) bool) []pipeline.ExplainedValue {
	var out []pipeline.ExplainedValue
	for _, v := range of {
		if keep(v) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b pipeline.ExplainedValue) int { return cmp.Compare(a.SD, b.SD) })
	return out
}

func times(a, b float64) float64 { return math.Max(a/b, b/a) }

func alike(a, b float64) bool {
	return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b))+1e-9
}
