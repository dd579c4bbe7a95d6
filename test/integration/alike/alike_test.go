package alike

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"fugu/explain"
	"fugu/privacy"
	"fugu/test/patient"
)

// most is how much the noise of two spellings may differ.
const most = 2.5

// drawn is how many pairs of each kind are drawn: FUGU_PAIRS, or 3. The seeds are fixed, and more pairs are the same
// and others.
func drawn(t *testing.T) int {
	text := os.Getenv("FUGU_PAIRS")
	if text == "" {
		return 3
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("FUGU_PAIRS is %q, and no number of pairs", text)
	}
	return n
}

// Whoever asks the same in other words gets about the same answer: of every value, in every pair, the noise at the same
// price differs by at most 2.5 times. What the standard errors differ by, which noise and sampling make together, is
// printed beside it.
func TestSpellingsHaveAlikeNoise(t *testing.T) {
	patient.Test(t)
	houses := map[string]*house{}
	for _, q := range tables {
		if houses[q.dataset] == nil {
			houses[q.dataset] = open(t, q.dataset)
		}
	}
	pairs, total, worst := drawn(t), 0, 1.0
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			n, loudest := k.compare(t, houses, rand.New(rand.NewPCG(13, uint64(i))), pairs)
			total, worst = total+n, math.Max(worst, loudest)
		})
	}
	t.Logf("%d pairs of spellings: at most %.3g times", total, worst)
}

// compare draws pairs of a kind, and returns how many there were and by how much their noise differs at most.
func (k kind) compare(t *testing.T, houses map[string]*house, r *rand.Rand, pairs int) (compared int, loudest float64) {
	louder, apart, example := 0, 1.0, pair{}
	loudest = 1
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
			t.Errorf("%s\n\t%s\n\t%v", p.left, p.right, err)
			continue
		}

		compared++
		apart = math.Max(apart, ratio)
		if noise > most {
			louder++
			t.Errorf("the noise differs %.3g times:\n\t%s\n\t%s", noise, p.left, p.right)
		}
		if noise > loudest {
			loudest, example = noise, p
		}
	}
	if compared == 0 {
		t.Error("no pair")
	}
	t.Logf("%3d pairs: noise at most %.3g times, more than %g times in %d; errors %.3g times. %s",
		compared, loudest, most, louder, apart, example.right)
	return compared, loudest
}

// compare says by how much the error of any value differs, one way or the other, and its noise alone.
func (h *house) compare(t *testing.T, p pair) (ratio, noise float64, err error) {
	left, err := h.values(t, p.left, privacy.Epsilon(1/math.Max(1, p.answers)))
	if err != nil {
		return 0, 0, fmt.Errorf("left: %w", err)
	}
	right, err := h.values(t, p.right, 1)
	if err != nil {
		return 0, 0, fmt.Errorf("right: %w", err)
	}
	if p.scale != 0 {
		for i := range right {
			right[i].SD, right[i].Expected, right[i].Inherent = right[i].SD*p.scale, right[i].Expected*p.scale,
				right[i].Inherent*p.scale
		}
	}
	ratio, noise = 1, 1
	for len(left) > 0 {
		// Equal values have equal models. Those of one model are told apart by their noise: the least by the least.
		of := left[0]
		same := func(v explain.Value) bool {
			return alike(v.Expected, of.Expected) && alike(v.Inherent, of.Inherent)
		}
		mine, others := only(left, same), only(right, same)
		if len(others) < len(mine) {
			return 0, 0, fmt.Errorf("%d values like %+v of %d", len(others), of, len(mine))
		}
		for i, v := range mine {
			o := others[i]
			if len(others) > len(mine) {
				nearest := func(a, b explain.Value) int {
					return cmp.Compare(times(v.SD, a.SD), times(v.SD, b.SD))
				}
				o = slices.MinFunc(others, nearest)
			}
			noise = math.Max(noise, times(v.SD, o.SD))
			ratio = math.Max(ratio, times(math.Hypot(v.SD, v.Inherent), math.Hypot(o.SD, o.Inherent)))
		}
		left = slices.DeleteFunc(left, same)
	}
	return ratio, noise, nil
}

// values are those that a statement gives noise to at ε.
func (h *house) values(t *testing.T, sql string, epsilon privacy.Epsilon) ([]explain.Value, error) {
	of := asked{sql, epsilon}
	if v, ok := h.known[of]; ok {
		return slices.Clone(v), nil
	}
	xs, err := h.engine.Preview(t.Context(), sql, epsilon)
	if err != nil {
		return nil, err
	}
	h.known[of] = xs[0].Values
	return slices.Clone(xs[0].Values), nil
}

// only are the values that keep says, those of the least noise first.
func only(of []explain.Value, keep func(explain.Value) bool) []explain.Value {
	var out []explain.Value
	for _, v := range of {
		if keep(v) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b explain.Value) int { return cmp.Compare(a.SD, b.SD) })
	return out
}

func times(a, b float64) float64 { return math.Max(a/b, b/a) }

func alike(a, b float64) bool {
	return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b))+1e-9
}
