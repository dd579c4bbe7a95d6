package policy

import (
	"slices"
	"strconv"
)

// Table is a protected table.
type Table struct {
	Schema, Name string        // as PostgreSQL stores them
	Rows         int64         // public number of rows, above 0
	Reference    QualifiedName // public or held-out rows with the same columns; empty: none, there are Declared models
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

// Answers says how statements about a table are answered. It is one of the two, never both: beside a twin only the rows
// that were not taken are unknown, and what noise on answers counts on is not there any more.
type Answers string

// The values of answers.
const (
	ByAnswerNoise Answers = "noise" // each answer by itself has noise
	FromTwin      Answers = "twin"  // from a copy of the table whose secrets are blurred once
)

// Twin says what of a table's twin analysts get, and against what they know it holds.
type Twin struct {
	Rows            TwinRows
	Drop            []string // columns that the twin leaves out
	AtLeast         int64    // groups of fewer rows of the sample are suppressed; 0, where rows are shown: none are
	KnownRows       int64    // rows of the table that analysts are taken to know
	Unit            string   // column that names the subject of a row, of which subjects are taken whole; empty: none
	IndependentRows bool     // the owner accepts that rows of one subject are drawn independently
	Smallest        float64  // share of rows that every class has at least, as everybody may know; 0: none is known
	// that are shown row by row through a channel, in the order of the file
	Columns []Column `json:",omitempty"`

	At Position
}

// TwinRows says whether rows of a twin may be listed.
type TwinRows string

// The values of rows of a twin.
const (
	ShowRows  TwinRows = "shown"
	Aggregate TwinRows = "aggregates"
)

// Domain is the public set of values that a grouping column can take: exactly one of Values, FromReference, Range and
// Dates.
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

// DateRange is the days From..To, both included, in units of which rows may be told apart: of a column of dates and
// times, what is the same all through each unit.
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

// MaxRange is the largest number of values that a range of a grouping column can have.
const MaxRange = 100_000

// maxRows keeps every number of rows exact in float64.
const maxRows = 1 << 53

// Qualified returns the table's name.
func (t Table) Qualified() QualifiedName { return QualifiedName{Schema: t.Schema, Name: t.Name} }

// domain finds the public domain of a column.
func (t Table) domain(column string) *Domain {
	i := slices.IndexFunc(t.GroupBy, func(d Domain) bool { return d.Column == column })
	if i < 0 {
		return nil
	}
	return &t.GroupBy[i]
}

// has reports whether a value is in the domain, as far as the policy says it.
func (d *Domain) has(v Value) bool {
	switch {
	case d.FromReference:
		return true
	case d.Range != nil:
		n, err := strconv.ParseInt(v.Text, 10, 64)
		return err == nil && !v.IsNull && d.Range.From <= n && n <= d.Range.To
	}
	return slices.Contains(d.Values, v)
}

// String is the value as a finding shows it: null, or the text in quotes.
func (v Value) String() string {
	if v.IsNull {
		return "null"
	}
	return "'" + v.Text + "'"
}
