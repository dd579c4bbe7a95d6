package policy

import (
	"slices"

	"fugu/internal/strictyaml"
)

const concentratedHint = "write means: [[10], [12]], concentrated: {within: 3, but_for: 0.0005}"

// Concentrated says that F is near its mean whatever the secret is: but for the probability ButFor, component k is
// within Within[k] of it, all of them at once [Chen & Ohrimenko, Theorem 3.3].
type Concentrated struct {
	Within []float64 // above 0, one for each component
	ButFor float64   // at least 0 and below ½
}

// concentrated reads the means of F under each value, and how far from them it is. As samples it is all that is
// believed of F, and takes the place of what shifts it.
func (p *Policy) concentrated(f strictyaml.Fields, l *Law, size int) {
	if v := f.Get("covariances"); v != nil {
		v.Bad("keep concentrated, or covariances", "%s: beside concentrated there is no use for them", v.Path)
	}
	l.expectations(f.Need("means", concentratedHint), size)

	section := f.Get("concentrated")
	p.inPlaceOfTranslation(section, "concentrated takes", "concentrated is")
	if len(l.Values) > maxSampleValues {
		section.Bad("declare fewer values", "%s has %d values, of at most %d", section.Path, len(l.Values),
			maxSampleValues)
	}

	// The radius may be one number for each component, the chance is of all together.
	g := section.Fields(keys["declared.*.secrets.*.concentrated"]...)
	within, butFor := g.Need("within", concentratedHint), g.Need("but_for", concentratedHint)
	c := &Concentrated{}
	if v, ok := oneOrMore(within); ok && counted(within, len(v), size, "one number for each component") {
		c.Within = v
	}
	for _, x := range c.Within {
		if !(x >= leastWithin) {
			within.Bad("write how far from its mean the statement can be", "%s: %v is not above 0", within.Path, x)
		}
	}
	if x, ok := butFor.Float(); ok && !(x >= 0 && x < 0.5) {
		butFor.Bad("write the chance that the statement is further from its mean than within says, such as 0.0005",
			"%s must be at least 0 and below 0.5, not %v", butFor.Path, x)
	} else if ok {
		c.ButFor = x
	}
	l.Concentrated = c
}

// oneOrMore reads a list of numbers, or one that stands by itself.
func oneOrMore(v *strictyaml.Value) ([]float64, bool) {
	if v == nil || v.Kind != strictyaml.Int && v.Kind != strictyaml.Float {
		return vectorOf(v)
	}
	x, ok := v.Float()
	if ok && !(x <= maxMean) {
		v.Bad("", "%s: %v is not a number of reasonable size", v.Path, x)
		return nil, false
	}
	return []float64{x}, ok
}

// leastWithin keeps what noise is made of away from the ends of what floating point can hold.
const leastWithin = 1e-30

// inPlaceOfTranslation refuses what takes the place of the assumption translation where that is accepted too, or where
// the truth may be off the model.
func (p *Policy) inPlaceOfTranslation(v *strictyaml.Value, takes, is string) {
	switch {
	case v == nil:
	case p.Accepts(Translation):
		v.Bad("leave translation out of assume, or write means and covariances",
			"%s: %s the place of the assumption translation, and what rests on the one cannot be added to "+
				"what rests on the other", v.Path, takes)
	case p.Privacy.Within != nil:
		v.Bad("leave privacy.model out", "%s: %s believed as they stand", v.Path, is)
	}
}

// checkSameForm reports laws of one model of which some are of one form and some of another.
func checkSameForm(r *strictyaml.Report, laws []Law) {
	sampled := slices.ContainsFunc(laws, func(l Law) bool { return l.Samples != nil })
	concentrated := slices.ContainsFunc(laws, func(l Law) bool { return l.Concentrated != nil })
	for _, l := range laws {
		switch {
		case sampled && l.Samples == nil:
			r.Add(l.At, samplesHint, "secret %s has no samples, and other secrets of the same model have", l.Secret)
		case !sampled && concentrated && l.Concentrated == nil:
			r.Add(l.At, concentratedHint, "secret %s is not concentrated, and other secrets of the same model are",
				l.Secret)
		}
	}
}
