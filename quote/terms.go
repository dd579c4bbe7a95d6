package quote

import (
	"fmt"
	"math"

	"fugu/privacy"
	"fugu/privacy/joint"
)

// JointTerms is what an answer brings into the joint account of its dataset: nothing of it depends on protected rows.
type JointTerms struct {
	Parts []JointPart
	// by secret: what the noise alone hides, and the account does not count; of κ² nothing
	Losses map[string]privacy.Loss
	Bytes  []byte // of the parts, as the ledger keeps them
}

// JointPart is an answer's components over one table.
type JointPart struct {
	Table   string
	Digest  string // of the reference's rows
	Terms   []byte
	Release joint.Release `json:"-"` // made of the rest

	Noise    []float64          // as in joint.Release, like the rest
	Lines    [][]float64        `json:",omitempty"`
	Still    []bool             `json:",omitempty"`
	Hidden   map[string]bool    `json:",omitempty"`
	Aside    map[string]float64 `json:",omitempty"`
	Rounding float64

	Alone map[string]float64 // κ² by secret, by the noise alone
}

// Read makes the release of what the ledger keeps.
func (p *JointPart) Read() error {
	p.Release = joint.Release{Terms: new(joint.Terms), Noise: p.Noise, Lines: p.Lines, Still: p.Still,
		Hidden: p.Hidden, Aside: p.Aside, Rounding: p.Rounding}
	if err := p.Release.Terms.UnmarshalBinary(p.Terms); err != nil {
		return fmt.Errorf("reading what was released of %s: %w", p.Table, err)
	}
	return nil
}

// CovarianceTerms is what an answer brings into the account of covariances of its dataset: nothing of it depends on
// protected rows.
type CovarianceTerms struct {
	Parts []CovariancePart `json:"covariances"`

	Bytes []byte `json:"-"` // as the ledger keeps them
}

// CovariancePart is an answer's components over one table.
type CovariancePart struct {
	Table  string
	Digest string `json:",omitempty"` // of the reference's rows
	// Terms and Noise are of the components that can stand in a stack, Weight is Σ λ/(1+λ) of these and Beside of the
	// others: λ what varies, in units of the noise, of each sum that a component is made of.
	Terms          []byte    `json:",omitempty"`
	Noise          []float64 `json:",omitempty"`
	Weight, Beside float64
	Others         int                     `json:",omitempty"` // how many those others are
	Losses         map[string]privacy.Loss // by secret: what the noise hides of movements
	Close          float64                 // see joint.Beside

	terms []*joint.Terms
}

// close writes the terms of a part down.
func (p *CovariancePart) close() error {
	if len(p.terms) == 0 {
		return nil
	}
	all, err := joint.Concat(p.terms...)
	p.terms = nil
	if err != nil { // too many: they stand beside
		p.Beside, p.Others, p.Weight, p.Noise = p.Beside+p.Weight, p.Others+len(p.Noise), 0, nil
		return nil
	}
	p.Terms, err = all.MarshalBinary()
	return err
}

// Besides are what a secret's losses and the noise leave beside normal parts.
func (p *CovariancePart) Besides(secret string) (kappa2 float64, b joint.Beside) {
	l := p.Losses[secret]
	return l.Kappa2, joint.Beside{Pure: l.Pure, Squares: l.Pure * l.Pure, Close: p.Close, Delta: math.Min(1, l.Delta)}
}
