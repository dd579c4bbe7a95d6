package policy

import (
	"fugu/internal/strictyaml"
)

// Epoch says which data the protected tables hold, so that answers about others are given no more once they are replaced.
type Epoch struct {
	Label string // empty: epochs are advanced by command alone
	Draw  Draw
}

// Draw says how the tables' rows relate to those of the epochs before.
type Draw string

// The values of draw.
const (
	DependentDraw   Draw = "dependent"   // in any way: what was told of the old rows counts against the budget of the new
	IndependentDraw Draw = "independent" // not at all, given what the policy says of their distribution
)

// epoch reads the section. Data that are drawn anew have secrets of their own only where a secret is a property of the
// data: the parameter of a distribution is the same for every draw from it.
func (p *Policy) epoch(v *strictyaml.Value) {
	p.Epoch.Draw = DependentDraw
	if v == nil {
		return
	}
	f := v.Fields(keys["epoch"]...)
	l, d := f.Get("label"), f.Get("draw")
	if l == nil && d == nil {
		f.Need("label", "write the name of the data that the tables hold, such as 2026-Q4, and another when they are replaced")
	}
	if label, ok := l.Text(); ok && !labelPattern.MatchString(label) {
		l.Bad("write "+labelRule, "an epoch cannot be named like this")
	} else if ok {
		p.Epoch.Label = label
	}
	if d == nil {
		return
	}
	word, ok := d.Word(words["epoch.draw"]...)
	if !ok {
		return
	}
	p.Epoch.Draw = Draw(word)
	for _, s := range p.Secrets {
		if p.Epoch.Draw == IndependentDraw && s.About == AboutDistribution {
			d.Bad("write draw: dependent, or leave it out: the budget then carries on", "epoch.draw independent, but secret %s is a parameter of the distribution: every draw from it tells more of the same parameter", s.Name)
		}
	}
}
