// Package policy reads policy files: which tables are protected, which properties of them are secret, what the owner
// of the data assumes, and what each answer and all answers together may reveal.
//
// A policy that is returned is complete and consistent in itself; anything unknown, missing or contradictory in a file
// is a Finding with its line and column, and all of them come at once. The package opens no database: whether tables
// and columns exist, and what a predicate means, is for others to check. It does not parse SQL beyond names.
package policy

import (
	"slices"
	"time"

	"fugu/internal/strictyaml"
	"fugu/privacy"
)

// Finding is one thing that is wrong with a policy file.
type Finding = strictyaml.Finding

// Findings is the error that Load and Parse return: everything that is wrong, one finding a line.
type Findings = strictyaml.Findings

// Position is a line and column in the policy file, each from 1.
type Position = strictyaml.Position

// Policy is one policy file, decoded and validated.
type Policy struct {
	Version  int
	Dataset  string // the name in budgets, notices and the ledger
	Database string // that holds the tables; empty: that of the guest, until Resolve has named it
	Tables   []Table
	Networks []Network // at most one for a table
	Secrets  []Secret
	Assume   []Assumption
	Privacy  Privacy
	Epoch    Epoch
	Analysts []string    // who may ask; empty: every authenticated user
	Fit      []Statement // what fugu fit prepares beside its own list
	Declared []Declared
	Public   []Public

	Source      string // the file, as it was named to Load or Parse
	Fingerprint string // hexadecimal SHA-256 of what affects answers: see fingerprint

	datasetAt Position
}

// Table is a protected table.
type Table struct {
	Schema, Name string        // as PostgreSQL stores them
	Rows         int64         // public number of rows, above 0
	Reference    QualifiedName // public or held-out rows with the same columns; empty: none, there are Declared models only
	Drawn        Drawn         // how the rows relate to the reference's
	PlainRows    PlainRows
	GroupBy      []Domain // public domains of grouping columns, in the order of the file
	Link         *Link    // nil: its rows stand for themselves
	Answers      Answers  // of a linked table those of its root
	Twin         *Twin    // not nil exactly if Answers is FromTwin

	At          Position // the table's name in the file
	ReferenceAt Position
	answersSaid bool // the file says Answers
}

// Link says that each row of a table belongs to one row of another protected table, on which the secrets live. The
// references belong together in the same way.
type Link struct {
	To QualifiedName
	On []LinkKey // at least one, in the order of the file

	At Position
}

// LinkKey is a column of the linked table and the column of the other that it equals.
type LinkKey struct{ Own, To string }

// Drawn says how a table's rows relate to the reference's.
type Drawn string

// The values of drawn.
const (
	Independently Drawn = "independently"  // both are samples of the same population
	FromReference Drawn = "from-reference" // the rows are some of the reference's, drawn without replacement
)

// PlainRows says what a plain SELECT of a protected table's rows gets.
type PlainRows string

// The values of plain_rows.
const (
	DenyRows      PlainRows = "deny"
	ReferenceRows PlainRows = "reference" // the reference's rows
)

// Domain is the public set of values that a grouping column can take: exactly one of Values, FromReference, Range and Dates.
type Domain struct {
	Column        string
	Values        []Value
	FromReference bool // the values that occur in the reference
	Range         *IntRange
	Dates         *DateRange

	At Position // the column's name in the file
}

// Value is one value of a Domain, in a text form that PostgreSQL reads as the column's type.
type Value struct {
	Text   string
	IsNull bool
}

// IntRange is the whole numbers From..To, both included, at most MaxRange of them.
type IntRange struct {
	From, To int64
}

// DateRange is the days From..To, both included, in units of which rows may be told apart: of a column of dates and times,
// what is the same all through each unit.
type DateRange struct {
	From, To string // YYYY-MM-DD
	By       Unit
}

// Unit is a stretch of the calendar.
type Unit string

// The values of by. A week begins on Monday, as PostgreSQL has it.
const (
	Day     Unit = "day"
	Week    Unit = "week"
	Month   Unit = "month"
	Quarter Unit = "quarter"
	Year    Unit = "year"
)

