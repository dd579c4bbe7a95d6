package twin

import "math"

// quantiles is how many points of the noise an expectation goes through.
const quantiles = 24

// Expected is what comes of one class, on average over K, of a table with given counts. Where these are not the true
// counts it is public, and tells nothing.
type Expected struct {
	Noisy    float64 // rows: the mean of Ñ_c
	Noise    float64 // rows: the root mean square of Ñ_c - N_c
	Taken    float64 // rows: the mean of m_c, how many are taken
	Sampling float64 // rows: the root mean square error of the count of half of the class, by the sampling alone
}

// CountError is the root mean square error, relative to its size, of the count of a group with so many rows of each class,
// by noise and sampling, in a table with these counts.
func (d *Design) CountError(counts, group []int64) float64 {
	total, rows := 0., int64(0)
	shifts := make([]float64, len(d.cells)) // by cell: each has noise of its own
	first := 0
	for c, e := range d.Expect(counts) {
		if d.Classes[c].Cell != d.Classes[first].Cell {
			first = c
		}
		f := float64(group[c]) / math.Max(1, float64(counts[c]))
		// Sampling has the variance of the half at f = 1/2, and is proportional to f(1-f).
		total += 4 * f * (1 - f) * e.Sampling * e.Sampling
		shifts[d.Classes[c].Cell] += f * e.Noise * sign(c-first)
		rows += group[c]
	}
	for _, shift := range shifts {
		total += shift * shift
	}
	return math.Sqrt(total) / float64(max(1, rows))
}

// sign is that of the noise of a class beside that of its cell's first, of which it takes the rows.
func sign(c int) float64 {
	if c == 0 {
		return 1
	}
	return -1
}

// Expect is what comes of a table with these counts, a class each.
func (d *Design) Expect(counts []int64) []Expected { return d.noise.expect(counts, d.take) }

// Error is what New makes least: the root mean square error of the counts of one half of each class, in tables whose
// counts are the listed ones, or spread over the policy's range, as a share of the table.
func (d *Design) Error() float64 {
	total := 0.
	for _, counts := range d.tables {
		for _, e := range d.Expect(counts) {
			total += e.Noise*e.Noise/4 + e.Sampling*e.Sampling
		}
	}
	return math.Sqrt(total/float64(len(d.tables))) / float64(d.Rows)
}

// Tables are the counts of tables of which Error is the mean: public examples of what the policy speaks of.
func (d *Design) Tables() [][]int64 { return d.tables }

// examples are counts that the promise speaks of: the listed ones, or some that are spread over the range.
func (s Spec) examples(d domain) (out [][]int64) {
	classes := d.classes
	if s.Public != nil {
		return s.celledExamples(d)
	}
	if pairs, err := s.pairs(); err == nil {
		for _, pair := range pairs {
			out = append(out, pair[0], pair[1])
		}
		return out
	}
	for _, f := range []float64{.1, .5, .9} {
		first := classes[0].Least + int64(f*float64(classes[0].Most-classes[0].Least))
		counts, left := make([]int64, len(classes)), s.Rows-first
		room := int64(0)
		for c, class := range classes[1:] {
			counts[c+1] = class.Least
			left, room = left-class.Least, room+class.Most-class.Least
		}
		counts[0] = first
		// The others share what is left by the room that they have; the rounding is the last one's.
		rest := float64(left)
		for c, class := range classes[1:] {
			more := min(class.Most-class.Least, int64(math.Ceil(rest*float64(class.Most-class.Least)/float64(max(1, room)))), left)
			counts[c+1], left = counts[c+1]+more, left-more
		}
		counts[0] += left
		out = append(out, counts)
	}
	return out
}

// celledExamples divides the examples of a table without public cells over the cells, by their rows.
func (s Spec) celledExamples(d domain) (out [][]int64) {
	bare := s
	bare.Public = nil
	whole, _ := bare.domain() // which was possible
	for _, table := range bare.examples(whole) {
		var counts []int64
		shares := make([]float64, len(table))
		for o, rows := range table {
			shares[o] = float64(rows) / float64(s.Rows)
		}
		for i, cell := range d.cells {
			classes := d.classes[i*len(table) : (i+1)*len(table)]
			counts = append(counts, nearest(classes, cell.Rows, Spec{Rows: cell.Rows}.whole(shares))...)
		}
		out = append(out, counts)
	}
	return out
}

// sums adds up what is expected.
type sums struct{ noisy, noise, taken, sampling []float64 }

func (s *sums) add(counts, noisy, taken []int64, weight float64) {
	if s.noisy == nil {
		n := len(counts)
		s.noisy, s.noise, s.taken, s.sampling = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	}
	for c := range counts {
		n, m := float64(counts[c]), math.Max(1, float64(taken[c]))
		off := float64(noisy[c]) - n
		s.noisy[c] += weight * float64(noisy[c])
		s.noise[c] += weight * off * off
		s.taken[c] += weight * float64(taken[c])
		// A share of one half, estimated from m of n rows and scaled up to n of them.
		s.sampling[c] += weight * n * n / 4 * math.Max(0, 1/m-1/math.Max(1, n))
	}
}

func (s *sums) expected() []Expected {
	out := make([]Expected, len(s.noisy))
	for c := range out {
		out[c] = Expected{s.noisy[c], math.Sqrt(s.noise[c]), s.taken[c], math.Sqrt(s.sampling[c])}
	}
	return out
}
