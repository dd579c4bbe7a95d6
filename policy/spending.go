package policy

import (
	"fmt"
	"slices"

	"fugu/internal/strictyaml"
	"fugu/privacy"
)

// privacy reads the section and returns its key mechanism.
func (p *Policy) privacy(v *strictyaml.Value) (mechanism *strictyaml.Value) {
	f := v.Fields(keys["privacy"]...)
	p.Privacy = Privacy{
		Mechanism: "auto", Weights: SamplingWeights, Composition: ByNoise, Budget: Budget{Per: PerDataset},
	}
	p.noise(f)
	statement := p.statementBudget(f)
	budget := p.wholeBudget(f, statement)

	// What the relaxation leaves is worked out where both budgets are known.
	w, eta, lambda := within(f.Get("model"))
	if p.Privacy.Within = w; w != nil && statement.known() && budget.known() {
		w.leaves(statement.Budget, budget.Budget, eta, lambda)
	}
	p.composition(f.Get("composition"))
	p.estimation(f.Get("estimation"), statement, budget)
	p.tolerances(f)
	return f.Get("mechanism")
}

// noise reads which mechanism makes the noise, and by what it weighs errors.
func (p *Policy) noise(f strictyaml.Fields) {
	if m := f.Get("mechanism"); m != nil {
		p.Privacy.Mechanism, _ = m.Word(words["privacy.mechanism"]...)
	}
	if w := f.Get("weights"); w != nil {
		word, _ := w.Word(words["privacy.weights"]...)
		p.Privacy.Weights = Weights(word)
	}

	if slices.Contains(needNormal, p.Privacy.Mechanism) && !p.Accepts(Gaussian) {
		f.Get("mechanism").Bad("write assume: [translation, gaussian], or mechanism: auto",
			"privacy.mechanism %s counts on normally distributed statistics, which assume does not "+
				"list", p.Privacy.Mechanism)
	}
}

// statementBudget reads what one statement may reveal.
func (p *Policy) statementBudget(f strictyaml.Fields) spending {
	s := spend(f, "per statement")
	p.Privacy.Epsilon, p.Privacy.Delta = s.Epsilon, s.Delta
	if s.okDelta && s.Delta == 0 && slices.Contains(needDelta, p.Privacy.Mechanism) {
		f.Get("delta").Bad("write a delta above 0, or mechanism: expm-laplace",
			"privacy.delta is 0, and Gaussian noise needs more")
	}
	return s
}

// wholeBudget reads what all statements together may reveal, and reports one that pays for none, or not for every twin.
func (p *Policy) wholeBudget(f strictyaml.Fields, statement spending) spending {
	section := f.Need("budget", "write budget: {epsilon: ..., delta: ...}: what all statements together may reveal")
	b := section.Fields(keys["privacy.budget"]...)
	if per := b.Get("per"); per != nil {
		word, _ := per.Word(words["privacy.budget.per"]...)
		p.Privacy.Budget.Per = Per(word)
	}
	s := spend(b, "of all statements together")
	p.Privacy.Budget.Epsilon, p.Privacy.Budget.Delta = s.Epsilon, s.Delta
	p.Privacy.Budget.Renew = renewal(b.Get("renew"))
	p.shares(b.Get("shares"), statement.Budget, s.Budget)

	// A budget that pays for no statement at all is a mistake.
	const hint = "write a budget that pays for at least one statement"
	if statement.okEpsilon && s.okEpsilon && s.Epsilon < statement.Epsilon {
		b.Get("epsilon").Bad(hint, "privacy.budget.epsilon %v is below privacy.epsilon %v", s.Epsilon,
			statement.Epsilon)
	}
	if statement.okDelta && s.okDelta && s.Delta < statement.Delta {
		b.Get("delta").Bad(hint, "privacy.budget.delta %v is below privacy.delta %v", s.Delta, statement.Delta)
	}
	p.twinsPaid(b)
	return s
}

// tolerances reads from which error on past answers serve, and from which on there is none.
func (p *Policy) tolerances(f strictyaml.Fields) {
	if e := f.Get("error"); e != nil {
		text, _, ok := e.Scalar()
		t, err := privacy.ParseTolerance(text)
		if ok && err != nil {
			e.Bad("write 100% for no more than a fresh answer's error, or 0 to draw every answer afresh",
				"%s is a number, or a percentage of a fresh answer's error, of at least 0", e.Path)
		}
		p.Privacy.Error = t
	}
	if e := f.Get("max_error"); e != nil {
		text, _, ok := e.Scalar()
		w, err := privacy.ParseWorth(text)
		if ok && err != nil {
			e.Bad("write 50%, say: statements whose noise is more than half of the values expected are refused",
				"%s is a percentage above 0", e.Path)
		}
		p.Privacy.MaxError = w
	}
}

// spending is the keys epsilon and delta of a section, each with whether it is there and fit.
type spending struct {
	privacy.Budget
	okEpsilon, okDelta bool
}

func (s spending) known() bool { return s.okEpsilon && s.okDelta }

// spend reads the keys epsilon and delta of a section.
func spend(f strictyaml.Fields, whose string) (s spending) {
	e := f.Need("epsilon", fmt.Sprintf("write the epsilon %s", whose))
	if x, ok := e.Float(); ok {
		epsilon, err := privacy.NewEpsilon(x)
		if err != nil {
			e.Bad("", "%s: %v", e.Path, err)
		}
		s.Epsilon, s.okEpsilon = epsilon, err == nil
	}
	d := f.Need("delta", fmt.Sprintf("write the delta %s", whose))
	if x, ok := d.Float(); ok {
		delta, err := privacy.NewDelta(x)
		if err != nil {
			d.Bad("", "%s: %v", d.Path, err)
		}
		s.Delta, s.okDelta = delta, err == nil
	}
	return s
}
