package build

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"fugu/test/patient"
)

// Of the rows at the edge of a class the last that is taken and the last that stands once more are those of all rows in
// order, for every number of rows, also where a window is too small: then it is said that it is. Few rows are held.
func TestEdge(t *testing.T) {
	patient.Test(t)
	r := rand.NewChaCha8([32]byte{3})
	hashes := make([][]byte, 500)
	for i := range hashes {
		hashes[i] = make([]byte, 2*half)
		_, _ = r.Read(hashes[i])
	}
	ordered := slices.SortedFunc(slices.Values(hashes), bytes.Compare)
	missed := 0
	for take := range len(hashes) + 1 {
		halves := make([][]byte, take)
		for i := range halves {
			halves[i] = ordered[i][half:]
		}
		slices.SortFunc(halves, bytes.Compare)
		for more := 0; more == 0 || more < take; more += 7 {
			for _, spread := range []float64{.1, 8, 64} {
				d := drawn{take: int64(take), more: int64(more)}
				e := &edgesAt([]int64{int64(len(hashes))}, []drawn{d}, spread)[0]
				for _, h := range hashes {
					e.see(h)
				}
				last, twice, within, err := e.settle()
				switch {
				case err != nil:
					t.Fatalf("%d of %d once more: %v", more, take, err)
				case !within && spread >= 8:
					t.Errorf("%d of %d once more are not within %g standard deviations", more, take, spread)
				case !within:
					missed++
				case take == 0 && len(last) > 0 || take > 0 && !bytes.Equal(last, ordered[take-1]):
					t.Fatalf("%d taken: the last is %x", take, last)
				case more == 0 && len(twice) > 0 || more > 0 && !bytes.Equal(twice, halves[more-1]):
					t.Fatalf("%d of %d once more, spread %g: up to %x", more, take, spread, twice)
				}
				// 500 rows have windows of 8·2·11 + 32 rows at most, and hashes vary.
				if spread <= 8 && len(e.held) > 280 {
					t.Fatalf("%d rows of %d are held for one", len(e.held), len(hashes))
				}
			}
		}
	}
	if missed == 0 {
		t.Error("no window was too small")
	}
}

// Rows that were counted and do not come are an error, and no endless search.
func TestEdgeOfOtherRows(t *testing.T) {
	patient.Test(t)
	e := &edgesAt([]int64{5}, []drawn{{take: 3, more: 1}}, 64)[0]
	e.see(bytes.Repeat([]byte{7}, 2*half))
	if _, _, _, err := e.settle(); err == nil {
		t.Error("two rows of three did not come")
	}
}
