package policy

import (
	"slices"

	"fugu/internal/strictyaml"
)

// composition reads which account all answers of the dataset are kept in, and reports what a joint one has no model of.
func (p *Policy) composition(v *strictyaml.Value) {
	if v == nil {
		return
	}
	word, ok := v.Word(words["privacy.composition"]...)
	if p.Privacy.Composition = Composition(word); !ok || p.Privacy.Composition != Jointly {
		return
	}

	// Everything that is wrong is said at once.
	const hint = "write composition: noise, or leave it out"
	if !p.Accepts(Translation) || !p.Accepts(Gaussian) {
		v.Bad("write assume: [translation, gaussian]",
			"privacy.composition joint counts the randomness of normally distributed statistics that shift, and "+
				"assume does not list both")
	}
	if p.Privacy.Delta == 0 || p.Privacy.Budget.Delta == 0 {
		v.Bad("write a privacy.delta and a privacy.budget.delta above 0",
			"privacy.composition joint needs a delta: there is always normal noise")
	}
	if p.Privacy.Within != nil {
		v.Bad(hint,
			"privacy.composition joint and privacy.model.within: how far all answers together are from the model is "+
				"not known")
	}
	if p.Privacy.Budget.Per == PerUser {
		v.Bad("write per: dataset",
			"privacy.composition joint counts everybody's answers together, and privacy.budget.per is user")
	}
	if p.Privacy.Budget.Renew != Never {
		v.Bad("write renew: never",
			"privacy.composition joint counts the randomness of the rows once, and privacy.budget.renew would have "+
				"it counted in every period")
	}
	if p.Privacy.Budget.Shares != nil {
		v.Bad("leave the shares out",
			"privacy.composition joint charges what an answer tells beside all others, which is no account of a "+
				"share's own answers")
	}
	if len(p.Networks) > 0 {
		v.Bad(hint, "privacy.composition joint has no account of parameters of a network")
	}
	if slices.Contains(laplaceAlone, p.Privacy.Mechanism) {
		v.Bad("write mechanism: auto",
			"privacy.composition joint needs normal noise in every value, and mechanism %s has none",
			p.Privacy.Mechanism)
	}
	p.jointData(v, hint)
}

// jointData reports tables and secrets that a joint account has no model of.
func (p *Policy) jointData(v *strictyaml.Value, hint string) {
	for _, t := range p.Tables {
		switch {
		case t.Answers == FromTwin:
			v.Bad(hint, "privacy.composition joint has no account of a twin, which table %s has", t.Qualified())
		case t.Reference == QualifiedName{} && t.Link == nil:
			v.Bad(hint, "privacy.composition joint is worked out from reference rows, and table %s has no reference",
				t.Qualified())
		case t.Drawn == FromReference:
			v.Bad(hint, "privacy.composition joint takes rows that are drawn independently, "+
				"and table %s has drawn: from-reference", t.Qualified())
		}
	}
	for _, s := range p.Secrets {
		if s.Range != nil {
			v.Bad("list pairs of vectors",
				"privacy.composition joint has no account of all vectors of a range, as secret %s has", s.Name)
		}
	}
}

// unaccounted reports what the policy has besides that a joint account cannot follow.
func (p *Policy) unaccounted(v *strictyaml.Value, what string) {
	if v != nil && p.Privacy.Composition == Jointly {
		v.Bad("write privacy.composition: noise, or leave "+what+" out",
			"privacy.composition joint has no account of %s", what)
	}
}
