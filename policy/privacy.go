package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"fugu/privacy"
)

// Privacy is what a statement, and all statements together, may reveal, and by which mechanism.
type Privacy struct {
	Epsilon   privacy.Epsilon // per statement
	Delta     privacy.Delta   // per statement
	Mechanism string          // a name of package mechanism's
	Budget    Budget

	Estimation Estimation
	Weights    Weights
	Within     *Within // nil: the model is taken for the truth

	Composition Composition

	// Error is up to which error a statement is answered from what was released before, where it can be; the zero
	// Tolerance: never, and no session can ask for it.
	Error privacy.Tolerance

	// MaxError is the most noise that an answer may have before it is refused, at no charge; 0: any.
	MaxError privacy.Worth
}

// Estimation is how much of what the reference may be off by the noise covers: a number of standard errors, or
// everything but for a chance.
type Estimation struct {
	Errors float64 // at least 0
	// Delta is the chance over the reference that the promise does not hold: taken off the budget's δ, once for each
	// secret. 0: what the reference says is taken for the truth, but for Errors.
	Delta privacy.Delta
}

// Within says how far the model may be from the truth, in one of two ways. With Rows = 0 the distributions of the table
// that the model gives and the true one are within Lambda of each other in Eta-approximate max-divergence; otherwise a
// true table can be drawn together with one of the model so that they differ in at most Rows rows, and noise hides that
// at a loss of 2·Lambda.
type Within struct {
	Eta    float64 // 0 ≤ Eta < 1
	Rows   int64   // at least 0
	Lambda float64 // at least 0; above 0 with Rows
}

// Approximated is the relaxation of a Within without Rows.
func (w Within) Approximated() privacy.Approximated {
	return privacy.Approximated{Eta: w.Eta, Lambda: w.Lambda}
}

// String says what the truth may be.
func (w Within) String() string {
	if w.Rows > 0 {
		return fmt.Sprintf("the true table is at most %d rows from the model's, hidden at twice lambda %v", w.Rows,
			w.Lambda)
	}
	return fmt.Sprintf("the true distribution is within lambda %v of the model's, but for eta %v", w.Lambda, w.Eta)
}

// Composition says what hides a secret over all answers of a dataset together.
type Composition string

// The values of composition.
const (
	ByNoise Composition = "noise" // the noise of each answer: losses add up
	Jointly Composition = "joint" // the noise of all answers and, counted once, the randomness of the rows
)

// Weights says in which unit the error of each released value counts when noise is shared out. What adds up is its
// square, but for TotalWeights.
type Weights string

// The values of weights.
const (
	SamplingWeights Weights = "sampling" // what drawing the rows anew would make of it
	AbsoluteWeights Weights = "absolute" // 1, whatever it is
	RelativeWeights Weights = "relative" // its own expected size
	TotalWeights    Weights = "total"    // 1, and what adds up is the mean absolute error itself
)

// Budget is the limit on all statements together, of all users: the promise that holds against colluding analysts.
type Budget struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
	Per     Per
	Shares  *Shares       // limits below it; nil: none
	Renew   time.Duration // how long a period is, each with a budget of its own; Never, or at least a day

	Reserved privacy.Delta // what of Delta is there for a reference that misleads, and is no answer's
}

// Spendable is what all answers together may spend of the budget.
func (b Budget) Spendable() privacy.Budget {
	return privacy.Budget{Epsilon: b.Epsilon, Delta: b.Delta - b.Reserved}
}

// Per says whose accounts there are.
type Per string

// The values of per.
const (
	PerDataset Per = "dataset" // everyone's together
	PerUser    Per = "user"    // besides, each user's own, of the same size where no share says otherwise
)

// Shares are limits below the budget, which binds everybody together whatever they are.
type Shares struct {
	Users   []BudgetShare // in the order of the file
	Groups  []BudgetShare // of each, what all members together are told
	Default *privacy.Budget
}

// BudgetShare is the limit on what one user, or one group's members together, are told.
type BudgetShare struct {
	Name    string
	Members []string // of a group, at least one
	Limit   privacy.Budget
}

// Share returns the limit that a user has alone, if any.
func (b Budget) Share(user string) (privacy.Budget, bool) {
	if b.Shares != nil {
		if i := slices.IndexFunc(b.Shares.Users, func(s BudgetShare) bool { return s.Name == user }); i >= 0 {
			return b.Shares.Users[i].Limit, true
		}
		if b.Shares.Default != nil {
			return *b.Shares.Default, true
		}
	}
	return privacy.Budget{Epsilon: b.Epsilon, Delta: b.Delta}, b.Per == PerUser
}

// Groups returns the groups of a user that have a share, in the order of their names.
func (b Budget) Groups(user string) (out []BudgetShare) {
	if b.Shares == nil {
		return nil
	}
	for _, g := range b.Shares.Groups {
		if slices.Contains(g.Members, user) {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b BudgetShare) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Never is the renewal of a budget that is spent once.
const Never time.Duration = 0

// Renewal says what a budget that is renewed gives up; empty: it is never renewed.
func (b Budget) Renewal() string {
	if b.Renew == Never {
		return ""
	}
	const year = 365 * 24 * time.Hour
	k := int64((year + b.Renew - 1) / b.Renew)
	epsilon, delta := float64(b.Epsilon), float64(b.Delta)
	return fmt.Sprintf("budget.renew gives every period of %d days a budget of its own, but the secret does not "+
		"renew with it: after k periods everything told is (k times %v, k times %v)-indistinguishable and no better; "+
		"after a year, of %d periods, epsilon %.4g at delta %.4g",
		b.Renew/(24*time.Hour), epsilon, delta, k, float64(k)*epsilon, min(1, float64(k)*delta))
}

// Estimates says what analysts are computed of the answers that they were given: nothing of it is charged, as it tells
// nothing more than the answers and what is public.
type Estimates string

// The kinds of estimates: there are none, they are of the answers alone, or the model that the reference gives is what
// is believed before there are answers.
const (
	NoEstimates        Estimates = ""
	AnswerEstimates    Estimates = "none"
	ReferenceEstimates Estimates = "reference"
)

// Epoch says which data the protected tables hold, so that answers about others are given no more once they are
// replaced.
type Epoch struct {
	Label string // empty: epochs are advanced by command alone
	Draw  Draw
}

// Draw says how the tables' rows relate to those of the epochs before.
type Draw string

// The values of draw.
const (
	// In any way: what was told of the old rows counts against the budget of the new.
	DependentDraw Draw = "dependent"
	// Not at all, given what the policy says of their distribution.
	IndependentDraw Draw = "independent"
)
