package quote

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"
	"slices"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/upstream"
)

// Quote is all that is known about a question before any protected row is read: F's layout, how far the secrets move
// it, and the noise that this takes.
type Quote struct {
	Questions   []upstream.Question
	Index       []Place  // cut, cell, aggregate in order
	Public      []string // values that everybody knows
	given       bool     // the model is one given public statistics
	policy      string   // its fingerprint
	declares    bool     // the policy declares distributions by samples, or by concentration
	Sums        []mechanism.Sum
	Width       int // components of F
	Start       []*big.Rat
	Shifts      []sensitivity.Shift
	Network     *dataset.Network    // nil: no secret is a parameter
	Quilts      []sensitivity.Quilt // of its secrets, in place of shifts
	Inherent    []float64           // the largest sd of F's components under the model, over the secrets
	Expected    []float64           // of each component: its mean under the model, which is public
	Labels      []dataset.Label     // of each component
	Integer     []bool              // likewise: whether its values are whole
	Bounds      [][]string          // of each cut: what one row may contribute, for people
	Sources     []string            // of each cut: where its model is from
	Calibration mechanism.Calibration
	Joint       *JointTerms      // what it brings into a joint account; nil: there is none
	Spreads     *CovarianceTerms // what it brings into the account of covariances; nil: there is none
	Layers      []Layer          // whose sums over rows it is made of, as far as they can be told
	SumsOnly    bool             // and that is all of it
	Vectors     []string         // of each component: equal for equal ones; nil: the policy makes no estimates
}

// Encode makes the bytes that the ledger keeps.
func (m *Quote) Encode(r mechanism.Release, of *Kept) ([]byte, error) {
	s := Stored{Index: m.Index, Public: m.Public, Of: of, Policy: m.policy, Samples: m.declares}
	if m.Width > 0 {
		s.Evidence = m.evidence()
		var err error
		if s.Release, err = r.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return s.Encode()
}

// Keep is what an answer is kept with; nil: nothing can be computed from it.
func (m *Quote) Keep(p *policy.Policy) *Kept {
	if len(m.Layers) == 0 || m.given {
		return nil
	}
	return &Kept{p.Fingerprint, m.Calibration.Assumption, m.Calibration.Noise.Law(), m.Layers}
}

// evidence is what estimates take from an answer; nil: nothing. Values that were brought to public sums have the law of
// their noise given these, so that the law of the noise and the sums together say all of what a value tells.
func (m *Quote) evidence() *Evidence {
	if m.Vectors == nil {
		return nil
	}
	return &Evidence{m.policy, m.Calibration.Noise.Law(), m.Vectors}
}

// SampledReference is what noise assumes that covers every law that the reference may have been drawn from: that its
// rows were drawn from one, each by itself.
const SampledReference = "sampled reference"

// Estimated reports whether anything of the noise follows from a reference.
func (m *Quote) Estimated() bool {
	return m.Width > 0 && slices.ContainsFunc(m.Sources, func(s string) bool { return s != fromPolicy && s != "" })
}

// Binding is the secret that the release costs most.
func (m *Quote) Binding(delta float64) string {
	name, most := "", -1.0
	consider := func(secret string) {
		if e := m.Calibration.Losses[secret].EpsilonAt(delta); e > most {
			name, most = secret, e
		}
	}
	for _, s := range m.Shifts {
		consider(s.Secret)
	}
	for _, s := range m.Quilts {
		consider(s.Attribute)
	}
	return name
}

// Certified is the ε that the release's own certificate shows for a secret with the covariances as they are, at δ; +Inf
// where it does not.
func (m *Quote) Certified(secret string, delta float64) float64 {
	for _, c := range m.Calibration.Certificates {
		if c.Secret == secret && c.Delta <= delta && slices.Contains(c.Assumptions, mechanism.Gaussian) {
			return c.Epsilon
		}
	}
	return math.Inf(1)
}

// NoiseDigest tells the noise that is charged from any other.
func (m *Quote) NoiseDigest() []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s %x", m.Calibration.Kind, m.Calibration.SD)
	for _, name := range sortedNames(m.Calibration.Losses) {
		l := m.Calibration.Losses[name]
		fmt.Fprintf(h, " %q %x %x %x", name, l.Pure, l.Kappa2, l.Delta)
	}
	if m.Joint != nil {
		h.Write(m.Joint.Bytes)
	}
	return h.Sum(nil)
}

func sortedNames(losses map[string]privacy.Loss) []string {
	var out []string
	for name := range losses {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
