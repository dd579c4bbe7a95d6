package policy

import (
	"math"

	"fugu/internal/strictyaml"
	"fugu/privacy"
)

const withinHint = "write within: {rows: 5, lambda: 0.1}, or within: {eta: 1e-15, lambda: 0.01}"

// maxLambda is the largest λ: an epsilon that leaves anything of it hides nothing.
const maxLambda = 50

// within reads how far the model may be from the truth.
func within(model *strictyaml.Value) (w *Within, eta, lambda *strictyaml.Value) {
	if model == nil {
		return nil, nil, nil
	}

	f := model.Fields(keys["privacy.model"]...).Need("within", withinHint).Fields(keys["privacy.model.within"]...)
	w = &Within{}
	lambda, eta = f.Need("lambda", withinHint), f.Get("eta")
	rows := f.Get("rows")
	x, ok := lambda.Float()
	if w.Lambda = x; ok && !(x >= 0 && x <= maxLambda) {
		lambda.Bad("", "%s is a number between 0 and %d, not %v", lambda.Path, maxLambda, x)
		ok = false
	}

	// How far it may be off is told by a share of the rows, or by their number.
	switch {
	case eta != nil && rows != nil:
		rows.Bad("keep one of the two", "%s and %s are alternatives", eta.Path, rows.Path)
		return nil, nil, nil
	case rows != nil:
		n, okRows := rows.Int(1, maxRows)
		if w.Rows = n; ok && w.Lambda == 0 {
			lambda.Bad("write for instance 0.1: noise that hides the rows takes 0.2 of epsilon then",
				"%s is 0, at which no noise hides a row", lambda.Path)
			ok = false
		}
		ok = ok && okRows
	default:
		x, okEta := f.Need("eta", withinHint).Float()
		if w.Eta = x; okEta && !(x >= 0 && x < 1) {
			eta.Bad("", "%s is at least 0 and below 1, not %v", eta.Path, x)
			okEta = false
		}
		ok = ok && okEta
	}

	if !ok {
		return nil, nil, nil
	}
	return w, eta, lambda
}

// leaves reports a Within that leaves nothing of what a statement may spend, or whose losses cannot be added up within
// the budget.
func (w Within) leaves(statement, budget privacy.Budget, eta, lambda *strictyaml.Value) {
	switch {
	case float64(statement.Epsilon)-2*w.Lambda <= 0:
		lambda.Bad("write less than half of privacy.epsilon",
			"%s %v is taken twice from epsilon %v, and leaves nothing for the noise", lambda.Path, w.Lambda,
			float64(statement.Epsilon))
	case w.Rows > 0:
	case budget.Delta > .5:
		lambda.Bad("write a privacy.budget.delta of at most 0.5",
			"%s: what is within it cannot be accounted for at a budget's delta of %v", lambda.Path,
			float64(budget.Delta))
	case w.Eta > 0:
		b, err := w.Approximated().Under(budget.Epsilon, statement).Calibrate(statement)
		if err != nil || b.Delta == 0 {
			most := float64(statement.Delta) / (1 + math.Exp(float64(max(budget.Epsilon, statement.Epsilon))-w.Lambda))
			eta.Bad("write less, or a smaller privacy.budget.epsilon",
				"%s %v times 1 + e^(budget.epsilon - lambda) is taken from delta %v, and leaves nothing for the "+
					"noise: it must be below %.2g", eta.Path, w.Eta, float64(statement.Delta), most)
		}
	}
}
