package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	previewing "fugu/preview"
)

// Blocks of a terminal: of a bar that grows to the right by eighths of a cell, and of columns that grow upwards.
var (
	along  = []rune(" ▏▎▍▌▋▊▉█")
	upward = []rune(" ▁▂▃▄▅▆▇█")
)

// plotWidth is how many cells a plot has.
const plotWidth = 48

// plotPreview draws how the noise falls with ε, and what it does to the laws that it is to hide.
func plotPreview(w io.Writer, xs []previewing.Preview) error {
	// The noise of one ε is no curve.
	if len(xs) > 1 {
		var rows []plotted
		for _, x := range xs {
			for i, n := range x.Noise {
				if i == 0 { // the others fall in the same proportion, or nearly
					rows = append(rows, plotted{"epsilon " + short(x.Epsilon), n.SDMax, "±" + short(n.SDMax)})
				}
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(w, "\nNoise of %s (standard deviation; the axis is logarithmic):\n",
				xs[0].Noise[0].Column)
			plotBars(w, rows)
		}
	}

	for _, x := range xs {
		if x.Epsilon == middleEpsilon(xs) {
			for _, l := range x.Laws {
				plotLaw(w, x.Epsilon, l)
			}
		}
	}
	return nil
}

// middleEpsilon is the one at which laws are drawn: the one nearest 1.
func middleEpsilon(xs []previewing.Preview) float64 {
	nearest := slices.MinFunc(xs, func(a, b previewing.Preview) int {
		far := func(x previewing.Preview) float64 { return math.Abs(math.Log(x.Epsilon)) }
		return int(math.Copysign(1, far(a)-far(b)))
	})
	return nearest.Epsilon
}

// plotted is a number that is drawn.
type plotted struct {
	name  string
	value float64 // above 0
	text  string
}

// plotBars draws numbers on a logarithmic axis that begins at half of the least.
func plotBars(w io.Writer, rows []plotted) {
	least, most, width := math.Inf(1), 0., 0
	for _, r := range rows {
		least, most, width = min(least, r.value/2), max(most, r.value), max(width, len(r.name))
	}
	for _, r := range rows {
		eighths := 8 * plotWidth
		if most > least {
			eighths = int(8 * plotWidth * math.Log(r.value/least) / math.Log(most/least))
		}
		line := strings.Repeat("█", eighths/8)
		if rest := eighths % 8; rest > 0 {
			line += string(along[rest])
		}
		fmt.Fprintf(w, "  %-*s %s %s\n", width, r.name, line, r.text)
	}
}

// plotLaw draws the law of a value under both members of a pair, as it is and with noise: normal ones of these standard
// deviations, each to the height of its own.
func plotLaw(w io.Writer, epsilon float64, l previewing.Law) {
	value := l.Column
	if l.Group != "" {
		value += " at " + l.Group
	}
	fmt.Fprintf(w, "\nThe law of %s if %s is %s and if it is %s, which the noise of epsilon %s is there to hide:\n",
		value, l.Secret, short(l.Pair[0]), short(l.Pair[1]), short(epsilon))

	// Both laws are drawn over the same values, which hold nearly all of either with its noise.
	low, high := math.Inf(1), math.Inf(-1)
	for i, mean := range l.Mean {
		reach := 2.5 * math.Hypot(l.SD[i], l.Noise)
		low, high = min(low, mean-reach), max(high, mean+reach)
	}

	for _, noise := range []float64{0, l.Noise} {
		name := "no noise"
		if noise > 0 {
			name = "noise"
		}
		for i, mean := range l.Mean {
			law := density(mean, math.Hypot(l.SD[i], noise), low, high)
			fmt.Fprintf(w, "  %-8s %6s %s\n", name, short(l.Pair[i]), law)
		}
	}
	fmt.Fprintf(w, "  %15s %-*s%s\n", "", plotWidth-len(short(high)), short(low), short(high))
}

// density is a normal density between two values: for each cell its greatest height in it, of eight.
func density(mean, sd, low, high float64) string {
	step := (high - low) / plotWidth
	var b strings.Builder
	for i := range plotWidth {
		from := low + float64(i)*step
		nearest := min(max(mean, from), from+step)
		height := 0.
		if sd > 0 {
			height = math.Exp(-math.Pow((nearest-mean)/sd, 2) / 2)
		} else if nearest == mean {
			height = 1
		}
		b.WriteRune(upward[int(math.Round(8*height))])
	}
	return strings.TrimRight(b.String(), " ")
}
