package fit

import (
	"context"
	"math"
	"slices"

	"fugu/dataset"
	"fugu/model"
	"fugu/model/fitted"
	"fugu/planner"
	"fugu/policy"
	"fugu/quote"
	"fugu/sensitivity"
)

// Report is how well the references of a policy support what is asked of them.
type Report struct {
	Dataset    string             `json:"dataset"`
	File       string             `json:"file"`
	Hash       string             `json:"hash"`
	Parts      int                `json:"parts"` // statements over the references that the file holds
	Asked      int                `json:"asked"` // of them, now
	Kept       int                `json:"kept"`  // answers of the file that were used again
	References []fitted.Reference `json:"references"`
	Secrets    []Secret           `json:"secrets"`
	Statements []Statement        `json:"statements"`
}

// Findings is the number of things that are wrong.
func (r Report) Findings() int {
	n := 0
	for _, s := range r.Statements {
		n += len(s.Findings)
	}
	return n
}

// Secret is what the reference shows of a secret.
type Secret struct {
	Secret  string    `json:"secret"`
	Table   string    `json:"table"`
	Classes []float64 `json:"classes"` // rows of the reference in each class: outside and inside a predicate
	Where   []string  `json:"where"`
	Rows    int64     `json:"rows"` // public number of rows of the protected table
}

// Statement is how well one statement is modelled.
type Statement struct {
	Statement  string    `json:"statement"`
	Components int       `json:"components"`  // the length of F
	Cells      int       `json:"cells"`       // public combinations of its keys
	Empty      []string  `json:"empty_cells"` // those in which no reference row stands, the first of them by name
	EmptyCount int       `json:"empty"`
	Public     int       `json:"public"`     // values that the policy makes public
	Declared   []string  `json:"declared"`   // declared models that it uses
	Unmodelled int       `json:"unmodelled"` // averages over empty cells: NULL in every answer
	Qualities  []Quality `json:"secrets"`
	Findings   []Finding `json:"findings"`
}

