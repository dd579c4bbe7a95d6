package build

import (
	"slices"

	"fugu/policy"
	"fugu/twin"
)

// promise is what a twin hides, but for how well, which is in its price: the values of secrets that nobody may tell
// apart, from whom, and what everybody may know.
type promise struct {
	Secrets   []policy.Secret `json:"secrets"`
	KnownRows int64           `json:"known_rows,omitempty"`
	Smallest  float64         `json:"smallest,omitempty"`
}

// promiseOf is what a twin of a law hides.
func promiseOf(s twin.Spec) *promise {
	p := promise{KnownRows: s.KnownRows, Smallest: s.Smallest}
	for _, secret := range s.Secrets {
		secret.At, secret.PropertyAt = policy.Position{}, policy.Position{} // where it stands in the file says nothing
		p.Secrets = append(p.Secrets, secret.Secret)
	}
	return &p
}

// covers reports whether all that other hides is hidden by what was told under p; of nil nothing is known.
func (p *promise) covers(other *promise) bool {
	if p == nil || other.KnownRows > p.KnownRows || other.Smallest < p.Smallest {
		return false
	}
	for _, s := range other.Secrets {
		named := func(own policy.Secret) bool { return own.Name == s.Name && own.Covers(s) }
		if !slices.ContainsFunc(p.Secrets, named) {
			return false
		}
	}
	return true
}
