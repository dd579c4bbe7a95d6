package console

import (
	"context"
	"time"
)

// Source says what the pages show. All of it is public or told to whoever keeps the data: prices, promises, and what
// references and declared models say. No method may return a statistic of protected rows, a literal of a client's, or
// the text of a client's statement. Methods end when their context does.
type Source interface {
	Budgets(context.Context) (Budgets, error)
	Events(context.Context) ([]Event, error) // newest first
	Policies(context.Context) ([]Policy, error)
	Twins(context.Context) ([]Twin, error)
	// Curve prices a statement that an operator has typed, at several ε. It charges nothing, and reads no protected
	// row.
	Curve(ctx context.Context, statement string) (Curve, error)
}

// Problem is an error that says to operators what is wrong, and what they may do instead. Of any other error they are
// told that there was one.
type Problem struct {
	Code    string // SQLSTATE; may be empty
	Message string
	Hint    string
}

// Error implements error.
func (p *Problem) Error() string { return p.Message }

// Budgets are the accounts of all policies.
type Budgets struct {
	Accounts []Account
	Payers   []Payer
	Ended    []Reset // budgets that somebody had begin anew, newest first
}

// Account is what one secret's budget stands at, in ε at its δ.
type Account struct {
	Dataset, Scope, Secret    string // Scope: everybody, user NAME or group NAME
	Limit, Spent, Left, Delta float64
	Answers                   int
	Period                    int64
	History                   []Spent // of everybody's accounts, oldest first; from where the ledger was looked at
}

// Spent is what an account had spent at a time.
type Spent struct {
	At      time.Time
	Epsilon float64
}

// Payer is who had answers charged to everybody's account of a dataset, in its period.
type Payer struct {
	Dataset, User string
	Answers       int
	Epsilon       float64 // what these answers by themselves come to, at the budget's δ
	Last          time.Time
}

// Reset is a budget that began anew because somebody said so.
type Reset struct {
	At                    time.Time
	Dataset, User, Reason string
}

// Event is what became of a statement about protected rows, or what was done to a ledger.
type Event struct {
	At                    time.Time
	What                  string // answer, joined, refused, ...
	Dataset, User         string
	Code, Meaning         string // of a refusal: the SQLSTATE, and what it stands for
	Times                 int64  // how often; 0: once
	Answer                int64  // its number; 0: none
	Mechanism, Assumption string
	Epsilon, Delta        float64 // that were asked for
	Prices                []Price
	Certificates          []Certificate
	Note                  string
}

// Price is what an answer took from one secret's budget by itself, in ε at the δ asked for.
type Price struct {
	Secret  string
	Epsilon float64
}

// Certificate is what holds for one secret of one answer by itself.
type Certificate struct {
	Secret, Mechanism, Assumptions, Pair string
	Epsilon, Delta                       float64
}

// Policy is what one policy promises.
type Policy struct {
	Dataset, Database      string
	Tables                 []Table
	Secrets                []Secret
	Mechanism, Composition string
	Epsilon, Delta         float64 // of a statement
	Limit, LimitDelta      float64 // of all statements together
	Assumes                []string
	Renewal, Relaxed       string // empty: never; not at all
	Estimation             string // what is covered of the reference's being a sample; empty: nothing
	Analysts               string
	Pictures               []Picture
}

// Table is a protected table.
type Table struct{ Name, Answers, Reference string }

// Secret is what a policy keeps secret of a table.
type Secret struct{ Name, Table, Property, Values string }

// Picture is how a statistic is distributed under both values of a pair, without and with noise. Nothing in it comes
// from protected rows: the law is that of the policy's model.
type Picture struct {
	Secret, Statement string
	Values            [2]string // of the secret, that nobody may tell apart
	Means             [2]float64
	Relative          bool    // means are distances from the middle between them, where no place is public
	Sampling          float64 // standard deviation without noise; 0: the statistic is the same whenever the secret is
	Noise             []float64
	NoiseSD           float64 // of the noise
	Certificates      []Certificate
	Problem           *Problem // why there is no picture; nil: there is
}

// Twin is a table that is answered from a blurred copy.
type Twin struct {
	Dataset, Table   string
	Built            time.Time // zero: it is not built
	Rows, Sampled    int64
	Epsilon, Delta   float64
	Assumes, Law     string
	Classes          []Class
	Groups           []Group // by rows of the group
	Known            []Known
	Expected         []Expected
	Columns          []string // what is promised of columns that are shown row by row
	AtLeast          int64    // rows of the sample that whatever is told is of; 0: rows are listed
	ProblemOfPreview string
}

// Class is what the twin tells of the rows of one class.
type Class struct {
	Name        string
	Told, Taken int64
	ToldError   *float64 // standard deviation of Told; nil: not known
}

// Group is how far a count of so many rows of a class is off, in rows.
type Group struct {
	Class         string
	Rows          int64
	Drawing, Both float64 // by which rows were drawn, and with the noise on the secret
}

// Expected is what a twin of a table with these public counts would be, from the policy alone.
type Expected struct {
	Class       string
	Rows        int64
	Taken, Told float64 // Told: root mean square error of the number told
	Group       string  // how far a count of a tenth, a hundredth and a thousandth of the table is off
}

// Known is what who knows so many rows one by one can tell.
type Known struct {
	Rows    int64
	Epsilon float64
	Bounded bool
}

// Curve is how much noise the values of a statement would have at several ε.
type Curve struct {
	Dataset    string
	Components int
	Columns    []Column
	Points     []CurvePoint
	Refused    string  // why it would be refused at the policy's ε; empty: it would not
	At         float64 // the policy's ε
	Free       []Twin  // that answer it at no price, so that there are no points
}

// Column is one column of an answer.
type Column struct {
	Name     string
	Sampling float64 // what the values vary by without noise, the greatest
}

// CurvePoint is what an answer would be at one ε.
type CurvePoint struct {
	Epsilon   float64
	Mechanism string
	SD        []float64 // of each column, the greatest over its cells
	Within    []float64 // half the width of the 95% interval, likewise
	Prices    []Price   // what it would take from each secret's budget
}
