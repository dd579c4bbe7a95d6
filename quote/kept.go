package quote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/planner"
)

// Place says where a value of an answer is: it is a component of the release, or public, or nowhere, as the model has
// none of it. The ledger keeps it as one number: components from 0 up, nowhere, and below that what is public.
type Place int

const nowhere Place = -1

// componentAt is the place of a component of the release.
func componentAt(k int) Place { return Place(k) }

// publicAt is the place of the public value i.
func publicAt(i int) Place { return nowhere - 1 - Place(i) }

// Component returns the component that is in a place.
func (p Place) Component() (k int, ok bool) { return int(p), p >= 0 }

// Public returns which public value is in a place.
func (p Place) Public() (i int, ok bool) { return int(nowhere - 1 - p), p < nowhere }

// Within reports whether a place is one of so many components and public values, or none.
func (p Place) Within(components, public int) bool {
	k, isComponent := p.Component()
	i, isPublic := p.Public()
	return !(isComponent && k >= components || isPublic && i >= public)
}

// Stored is what the ledger keeps as an answer: the release, and where in it each cut's cells are.
type Stored struct {
	Index   []Place  // cut, cell, aggregate in order
	Public  []string `json:",omitempty"` // values that the policy gives
	Release []byte
	Of      *Kept `json:",omitempty"` // what the release is of; nil: nobody computes others from it
	Past    *Past `json:",omitempty"` // what it was computed from; nil: it was drawn

	Evidence *Evidence `json:",omitempty"` // what estimates take from it; nil: the policy has none

	Policy  string `json:",omitempty"` // the fingerprint of the policy that it was given under; empty: older than this
	Samples bool   `json:",omitempty"` // that policy declares distributions by samples, or by concentration
}

// Evidence is what a release tells of query vectors, beside its values: which they are, by Bound.Vector of each
// component, and the law of the noise on them. Nothing of it depends on protected rows.
type Evidence struct {
	Policy  string // its fingerprint
	Law     mechanism.Law
	Vectors []string // hashed; empty: nobody compares it
}

// Encode is the answer as the ledger stores it, in JSON.
func (s Stored) Encode() ([]byte, error) { return json.Marshal(s) }

// vectorName returns the name of a text, and none for an empty one.
func vectorName(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Kept says what the values of an answer are, so that other answers can be computed from them. Nothing in it depends on
// protected rows.
type Kept struct {
	Policy     string // its fingerprint
	Assumption string // that the answer rests on
	Law        mechanism.Law
	Layers     []Layer
}

// Layer are the components of one grouping set, by row function and cell; -1 where the model has none.
type Layer struct {
	planner.Layer
	Values map[string][]int

	Most map[string]float64 `json:"-"` // by row function: what one row can add
	Root *dataset.Protected `json:"-"` // the table that its rows are of
}

// MannerOf is the layer's of an axis, empty where it asks nothing about it.
func (l *Layer) MannerOf(axis string) string {
	if i := slices.Index(l.Axes, axis); i >= 0 {
		return l.Manner[i]
	}
	return ""
}

// Past is what is kept of an answer from the past.
type Past struct {
	From   []int64     // the answers that have a share in it
	Errors []PastError // of each component
}

// PastError is the error of one component that was computed from earlier answers, in the component's own units.
type PastError struct {
	Noise   mechanism.Mixture
	Outside float64 `json:",omitempty"` // root of the mean square of what rows without public values add
}

// SD is the root of the mean square.
func (e PastError) SD() float64 { return math.Hypot(e.Noise.SD(), e.Outside) }

// HalfWidth is half the width of an interval that holds the value without noise at the confidence; what rows without
// public values add to it is bounded by Markov's inequality on its square, and gets half of what may go wrong.
func (e PastError) HalfWidth(confidence float64) float64 {
	if e.Outside == 0 {
		return e.Noise.HalfWidth(confidence)
	}
	half := (1 - confidence) / 2
	return e.Noise.HalfWidth(1-half) + e.Outside/math.Sqrt(half)
}
