// Package explain is what EXPLAIN (PRIVACY) says of a statement: how it would be answered and what that would cost, as
// data, as JSON and in words. It looks nothing up: whoever explains hands it what there is to say.
package explain

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/quote"
)

// Explanation is what EXPLAIN (PRIVACY) says of a statement: how it would be answered, and what that would cost.
type Explanation struct {
	Dataset    string   `json:"dataset"`
	Cuts       []Cut    `json:"cuts"`
	Secrets    []Secret `json:"secrets"`
	Quilts     []Quilt  `json:"quilts,omitempty"` // of secrets that are parameters
	Components int      `json:"components"`       // the length of F
	Mechanism  string   `json:"mechanism"`
	Chosen     string   `json:"chosen_by"` // the setting that chose it: auto, or its own name
	Assumption string   `json:"assumption"`
	Noise      []Noise  `json:"noise"`
	Epsilon    float64  `json:"epsilon"`
	Delta      float64  `json:"delta"`
	Stored     bool     `json:"stored"`         // the answer is stored already, and costs nothing
	Past       string   `json:"past,omitempty"` // what it would be computed from, at no cost; empty: it would be drawn
	Cost       []Cost   `json:"cost"`
	Above      string   `json:"above"` // the statement that the guest runs on the noisy values

	// why it would be refused, for its noise or for what was promised before; empty: it would not
	Refused string `json:"refused,omitempty"`
	Warning string `json:"warning,omitempty"` // what is said of its noise when it is charged; empty: nothing

	Twins []Twin `json:"twins,omitempty"` // that the statement reads

	// Relaxed is how far the policy lets the model be from the truth; empty: not at all.
	Relaxed string `json:"relaxed,omitempty"`

	// Estimation is the chance, over the reference, that the certificates do not hold, which is reserved once for all
	// statements; 0: they take the reference for the truth.
	Estimation float64 `json:"estimation,omitempty"`

	// Together is what the joint account says of the statement and all answers before it; empty: there is no such
	// account.
	Together string `json:"together,omitempty"`

	// Covariances say what all answers tell by covariances that differ under a secret's values, this statement's with
	// them.
	Covariances []string `json:"covariances,omitempty"`

	Certificates []mechanism.Certificate `json:"certificates"` // of each secret: what this answer by itself guarantees

	Calibration mechanism.Calibration `json:"-"` // the noise itself
	// after which the answer leaves at the earliest, behind the first reading of a row
	Leaves time.Duration `json:"-"`
	// each value that gets noise, in the order of the calibration's components
	Values []Value `json:"-"`
}

// Cut is one cut.
type Cut struct {
	Table      string   `json:"table"`
	Keys       []string `json:"keys"`
	Cells      int      `json:"cells"`
	Aggregates []string `json:"aggregates"`
	// where f_θ is from: reference, prepared (of the reference, by fugu fit) or declared
	Model  string   `json:"model"`
	Public int      `json:"public"` // values that the policy makes public: exact, and free
	Below  string   `json:"below"`  // the statistics statement
	Bounds []string `json:"bounds"` // what one row may contribute; more is taken for the bound
}

// Secret is how far a secret moves F.
type Secret struct {
	Secret string  `json:"secret"`
	Norm1  float64 `json:"delta_e1"`
	Norm2  float64 `json:"delta_e2"`
	Along  float64 `json:"along"`  // length of the common direction
	Beside float64 `json:"beside"` // what leaves it
	Most   *Moved  `json:"most,omitempty"`
}

// Moved is the value that a secret moves most, for what the value varies by anyway.
type Moved struct {
	Column string  `json:"column"`
	Group  string  `json:"group,omitempty"`
	Along  float64 `json:"along"`  // in the value's units
	Beside float64 `json:"beside"` // what the reference is too small to show, in the value's units
}

// String says for people how far the secret moves F, and what does it.
func (e Secret) String() string {
	out := fmt.Sprintf("moves F by at most %s (L1), %s (L2)", quote.Short(e.Norm1), quote.Short(e.Norm2))
	if e.Beside > 0 {
		out += fmt.Sprintf(", %s of it for what the reference cannot show", quote.Short(e.Beside))
	}
	if m := e.Most; m != nil {
		what := m.Column
		if m.Group != "" {
			what += " of " + m.Group
		}
		out += fmt.Sprintf("; most of all %s, by %s", what, quote.Short(m.Along+m.Beside))
	}
	return out
}

