package pipeline

import (
	"fugu/answer"
	"fugu/mechanism"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sqlstate"
)

// asked is what a session wants of an answer under a policy: what it may cost, how it is made, and how good it has to
// be. What the policy does not allow is refused (NotAllowed).
func (s settings) asked(p *policy.Policy) (a answer.Asked, err error) {
	a = answer.Asked{Policy: p, Mechanism: s.kind(p), Confidence: s.confidence}
	if a.Budget, err = s.budget(p); err != nil {
		return a, err
	}
	if a.Error, err = s.tolerance(p); err != nil {
		return a, err
	}
	a.Limit, err = s.worth(p)
	return a, err
}

// budget is what a statement may cost: the policy's, or less.
func (s settings) budget(p *policy.Policy) (privacy.Budget, error) {
	most := privacy.Budget{Epsilon: p.Privacy.Epsilon, Delta: p.Privacy.Delta}
	out := most
	if s.epsilon > most.Epsilon {
		return out, sqlstate.New(sqlstate.NotAllowed, "fugu.epsilon is %g, and the policy allows at most %g per "+
			"statement", s.epsilon, most.Epsilon).
			WithHint("Write SET fugu.epsilon = %g, or less; RESET fugu.epsilon gives the policy's.", most.Epsilon)
	} else if s.epsilon > 0 {
		out.Epsilon = s.epsilon
	}
	if s.delta > most.Delta {
		return out, sqlstate.New(sqlstate.NotAllowed, "fugu.delta is %g, and the policy allows at most %g per "+
			"statement", s.delta, most.Delta).
			WithHint("Write SET fugu.delta = %g, or less; RESET fugu.delta gives the policy's.", most.Delta)
	} else if s.deltaSet {
		out.Delta = s.delta
	}
	return out, nil
}

// kind is the mechanism that is asked for.
func (s settings) kind(p *policy.Policy) mechanism.Kind {
	if s.mechanism != "" {
		return s.mechanism
	}
	return mechanism.Kind(p.Privacy.Mechanism)
}

// tolerance is the error up to which the past may answer: the policy's, or what a session asks for.
func (s settings) tolerance(p *policy.Policy) (privacy.Tolerance, error) {
	if !s.errorSet {
		return p.Privacy.Error, nil
	}
	if s.error != (privacy.Tolerance{}) && p.Privacy.Error == (privacy.Tolerance{}) {
		return s.error, sqlstate.New(sqlstate.NotAllowed, "fugu.error is %s, and the policy has every answer of "+
			"dataset %s drawn afresh", s.error, p.Dataset).
			WithHint("RESET fugu.error; or the owner of the policy can write privacy.error: %s.", s.error)
	}
	return s.error, nil
}

// worth is how much noise an answer may have: the policy's limit, or a session's that is narrower.
func (s settings) worth(p *policy.Policy) (privacy.Worth, error) {
	limit := p.Privacy.MaxError
	switch {
	case s.maxError == 0:
		return limit, nil
	case limit != 0 && s.maxError > limit:
		return limit, sqlstate.New(sqlstate.NotAllowed, "fugu.max_error is %s, and the policy allows noise of at "+
			"most %s", s.maxError, limit).
			WithHint("Write SET fugu.max_error = '%s', or less; RESET fugu.max_error gives the policy's.", limit)
	}
	return s.maxError, nil
}
