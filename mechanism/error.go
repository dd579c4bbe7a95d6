package mechanism

import (
	"math"
	"slices"
)

// error is what the noise costs in the sense of Calibration.Error.
func (r Request) error(n Noise) float64 {
	if r.Absolute {
		total := 0.0
		for k, c := range r.Components {
			total += n.Mean(k) / c.Unit
		}
		return total
	}
	blockOf := r.blockOf()
	blocks := newBlockSum(blockOf)
	for k, c := range r.Components {
		sd := n.sd(k) / c.Unit
		blocks.each[blockOf[k]] += sd * sd
	}
	return blocks.total()
}

// blockSum adds up errors block by block.
type blockSum struct{ each []float64 }

func newBlockSum(blockOf []int) blockSum { return blockSum{make([]float64, slices.Max(blockOf)+1)} }

// total is the norm of the blocks' errors; of one block, its error.
func (b blockSum) total() float64 {
	most, sum := slices.Max(b.each), 0.0
	if len(b.each) == 1 || !(most > 0 && most < math.Inf(1)) {
		return most
	}
	for _, v := range b.each {
		sum += math.Pow(v/most, blockNorm)
	}
	return most * math.Pow(sum, 1.0/blockNorm)
}

// blockNorm is the norm of the blocks' errors that is made small: so large that the worst block is nearly all that
// counts, and not so large that nothing is gained by less noise in the others.
const blockNorm = 4