// widen makes e hold for another shift of the secret too.
func (e *Secret) widen(o Secret) {
	if o.Norm2 > e.Norm2 {
		e.Most = o.Most
	}
	e.Norm1, e.Norm2 = math.Max(e.Norm1, o.Norm1), math.Max(e.Norm2, o.Norm2)
	e.Along, e.Beside = math.Max(e.Along, o.Along), math.Max(e.Beside, o.Beside)
}

// Noise is the noise of one column: over its cells, the least and greatest standard deviation.
type Noise struct {
	Column     string  `json:"column"`
	Components int     `json:"components"`
	SDMin      float64 `json:"noise_sd_min"`
	SDMax      float64 `json:"noise_sd_max"`
	HalfWidth  float64 `json:"interval_max"`    // half the width of the 95% interval around a released value
	Inherent   float64 `json:"sampling_sd_max"` // what F itself varies by under the model
	// the noise as a share of the values expected, over all cells; -1: they are 0
	Error float64 `json:"relative_error"`
}

// Cost is what a statement takes from one secret's budget, in ε at the δ of the dataset or share.
type Cost struct {
	Scope  string  `json:"scope,omitempty"` // empty: everybody's budget
	Secret string  `json:"secret"`
	Cost   float64 `json:"epsilon"`
	Left   float64 `json:"epsilon_left"` // before the statement
}

// Quilt is how a secret parameter is hidden.
type Quilt struct {
	Secret string `json:"secret"`
	// the parameters that the quilt does not separate from the secret one, itself among them
	Near      []string `json:"near"`
	Quilt     []string `json:"quilt"`     // given which the rest is independent of it
	Influence float64  `json:"influence"` // ε of what the quilt tells
	Width     float64  `json:"width"`     // how far the columns of Near move F, in units of error
}

// String says it for people.
func (q Quilt) String() string {
	given := "alone"
	if len(q.Quilt) > 0 {
		given = "given " + strings.Join(q.Quilt, ", ")
	}
	moves := "no column of theirs is read"
	if q.Width > 0 {
		moves = "their columns move F by at most " + quote.Short(q.Width) + " units"
	}
	return fmt.Sprintf("%s is one with %s, %s (influence %s); %s", q.Secret, strings.Join(q.Near, ", "), given,
		quote.Short(q.Influence), moves)
}

// Value is one value of F: an aggregate in one group.
type Value struct {
	Column, GroupKey string
	SD               float64 // of its noise
	Expected         float64 // what it is under the model, over the whole reference
	Inherent         float64 // what it varies by under the model
}

// JSON writes the explanation for programs, as PostgreSQL's own EXPLAIN does: an array of one.
func (x Explanation) JSON() (string, error) {
	// Who goes through a list should not have to ask first whether it is one.
	x.Cuts, x.Secrets, x.Noise = append([]Cut{}, x.Cuts...), append([]Secret{}, x.Secrets...), append([]Noise{},
		x.Noise...)
	x.Cost, x.Certificates = append([]Cost{}, x.Cost...), append([]mechanism.Certificate{}, x.Certificates...)
	for i, c := range x.Cuts {
		x.Cuts[i].Keys, x.Cuts[i].Bounds = append([]string{}, c.Keys...), append([]string{}, c.Bounds...)
	}

	b, err := json.MarshalIndent([]Explanation{x}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("writing the explanation: %w", err)
	}
	return string(b), nil
}

// Lines writes the explanation for people.
func (x Explanation) Lines() []string {
	if x.Dataset == "" {
		return append([]string{x.Above}, x.twinLines()...)
	}
	lines := []string{fmt.Sprintf("Answer from dataset %s: %d noisy values", x.Dataset, x.Components)}
	for _, part := range [][]string{x.cutLines(), x.noiseLines(), x.costLines()} {
		for _, l := range part {
			lines = append(lines, "  "+l)
		}
	}
	return append(lines, x.twinLines()...)
}

