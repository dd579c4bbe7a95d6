package main

import (
	"fmt"
	"math"

	"fugu/channel"
	"fugu/privacy"
	"fugu/sensitivity"
)

// byHand prints what the papers work out on small examples, beside ours.
func byHand() error {
	for _, sheet := range []func() error{printFigure1, printSmallChannels, printDivergences, printMeanings} {
		if err := sheet(); err != nil {
			return fmt.Errorf("small examples: %w", err)
		}
	}
	return nil
}

// printFigure1 is Chen & Ohrimenko's figure 1: two laws on 1, 2, 3 and 100.
func printFigure1() error {
	at := [][]float64{{1}, {2}, {3}, {100}}
	a, err := sensitivity.Counted(at, []int64{6, 2, 0, 2})
	if err != nil {
		return err
	}
	b, err := sensitivity.Counted(at, []int64{4, 3, 2, 1})
	if err != nil {
		return err
	}
	whole, err := sensitivity.WInfinity(a, b)
	if err != nil {
		return err
	}
	nearly, err := sensitivity.Closest(a, b, .1)
	if err != nil {
		return err
	}
	s := newSheet("Two laws on 1, 2, 3 and 100 (Chen & Ohrimenko, figure 1)", "distance", "paper", "here", "")
	s.row("W∞", 97, whole.W, "")
	s.row("W at δ = .1", 1, nearly.W, "")
	return s.w.Flush()
}

// printSmallChannels is Grosse et al.'s example 1, and Kawamoto & Murakami's figure 2.
func printSmallChannels() error {
	s := newSheet("Channels on a few values (Grosse et al., example 1; Kawamoto & Murakami, figure 2)", "what", "paper",
		"here", "")
	example, err := channel.New([][]float64{{.325, .225, .225, .225}, {.45, .1, .225, .225}, {.45, .225, .1, .225},
		{.45, .225, .225, .1}})
	if err != nil {
		return err
	}
	s.row("leakage of the channel of example 1, in nats", "ln 9/8 = .1178",
		fmt.Sprintf("%.4f", example.Capacity(channel.Ball{Center: []float64{.4, .2, .2, .2}})), "")

	from, to := []float64{.2, .5, .3}, []float64{.3, .2, .5}
	cost, plan := 0., ""
	for _, m := range channel.Plan(from, to) {
		cost += m.Mass * math.Abs(float64(m.From-m.To))
		plan += fmt.Sprintf(" %d→%d: %.1f", m.From+1, m.To+1, m.Mass)
	}
	s.row("plan", "1→1: 0.2 2→1: 0.1 2→2: 0.2 2→3: 0.2 3→3: 0.3", plan[1:], "")
	s.row("its cost", ".3", number(cost), "")
	return s.w.Flush()
}

// printDivergences is Kawamoto & Murakami's table I for two laws, and what their theorems 1 and 2 say of them behind
// randomised response.
func printDivergences() error {
	right := math.E / (1 + math.E)
	c, err := channel.New([][]float64{{right, 1 - right}, {1 - right, right}})
	if err != nil {
		return err
	}
	p, q := []float64{.5, .5}, []float64{.25, .75}
	s := newSheet("Divergences of (½,½) and (¼,¾), total variation t = ¼, and as randomised response at ε = 1 shows "+
		"them (Kawamoto & Murakami,\ntable I, theorems 1 and 2; the paper has formulas alone)", "divergence", "of "+
		"the laws",
		"of what is shown", "at most, any laws", "at most, these: t times that", "")
	for _, d := range channel.Divergences {
		apart := c.Apart(d)
		s.row(d.Name, number(d.Of(p, q)), number(d.Of(c.Shown(p), c.Shown(q))), number(apart),
			number(apart*channel.TotalVariation.Of(p, q)), "")
	}
	s.row("max", number(channel.MaxDivergence(p, q)), number(channel.MaxDivergence(c.Shown(p), c.Shown(q))),
		number(c.Epsilon(0)), "no such bound", "")
	return s.w.Flush()
}

// printMeanings is what promises come to in other measures.
func printMeanings() error {
	s := newSheet("What (ε,δ) promises of two values that nobody may tell apart (Kawamoto & Murakami, definition 11; "+
		"Seeman et al., lemma 4)", "ε", "δ", "right guesses", "odds", "total variation", "Hellinger", "KL", "χ²", "")
	for _, b := range []privacy.Budget{{Epsilon: .2}, {Epsilon: 1}, {Epsilon: 1, Delta: .001}, {Epsilon: 5,
		Delta: .001}} {
		m := b.Meaning()
		s.row(float64(b.Epsilon), float64(b.Delta), fmt.Sprintf("%.1f%%", 100*m.Right), number(m.Odds),
			number(m.TotalVariation), number(m.Hellinger), number(m.KL), number(m.ChiSquared), "")
	}
	return s.w.Flush()
}
