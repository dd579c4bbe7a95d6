// Package dataset binds policies to a database: what they and the catalog say of protected tables, at one time. It
// knows the tables, their public values and statistics, what is secret of them, the models that policies declare and
// those that fugu fit has prepared, and which names of a text speak of any of that. It reads references, columns and
// the catalog, and never a protected row. It knows no session, no budget and no answer.
package dataset

import (
	"sync"

	"fugu/model"
	"fugu/model/fitted"
	"fugu/parser"
	"fugu/parser/lex"
	"fugu/parser/shadow"
	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
)

// Snapshot is everything that the policies and the catalog say, at one time. It is made by Load, and safe for
// concurrent use.
type Snapshot struct {
	Policies []*policy.Policy
	Apart    []*policy.Policy // of tables that are elsewhere, whose twins are here under the same names: see LoadApart
	Tables   []*Protected
	Fitted   map[*policy.Policy]*fitted.Artifact // what fugu fit has prepared, where it holds

	database string          // in which all of that is; empty: nothing was read
	views    []parser.Table  // over protected tables
	words    *lex.Words      // a text with none of them is ordinary
	glance   *lex.Words      // those, and the words that change a pinned setting
	Masks    *shadow.Shadows // of the catalog; nil: nothing is protected here or beside
	listing  *shadow.Introspection
	hidden   *shadow.Hidden
	declared map[string]*Declared // by cutKey
}

// Protected is one protected table with all that belongs to it.
type Protected struct {
	Policy    *policy.Policy
	Config    policy.Table
	Table     *planner.Table
	Syntax    parser.Table
	Relation  string         // what no other relation is called, whatever its name; empty: not known
	Psi       []model.Psi    // of Table.Secrets, in order
	Totals    []model.Totals // likewise; empty without a reference
	Reference policy.QualifiedName
	Public    *Published    // nil: nothing
	Places    *model.Places // of a policy with a joint account
	Network   *Network      // of secrets that are parameters; nil: none is
	Lacking   []string      // columns that a table with a twin got after that was built
	Alone     *Declared     // the only statement that is answered about it and what is linked to it; nil: there is none

	ties []model.Tie // between its secrets, over the reference

	numberMu sync.Mutex
	number   *model.Places // see Numbered

	outsideMu sync.Mutex
	outsideOf map[string]float64 // by column, see Outside
}

// Network is what a policy says of how a table's columns are distributed together.
type Network struct {
	Parameters  []policy.Parameter
	Independent []string // columns
	// Quilts has one for each of Table.Secrets, in order, chosen once and for all: losses by different quilts of one
	// parameter could not be added up. Its Width is the number of columns near the parameter.
	Quilts []sensitivity.Quilt
}

// Published are the public statistics of one table: what the policy says, and nothing that any row says.
type Published struct {
	names      []string
	statements []string // as the policy has them
	cuts       []*planner.Bound
	values     [][]string // of each cut: its components in the order of Components
}

// Declared is a declared model, laid out as its cut is.
type Declared struct {
	Name       string
	Components []model.Component
	Laws       []policy.Law // of Table.Secrets, in order; vectors in the order of Components
	// Close has one for each of Laws where these are samples; nil: they are means and covariances.
	Close []sensitivity.Close
}
