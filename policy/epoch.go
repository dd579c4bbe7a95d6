package policy

import (
	"fugu/internal/strictyaml"
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
		f.Need("label",
			"write the name of the data that the tables hold, such as 2026-Q4, and another when they are replaced")
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

	// A draw of its own is a new secret only where the secret is a property of the data.
	for _, s := range p.Secrets {
		if p.Epoch.Draw == IndependentDraw && s.About == AboutDistribution {
			d.Bad("write draw: dependent, or leave it out: the budget then carries on",
				"epoch.draw independent, but secret %s is a parameter of the distribution: every draw from it tells "+
					"more of the same parameter", s.Name)
		}
	}
}