// Secret is a property of a whole table whose value stays hidden: exactly one of Proportion, Mean, Categories and
// Parameter. Its pairs, the values that must not be told apart, are Spans, for categories either Vectors or Range, and all
// pairs of values of a parameter. Secrets of one table are all parameters or none is.
type Secret struct {
	Name       string
	Table      QualifiedName // one of the policy's Tables
	About      About
	Proportion string // SQL predicate over the table's columns; not parsed here
	Mean       string // SQL expression over the table's columns; not parsed here
	Categories string // column, one of the table's GroupBy, whose vector of proportions is secret
	Parameter  string // of the table's Network

	Spans   []Span
	Listed  bool // Spans are listed pairs: their ends, and nothing between them
	Vectors [][2][]Share
	Range   *SimplexRange

	At         Position // the secret's name in the file
	PropertyAt Position // the first character of the predicate, expression or column in the file
}

// About says whose property a secret is.
type About string

// The values of about.
const (
	AboutDataset      About = "dataset"      // the value that the table's rows have
	AboutDistribution About = "distribution" // the parameter of the distribution from which the rows were drawn
)

// Span stands for every pair of values in [From, To] that lie at most Within apart: From < To, 0 < Within ≤ To-From, up
// to rounding in float64; all finite. Of a proportion, 0 ≤ From and To ≤ 1; a mean's are in the expression's units.
type Span struct {
	From, To, Within float64
}

// Share is the proportion of one category; of those that a vector does not list it is 0.
type Share struct {
	Category   Value
	Proportion float64
}

// SimplexRange stands for every pair of vectors of proportions that add up to 1, each proportion in [From, To], of which
// one becomes the other when at most the share Within of the rows changes its category: their total variation distance.
// 0 ≤ From < To ≤ 1 and 0 < Within ≤ 1.
type SimplexRange struct {
	From, To, Within float64
}

// Assumption is a modelling assumption that the owner of the data may accept.
type Assumption string

// The assumptions.
const (
	// Translation: between the two values of a secret pair the distribution of a statistic shifts and does nothing else.
	Translation Assumption = "translation"
	// Gaussian: the distribution of a statistic is normal.
	Gaussian Assumption = "gaussian"
)

// Privacy is what a statement, and all statements together, may reveal, and by which mechanism.
type Privacy struct {
	Epsilon   privacy.Epsilon // per statement
	Delta     privacy.Delta   // per statement
	Mechanism string          // a name of package mechanism's
	Budget    Budget

	// Estimation is how many standard errors of the reference's estimates the noise covers; at least 0.
	Estimation float64
	Weights    Weights
	Within     *Within // nil: the model is taken for the truth

	Composition Composition

	// Error is up to which error a statement is answered from what was released before, where it can be; the zero Tolerance:
	// never, and no session can ask for it.
	Error privacy.Tolerance

	// MaxError is the most noise that an answer may have before it is refused, at no charge; 0: any.
	MaxError privacy.Worth
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

// Composition says what hides a secret over all answers of a dataset together.
type Composition string

// The values of composition.
const (
	ByNoise Composition = "noise" // the noise of each answer: losses add up
	Jointly Composition = "joint" // the noise of all answers and, counted once, the randomness of the rows
)

// Weights says in which unit the error of each released value counts when noise is shared out. What adds up is its square,
// but for TotalWeights.
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
}

// Per says whose accounts there are.
type Per string

// The values of per.
const (
	PerDataset Per = "dataset" // everyone's together
	PerUser    Per = "user"    // besides, each user's own, of the same size where no share says otherwise
)

// Qualified returns the table's name.
func (t Table) Qualified() QualifiedName { return QualifiedName{Schema: t.Schema, Name: t.Name} }

// Accepts reports whether the owner of the data accepts the assumption.
func (p *Policy) Accepts(a Assumption) bool { return slices.Contains(p.Assume, a) }

// MayAsk reports whether the authenticated user may ask about the policy's tables.
func (p *Policy) MayAsk(user string) bool {
	return len(p.Analysts) == 0 || slices.Contains(p.Analysts, user)
}

// Table finds the protected table of that name.
func (p *Policy) Table(name QualifiedName) (Table, bool) {
	i := slices.IndexFunc(p.Tables, func(t Table) bool { return t.Qualified() == name })
	if i < 0 {
		return Table{}, false
	}
	return p.Tables[i], true
}