// Finding is what is wrong with a statement, as a client would be told.
type Finding struct {
	Code    string `json:"sqlstate"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Quality is how well the model under one secret keeps what mechanisms assume.
type Quality struct {
	Secret string `json:"secret"`

	// Of the component that is furthest from normal, under the values of the secret.
	Component string  `json:"component"`
	Skewness  float64 `json:"skewness"`
	Kurtosis  float64 `json:"excess_kurtosis"`
	Bound     float64 `json:"berry_esseen"`
	Off       float64 `json:"off_normal"` // how far its probabilities are from a normal's, estimated
	Gaussian  string  `json:"gaussian"`   // the same in words
	Assessed  int     `json:"assessed"`   // components whose shape is known

	// CovarianceRatio is e^|ln| of the greatest ratio of variances between the values of a widest pair, At; null:
	// infinite.
	CovarianceRatio *float64   `json:"covariance_ratio"`
	At              [2]float64 `json:"at"`
	Whole           bool       `json:"all_directions"` // not only each component by itself

	// Movement is how far a widest pair of the secret moves F, and Missed the standard error of that, as vectors in the
	// standard deviations that sampling gives the components.
	Movement float64 `json:"movement"`
	Missed   float64 `json:"movement_error"`
}

// In words: what the probabilities of the worst component may be off a normal's.
const (
	plausible = 0.005
	doubtful  = 0.02
)

func gaussianWords(off float64) string {
	switch {
	case off <= plausible:
		return "plausible"
	case off <= doubtful:
		return "doubtful"
	}
	return "not plausible"
}

// maxNamed is how many empty cells are named.
const maxNamed = 5

// fittedSecrets describes the secrets of a policy.
func fittedSecrets(s *dataset.Snapshot, p *policy.Policy) []Secret {
	var out []Secret
	for _, t := range s.Tables {
		if t.Policy != p {
			continue
		}
		for i, sec := range t.Table.Secrets {
			f := Secret{Secret: sec.Name, Table: t.Table.String(), Rows: t.Table.Rows}
			if i < len(t.Totals) {
				f.Classes = t.Totals[i].Size
				for class := range f.Classes {
					f.Where = append(f.Where, sec.Where(class))
				}
			}
			out = append(out, f)
		}
	}
	return out
}

// assess describes how well a request is modelled, after measure has found that it is.
func assess(ctx context.Context, r *quote.Request, out *Statement) error {
	for _, c := range r.Cuts {
		out.Cells += len(c.Cells)
		if len(c.Aggregates) == 0 {
			continue
		}

		f, err := r.Model(ctx, c)
		if err != nil {
			return err
		}
		out.Components += len(f.Components)
		out.Public += len(f.Exact)
		out.Unmodelled += len(c.Cells)*len(c.Aggregates) - len(f.Components) - len(f.Exact)

		// A model that the policy declares has no shapes: nothing was measured for it.
		t := r.Dataset.Find(c.Table.Schema, c.Table.Name)
		var shapes *model.Shapes
		if d, err := r.Dataset.DeclaredFor(c); err != nil {
			return err
		} else if d != nil {
			out.Declared = append(out.Declared, d.Name)
		} else if shapes, err = model.MeasureShapes(ctx, r.Reference, c, t.Totals); err != nil {
			return err
		}
		for i, cell := range c.Cells {
			if shapes != nil && shapes.Rows(i) == 0 {
				out.EmptyCount++
				if len(out.Empty) < maxNamed {
					out.Empty = append(out.Empty, c.GroupKey(cell))
				}
			}
		}

		families, err := f.Families(ctx)
		if err != nil {
			return err
		}
		for i, sec := range t.Table.Secrets {
			if len(f.Components) > 0 {
				out.add(quality(&f, c, shapes, families, i, sec.Name))
			}
		}
	}
	return nil
}

// add takes in the quality of a further cut: of what is worse, the worse.
func (f *Statement) add(q Quality) {
	i := slices.IndexFunc(f.Qualities, func(o Quality) bool { return o.Secret == q.Secret })
	if i < 0 {
		f.Qualities = append(f.Qualities, q)
		return
	}
	o := &f.Qualities[i]
	if q.Off > o.Off {
		o.Component, o.Skewness, o.Kurtosis, o.Bound, o.Off, o.Gaussian = q.Component, q.Skewness, q.Kurtosis, q.Bound,
			q.Off, q.Gaussian
	}
	o.Assessed += q.Assessed
	if o.CovarianceRatio != nil && (q.CovarianceRatio == nil || *q.CovarianceRatio > *o.CovarianceRatio) {
		o.CovarianceRatio, o.At = q.CovarianceRatio, q.At
	}
	o.Whole = o.Whole && q.Whole
	if q.Missed > o.Missed {
		o.Movement, o.Missed = q.Movement, q.Missed
	}
}

// quality assesses one cut's model under one secret of its table. shapes is nil where the model is not the reference's.
func quality(f *quote.Model, c *planner.Bound, shapes *model.Shapes, families []sensitivity.Family, secret int,
	name string) Quality {
	out := Quality{Secret: name, Whole: true, Gaussian: "not assessed"}
	var xs []float64

	// What is known to a thousandth of what one row changes says nothing more.
	negligible := make([]float64, len(f.Lattice))
	for k := range negligible {
		negligible[k] = f.Lattice[k] / 1000
	}

	// Covariances are looked at where a pair begins at the ends of the range, and in its middle.
	worst := -1.0
	for _, family := range families {
		if family.Secret() != name {
			continue
		}
		span := family.Span()
		xs = append(xs, span.From, span.To)
		middle := (span.From + span.To - span.Within) / 2
		for _, x := range []float64{span.From, middle, span.To - span.Within} {
			r, whole := sensitivity.LogRatio(family.Covariance(x), family.Covariance(x+span.Within), negligible)
			out.Whole = out.Whole && whole
			if r > worst {
				worst, out.At = r, [2]float64{x, x + span.Within}
			}
		}
	}

	if worst >= 0 {
		out.CovarianceRatio = finiteOrNil(math.Exp(worst))
	}
	if shapes != nil {
		out.normality(c, f.Components, shapes, secret, xs)
	}

	for _, s := range f.Shifts {
		var moved, missed float64
		for k, sd := range f.Inherent {
			if s.Secret == name && sd > negligible[k] {
				moved = math.Hypot(moved, s.Along[k]/sd)
				if k < len(s.Error) {
					missed = math.Hypot(missed, s.Error[k]/sd)
				}
			}
		}
		if moved+missed > out.Movement+out.Missed {
			out.Movement, out.Missed = moved, missed
		}
	}
	return out
}

// normality finds the component that is furthest from normal under the values xs of the secret; without any it is taken
// at the reference's own.
func (f *Quality) normality(c *planner.Bound, list []model.Component, shapes *model.Shapes, secret int, xs []float64) {
	if xs == nil {
		xs = []float64{math.NaN()}
	}

	// The component that is furthest off speaks for all.
	for _, x := range xs {
		for _, k := range list {
			s, err := shapes.At(secret, x, k)
			if err != nil { // nothing is known of it, and it is not counted
				continue
			}
			f.Assessed++
			if f.Component == "" || s.Estimate > f.Off {
				f.Component = dataset.Label{Column: c.Aggregates[k.Aggregate].Label,
					Group: c.GroupKey(c.Cells[k.Cell])}.String()
				f.Skewness, f.Kurtosis, f.Bound, f.Off = s.Skewness, s.Kurtosis, s.Bound, s.Estimate
			}
		}
	}

	if f.Assessed /= len(xs); f.Assessed > 0 {
		f.Gaussian = gaussianWords(f.Off)
	}
}

func finiteOrNil(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
