package setting

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"fugu/privacy/rowsum"
	"fugu/sensitivity"
)

// Family is f_θ of the setting for one pair of proportions, as the product's calibration takes it.
type Family struct {
	Classes  Classes
	Name     string // of the secret
	From, To float64
}

// Secret implements sensitivity.Family.
func (f Family) Secret() string { return f.Name }

// Span implements sensitivity.Family.
func (f Family) Span() sensitivity.Span {
	return sensitivity.Span{From: f.From, To: f.To, Within: f.To - f.From}
}

// Mean implements sensitivity.Family.
func (f Family) Mean(p float64) []float64 { return f.Classes.At(p).Mean }

// Affine implements sensitivity.Family: denominators are the constant number of records.
func (f Family) Affine() bool { return true }

// Cumulants implements sensitivity.Shaped.
func (f Family) Cumulants(p float64, w []float64) (third, fourth float64, known bool) {
	scale := F([]float64{1, 1, 1, 1, 1}, Records)
	for class, share := range [2]float64{1 - p, p} {
		rows := f.Classes.Rows[class]
		if rows == nil {
			return 0, 0, false
		}
		values := make([]float64, len(rows))
		for i, row := range rows {
			for k, v := range row {
				values[i] += w[k] * scale[k] * v
			}
		}
		n, v := share*Records, stat.Moment(2, values, nil)
		third += n * stat.Moment(3, values, nil)
		fourth += n * (stat.Moment(4, values, nil) - 3*v*v)
	}
	return third, fourth, true
}

// Rows implements sensitivity.Summed: averages have the constant number of records below them.
func (f Family) Rows(k int) *rowsum.Sum {
	if f.Classes.Rows[0] == nil {
		return nil
	}
	var values [2][]float64
	for class, rows := range f.Classes.Rows {
		for _, row := range rows {
			values[class] = append(values[class], F([]float64{1, 1, 1, 1, 1}, Records)[k]*row[k])
		}
	}
	low, high := int(math.Round(f.From*Records)), int(math.Round(f.To*Records))
	sum, err := rowsum.New(values, Records, rowsum.Pairs{Low: low, High: high, Apart: high - low})
	if err != nil {
		return nil
	}
	return sum
}

// Covariance implements sensitivity.Family: one block.
func (f Family) Covariance(p float64) sensitivity.Covariance {
	c := f.Classes.At(p).Cov
	return block(c, mat.NewSymDense(c.SymmetricDim(), nil))
}
