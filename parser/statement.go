package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Statement is one SQL statement.
type Statement struct {
	Text    string // as the client wrote it
	Explain Explain
	Cuts    []*Cut     // where protected rows are aggregated, outermost first
	Virtual []*Virtual // where Fugu's own tables are read
	Plain   *Plain     // a plain SELECT of a protected table's rows, of which there is then nothing else
	Setting *Setting   // SET fugu.x
	Show    string     // x of SHOW fugu.x, in lower case
	Prepare *Prepare   // PREPARE: all of the above is the prepared statement's
	Execute *Execute   // EXECUTE
	Copy    bool       // COPY (...) TO STDOUT, which takes no parameters: their values go into the text
	NoData  bool       // CREATE TABLE AS ... WITH NO DATA: nothing is asked
	// Something of the catalog is masked in it, or shown that PostgreSQL would not show; or it means a twin.
	Masked  bool
	Twins   []TwinUse   // the twins that it means
	Zeros   []Zero      // parameters that have to be 0
	Params  int         // the highest parameter number; of a protected PREPARE, the prepared statement's
	Start   int         // characters before Text in what the client sent
	root    *pg.RawStmt // nil once rewritten
	version int32       // of the grammar that read it
	src     *source     // nil if it is not the client's
	renamed bool        // nothing of it is changed but names, which edits do in its text
	edits   []Edit
	begin   int32 // the offset of its first word
	first   int   // the position of that
}

// Ordinary reports whether the statement needs nothing of Fugu's.
func (s *Statement) Ordinary() bool {
	return len(s.Cuts) == 0 && len(s.Virtual) == 0 && s.Plain == nil && s.Explain == NoExplain && s.Execute == nil &&
		!s.Masked && s.Show == ""
}

// TwinUse is a place where a statement means a twin.
type TwinUse struct {
	Table    Table // the protected one
	Position int   // 0: in the body of a function
}

// TwinsRead are the twins that the statement means, and those whose rows it aggregates and may not list.
func (s *Statement) TwinsRead() []TwinUse {
	uses := slices.Clone(s.Twins)
	for _, c := range s.Cuts {
		for _, from := range c.Sources {
			if from.Table.Aggregates {
				uses = append(uses, TwinUse{Table: from.Table, Position: from.Position})
			}
		}
	}
	return uses
}

// Explain says whether a statement is EXPLAIN (PRIVACY), and in which format.
type Explain int

// Formats of EXPLAIN (PRIVACY).
const (
	NoExplain Explain = iota
	ExplainText
	ExplainJSON
)

// Virtual is a reference to one of Fugu's own tables.
type Virtual struct {
	Table Table
	node  *pg.Node
}

// Plain is a plain SELECT of the rows of one protected table.
type Plain struct {
	Table    Table
	Position int
	Instead  string // what to write for an aggregate that it calls by another name; empty: it calls none
	rel      *pg.RangeVar
}

// Setting is SET fugu.Name = Value.
type Setting struct {
	Name, Value string
	Default     bool // SET .. TO DEFAULT, RESET
	Position    int
}