// cutLines say what is asked below the cuts, and above them.
func (x Explanation) cutLines() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i, c := range x.Cuts {
		by := ""
		if len(c.Keys) > 0 {
			by = fmt.Sprintf(" by %s (%d public combinations)", strings.Join(c.Keys, ", "), c.Cells)
		}
		add("Cut %d: %s of %s%s", i+1, strings.Join(c.Aggregates, ", "), c.Table, by)

		// What has nothing to say takes no line.
		if c.Model != "" {
			add("  Model: %s", c.Model)
		}
		if c.Public > 0 {
			add("  Public: %d values, exact and free", c.Public)
		}
		add("  Below: %s", c.Below)
		for _, b := range c.Bounds {
			add("  Bounded: %s", b)
		}
	}

	add("Above: %s", x.Above)
	return lines
}

// noiseLines say how far the secrets move what is asked, and the noise that hides that.
func (x Explanation) noiseLines() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, s := range x.Secrets {
		add("Secret %s: %s", s.Secret, s)
	}

	for _, s := range x.Quilts {
		add("Parameter %s", s)
	}
	if x.Components > 0 {
		add("Mechanism: %s (%s), %s", x.Mechanism, x.Chosen, Rests(x.Assumption))
	}
	if x.Relaxed != "" {
		add("Relaxed: %s", x.Relaxed)
	}

	// What the promise rests on, beside the mechanism.
	for _, c := range x.Certificates {
		add("%s", certificateLine(c))
	}
	if x.Estimation > 0 {
		add("Estimation: the noise covers every law that the reference may have been drawn from, but for a chance of "+
			"%s over the reference: delta is the certificate's and that, reserved once for all statements",
			quote.Short(x.Estimation))
	}
	if x.Together != "" {
		add("Joint account: %s", x.Together)
	}
	for _, c := range x.Covariances {
		add("Covariances: %s", c)
	}

	for _, n := range x.Noise {
		sd := quote.Short(n.SDMin)
		if quote.Short(n.SDMax) != sd {
			sd += " to " + quote.Short(n.SDMax)
		}
		add("Noise of %s: sd %s, 95%% within ±%s (sampling alone: sd up to %s)", n.Column, sd, quote.Short(n.HalfWidth),
			quote.Short(n.Inherent))
	}

	// Last stands what stops the statement, as it is what is looked for.
	if x.Refused != "" {
		add("Refused: %s", x.Refused)
	}
	if x.Warning != "" {
		add("Warning: %s", x.Warning)
	}
	return lines
}

// costLines say what the statement would take from the budget and from shares.
func (x Explanation) costLines() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if x.Past != "" {
		add("Past: %s", x.Past)
	}
	add("Asked: epsilon %s, delta %s", quote.Short(x.Epsilon), quote.Short(x.Delta))

	// A statement that costs nothing still says what is left.
	for _, c := range x.Cost {
		what := quote.Short(c.Cost)
		if x.Stored {
			what = "0 (the answer is stored)"
		} else if x.Past != "" {
			what = "0 (the answer is computed from past ones)"
		}
		of := ""
		if c.Scope != ledger.Everybody {
			of = " of the share " + c.Scope
		}
		if c.Cost > c.Left && !x.Stored && x.Past == "" {
			of += ": too much, so that it would be refused"
		}
		add("Cost for secret %s: epsilon %s of the %s left%s", c.Secret, what, quote.Short(c.Left), of)
	}
	return lines
}

// Rests says what a guarantee rests on.
func Rests(assumption string) string {
	switch assumption {
	case mechanism.Coupling:
		return "resting on coupled datasets alone"
	case mechanism.Coupling + ", " + mechanism.RelaxedModel:
		return "resting on coupled datasets alone, relaxed"
	case mechanism.Coupling + ", " + quote.SampledReference:
		return "resting on coupled datasets and a sampled reference"
	}
	return "assuming " + assumption
}

func certificateLine(c mechanism.Certificate) string {
	line := fmt.Sprintf("Certificate for secret %s (%s): delta %s at epsilon %s", c.Secret,
		strings.Join(c.Assumptions, ", "), quote.Short(c.Delta), quote.Short(c.Epsilon))
	if c.Pair != [2]float64{} {
		line += ", hardest pair " + Pair(c.Pair)
	}
	switch {
	case c.Estimation > 0:
		line += "; epsilon " + quote.Short(c.Estimation) + " if the reference is off by two standard errors"
	case c.Estimation < 0:
		line += "; no epsilon if the reference is off by two standard errors"
	}
	return line
}

// Pair says which two values of a secret are meant.
func Pair(p [2]float64) string { return quote.Short(p[0]) + " against " + quote.Short(p[1]) }
