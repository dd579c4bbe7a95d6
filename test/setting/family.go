package setting

import (
	"gonum.org/v1/gonum/mat"

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

// Covariance implements sensitivity.Family: one block.
func (f Family) Covariance(p float64) sensitivity.Covariance {
	c := f.Classes.At(p).Cov
	return block(c, mat.NewSymDense(c.SymmetricDim(), nil))
}
