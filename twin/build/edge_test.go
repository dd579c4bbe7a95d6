package build

import (
	"bytes"
	"slices"
	"testing"

	"fugu/test/patient"
)

// Of the rows at the edge of a class the last that is taken and the last that stands once more are those of all rows in
// order, for every number of rows, also where the window is too small: then it is said that it is.
func TestEdge(t *testing.T) {
	patient.Test(t)
	_, hashes := randomRows(500, 1)
	for i, h := range hashes { // of all buckets
		h[0], h[half], h[1], h[half+1] = h[5], h[half+5], byte(i), byte(3*i)
	}
	counted := newHistogram(1)
	for _, h := range hashes {
		counted[0][bucketOf(h)]++
	}
	slices.SortFunc(hashes, bytes.Compare)
	missed := 0
	for take := range len(hashes) + 1 {
		halves := make([][]byte, take)
		for i := range halves {
			halves[i] = hashes[i][half:]
		}
		slices.SortFunc(halves, bytes.Compare)
		for more := 0; more < take; more += 7 {
			for _, spread := range []float64{.1, 8, 64} {
				e := edge{cut: cutsAt(counted, []int64{int64(take)})[0],
					window: windowOf(int64(more), int64(take), spread)}
				from, behind := e.bounds()
				for _, h := range hashes {
					switch before := bytes.Compare(h, from) < 0; {
					case !before && bytes.Compare(h, behind) < 0:
						e.hold(h)
					case before && e.window.holds(h[half:]):
						e.halves = append(e.halves, h[half:])
					case before && bytes.Compare(h[half:], e.from) < 0:
						e.below++
					}
				}
				last, twice, within, err := e.settle(int64(more))
				if err != nil || !bytes.Equal(last, hashes[take-1]) {
					t.Fatalf("%d taken: the last is %x, not %x, %v", take, last, hashes[take-1], err)
				}
				if !within {
					missed++
				} else if more > 0 && !bytes.Equal(twice, halves[more-1]) || more == 0 && len(twice) > 0 {
					t.Fatalf("%d of %d once more, spread %g: up to %x", more, take, spread, twice)
				}
				if !within && spread >= 8 {
					t.Errorf("%d of %d once more are not within %g standard deviations", more, take, spread)
				}
			}
		}
	}
	if missed == 0 {
		t.Error("no window was too small")
	}
}
