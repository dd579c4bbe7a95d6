package quote

import (
	"math"

	"fugu/dataset"
	"fugu/model"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// chance is the share of a statement's δ that bounds on coupled datasets may fail with, twice where averages are asked
// for.
const chance = 1.0 / 64

// shiftsOf says how far each secret of the table moves the components, and bounds their lattice steps: under the
// assumption that the distribution of F shifts, or, where the policy does not accept it, for coupled datasets.
func shiftsOf(t *dataset.Protected, m *model.Moments, b privacy.Budget) ([]sensitivity.Shift, []float64, error) {
	var out []sensitivity.Shift
	lattice := make([]float64, len(m.Components))
	for i, psi := range t.Psi {
		var s []sensitivity.Shift
		var err error
		switch width := t.Policy.Privacy.Estimation.Errors; {
		case t.Policy.Accepts(policy.Translation):
			s, err = m.Shifts(i, psi, width)
		case b.Delta > 0:
			s, err = m.Coupled(i, psi, width, chance*float64(b.Delta))
		default:
			err = sqlstate.New(sqlstate.ModelUnfit, "without an assumption on how statistics are distributed "+
				"nothing is private at delta 0").
				WithHint("Set fugu.delta above 0; or the owner of the policy can accept an assumption: assume: " +
					"[translation].")
		}

		// What the policy lacks is said as it is; what the model lacks, by its table and secret.
		if sqlstate.Is(err, sqlstate.ModelUnfit) {
			return nil, nil, err
		}
		if err != nil {
			return nil, nil, unsupported(t, psi.Name, err)
		}

		out = append(out, s...)
		for k, step := range m.LatticeSteps(i, psi) {
			lattice[k] = math.Max(lattice[k], step)
		}
	}
	return out, lattice, nil
}

// inherent is the largest standard deviation of each component under the model: what sampling alone makes of it.
func inherent(t *dataset.Protected, m *model.Moments) []float64 {
	out := make([]float64, len(m.Components))
	for i, psi := range t.Psi {
		for k, v := range m.Variances(i, psi) {
			out[k] = math.Max(out[k], math.Sqrt(v))
		}
	}
	return out
}

// unsupported is the error of a statement that the reference cannot speak of.
func unsupported(t *dataset.Protected, secret string, cause error) error {
	return sqlstate.New(sqlstate.ModelUnfit, "the reference of %s cannot support the statement at every value of "+
		"secret %s", t.Table, secret).
		WithHint("Select more rows in WHERE, or group by fewer columns.").Because(cause)
}
