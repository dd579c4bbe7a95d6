package policy

import (
	"fmt"
	"slices"

	"fugu/internal/strictyaml"
	"fugu/privacy"
)

// maxEstimation is the largest number of standard errors that noise can be made to cover.
const maxEstimation = 100

// estimation reads how much of what the reference may be off by the noise covers: a number of standard errors, or
// {delta: 1e-6} for all of it but for a chance, which is taken off the budget.
func (p *Policy) estimation(v *strictyaml.Value, statement, budget spending) {
	if v == nil {
		return
	}
	if v.Kind != strictyaml.Map {
		x, ok := v.Float()
		if ok && !(x >= 0 && x <= maxEstimation) {
			v.Bad("write 2 to cover what a reference of its size misses once in twenty times",
				"%s is a number of standard errors between 0 and %d, not %v", v.Path, maxEstimation, x)
		}
		p.Privacy.Estimation.Errors = x
		return
	}

	d := v.Fields(keys["privacy.estimation"]...).Need("delta",
		"write the chance, over the reference, that the promise does not hold: estimation: {delta: 1e-6}")
	x, ok := d.Float()
	if !ok {
		return
	}
	delta, err := privacy.NewDelta(x)
	if err != nil || delta == 0 {
		d.Bad("write 1e-6, say", "%s is a chance above 0 and below 1, not %v", d.Path, x)
		return
	}

	// What is reserved is no answer's, and has to leave what one answer takes.
	if left := budget.Delta - delta; budget.okDelta && statement.okDelta && (left <= 0 || left < statement.Delta) {
		d.Bad("write a smaller chance, or a larger privacy.budget.delta",
			"%s %v is taken off privacy.budget.delta %v, and leaves less than privacy.delta %v", d.Path, x,
			float64(budget.Delta), float64(statement.Delta))
	}
	p.Privacy.Estimation.Delta, p.Privacy.Budget.Reserved = delta, delta
	p.unbounded(d)
}

// unbounded reports what the noise rests on beside the means that the radius bounds.
func (p *Policy) unbounded(v *strictyaml.Value) {
	bad := func(hint, format string, args ...any) {
		v.Bad(hint, "%s bounds how far means of classes are off, and %s", v.Path, fmt.Sprintf(format, args...))
	}
	if slices.Contains(needNormal, p.Privacy.Mechanism) {
		bad("write mechanism: auto", "mechanism %s counts on covariances, which are the reference's",
			p.Privacy.Mechanism)
	}
	if p.Privacy.Composition == Jointly {
		bad("write composition: noise", "composition joint counts on covariances, which are the reference's")
	}
	if p.Privacy.Within != nil {
		bad("keep one of the two", "privacy.model.within says another thing of the same")
	}

	// It needs means that are estimated from a reference.
	referenced := func(t Table) bool {
		return t.Answers == ByAnswerNoise && t.Reference != (QualifiedName{})
	}
	if len(p.Tables) > 0 && !slices.ContainsFunc(p.Tables, referenced) {
		bad("leave the key out: a twin needs no reference", "no table is answered with noise of a reference")
	}
	for _, t := range p.Tables {
		if referenced(t) && t.Drawn == FromReference {
			bad("leave the key out: these means are no estimates", "table %s has drawn: from-reference, so that its "+
				"means are the reference's own", t.Qualified())
		}
	}
	for _, s := range p.Secrets {
		if s.Mean != "" {
			bad("hide a proportion", "secret %s is a mean, whose regressions are not bounded", s.Name)
		}
		if t, ok := p.Table(s.Table); ok && s.Categories != "" {
			if d := t.domain(s.Categories); d != nil && d.FromReference {
				bad("list the values under group_by", "the categories of secret %s are those that the reference has",
					s.Name)
			}
		}
	}
}

// unestimated reports public statistics, given which models are regressions.
func (p *Policy) unestimated(public *strictyaml.Value) {
	if public != nil && p.Privacy.Estimation.Delta > 0 {
		public.Bad("leave them out, or privacy.estimation.delta",
			"privacy.estimation.delta bounds how far means of classes are off, and models given public statistics are "+
				"regressions")
	}
}
