package pipeline

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What docs/twin.md says of the errors of counts, sums and averages, against draws of a class as the builder makes
// them: m of 3,000 rows, of which some stand once more, and a group of 150 of them.
//
// 4,000 draws; of each statistic the mean of the squares of the error in its standard deviation. It is 1 for an
// average, and for a count and a sum 1 less the group's share of the class, whose number of rows is given. The
// standard deviations are themselves estimated, from as few as 45 different rows, which adds up to .05. The mean of
// so many squares has a standard deviation of .022, so that what is left of .19 is six of them: 2e-9.
func TestSamplingErrorCovers(t *testing.T) {
	const rows, group, draws = 3000, 150, 4000
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, rows)
	var sum float64
	for i := range x {
		x[i] = 10 + 90*r.Float64()
		if i < group {
			sum += x[i]
		}
	}
	for _, taken := range []int{2500, 2000, 1250, 900} {
		c := countError(rows, float64(taken))
		each, more := rows/taken, rows%taken
		var count2, sum2, mean2, within float64
		for range draws {
			var n, s, squares float64
			for place, i := range r.Perm(rows)[:taken] {
				stands := float64(each)
				if place < more { // which are at random, as their order is
					stands++
				}
				if i < group {
					n, s, squares = n+stands, s+stands*x[i], squares+stands*x[i]*x[i]
				}
			}
			z := (n - group) / (c * math.Sqrt(n))
			count2 += z * z / draws
			sum2 += math.Pow((s-sum)/(c*math.Sqrt(squares)), 2) / draws
			sd := math.Sqrt((squares - s*s/n) / (n - 1))
			mean2 += math.Pow((s/n-sum/group)/(c*sd/math.Sqrt(n)), 2) / draws
			if math.Abs(z) < 2 {
				within += 1. / draws
			}
		}
		t.Logf("%d of %d rows: count %.3f, sum %.3f, avg %.3f; of the counts %.3f are within two standard deviations",
			taken, rows, count2, sum2, mean2, within)
		share := float64(group) / rows
		for _, m := range []struct{ got, want float64 }{{count2, 1 - share}, {sum2, 1 - share}, {mean2, 1}} {
			if math.Abs(m.got-m.want) > .19 {
				t.Errorf("%d of %d rows: mean square %.3f, want %.3f", taken, rows, m.got, m.want)
			}
		}
	}
}
