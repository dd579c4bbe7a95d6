package parser

import (
	"errors"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// Table is a relation that a statement names: a protected table, unless it says otherwise.
type Table struct {
	Schema, Name string
	Columns      []string
	Virtual      bool   // one of Fugu's own
	Ordinary     bool   // an ordinary table, which can be joined below a cut
	Written      string // of an ordinary table: its name as the statement has it, quoted
	View         string // the query of a view over protected tables
	Aggregates   bool   // its twin's rows are not listed: it is no name of the twin's, but a table for the cut
	Linked       bool   // its twin's rows come with those of another
	Twin         bool   // it has a twin, which stands in its place wherever a name of it can be rewritten

	Classes []Class // of its twin's rows, if their columns tell them apart
	Cells   int     // of so many public cells, which have as many classes each
}

// Class is one of the classes that the law of a twin divides rows into. Classes of a cell are neighbours.
type Class struct {
	Name  string
	Where string // a condition on the table's columns
}

func (t Table) String() string { return t.Schema + "." + t.Name }

// Catalog finds relations. schema is empty where the statement gave none.
type Catalog interface {
	// Table finds the relations that are not ordinary.
	Table(schema, name string) (Table, bool)
	// Ordinary finds a table that can be joined with protected ones, or says why it cannot.
	Ordinary(schema, name string) (Table, error)
}

// Statement is one SQL statement.
type Statement struct {
	Text    string // as the client wrote it
	Explain Explain
	Cuts    []*Cut      // where protected rows are aggregated, outermost first
	Virtual []*Virtual  // where Fugu's own tables are read
	Plain   *Plain      // a plain SELECT of a protected table's rows, of which there is then nothing else
	Setting *Setting    // SET fugu.x
	Show    string      // x of SHOW fugu.x, in lower case
	Prepare *Prepare    // PREPARE: all of the above is the prepared statement's
	Execute *Execute    // EXECUTE
	Copy    bool        // COPY (...) TO STDOUT, which takes no parameters: their values go into the text
	NoData  bool        // CREATE TABLE AS ... WITH NO DATA: nothing is asked
	Masked  bool        // something of the catalog is masked in it, or shown that PostgreSQL would not show; or it means a twin
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
	return len(s.Cuts) == 0 && len(s.Virtual) == 0 && s.Plain == nil && s.Explain == NoExplain && s.Execute == nil && !s.Masked && s.Show == ""
}

// Zero is a parameter that stands as OFFSET of a subquery below a cut, where no row may be skipped.
type Zero struct{ Number, Position int }

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
	rel      *pg.RangeVar
}

// Setting is SET fugu.Name = Value.
type Setting struct {
	Name, Value string
	Default     bool // SET .. TO DEFAULT, RESET
	Position    int
}

// Parse reads sql, which may hold several statements. What names a protected table and is not understood is an error
// with a position, of all statements the first.
func Parse(sql string, catalog Catalog) ([]*Statement, error) {
	if err := guard(sql); err != nil {
		return nil, err
	}
	parsed, err := pg.Parse(sql)
	if err != nil {
		return nil, syntaxError(sql, err)
	}
	src := &source{sql}
	made := map[string]bool{}
	out := make([]*Statement, 0, len(parsed.Stmts))
	at, characters := 0, 0 // of the statement before
	for _, raw := range parsed.Stmts {
		end := len(sql)
		if raw.StmtLen > 0 {
			end = int(raw.StmtLocation + raw.StmtLen)
		}
		s := &Statement{Text: sql[raw.StmtLocation:end], root: raw, version: parsed.Version, src: src}
		s.place(at, characters)
		at, characters = int(raw.StmtLocation), s.Start
		if err := s.analyse(src, catalog, made); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// place notes where the statement stands in the text. at is an offset before it, behind that number of characters.
func (s *Statement) place(at, characters int) {
	location := int(s.root.StmtLocation)
	s.Start = characters + charPosition(s.src.sql[at:], location-at) - 1
	begin := beginning(s.src.sql, location)
	s.begin = int32(begin)
	s.first = s.Start + charPosition(s.src.sql[location:], begin-location)
}

func (s *Statement) analyse(src *source, catalog Catalog, made map[string]bool) error {
	a := &analysis{src: src, catalog: catalog, stmt: s, taken: map[*pg.RangeVar]bool{}, made: made, target: target(s.root.Stmt)}
	defer a.remember()
	if set := s.root.Stmt.GetVariableSetStmt(); set != nil {
		s.Setting = setting(src, s.root, set)
		return nil
	}
	if show := s.root.Stmt.GetVariableShowStmt(); show != nil {
		s.Show, _ = ownSetting(show.Name)
		return nil
	}
	if err := a.spellOut(); err != nil {
		return err
	}
	if err := a.mask(); err != nil {
		return err
	}
	if err := a.twins(); err != nil {
		return err
	}
	if err := a.unwrapExplain(); err != nil {
		return err
	}
	if a.executes() {
		return a.leftover(s.root.Stmt)
	}
	whole := s.root.Stmt
	if s.Explain != NoExplain || a.named() {
		if err := a.cutAll(); err != nil {
			return err
		}
	}
	if whole.GetPrepareStmt() != nil && len(s.Cuts)+len(s.Virtual) == 0 {
		s.root.Stmt, s.Prepare, s.Params = whole, nil, 0 // its parameters are not the client's
	}
	return nil
}

// cutAll cuts every SELECT that aggregates protected rows, and refuses what then still names a protected table.
func (a *analysis) cutAll() error {
	query, err := a.query()
	if err != nil || query == nil {
		return err
	}
	if err := a.visit(query, nil); err != nil {
		return err
	}
	return a.leftover(a.stmt.root.Stmt)
}

// analysis is the work on one statement.
type analysis struct {
	src     *source
	catalog Catalog
	stmt    *Statement
	taken   map[*pg.RangeVar]bool // references that are accounted for
	target  *pg.RangeVar          // what the statement makes, if it makes a relation
	made    map[string]bool       // what statements before it in the text make, by names without a schema
	rels    int                   // sources of the cut so far
	spelled bool                  // a sampling error is spelled out
}

func (a *analysis) lookup(rv *pg.RangeVar) (Table, bool) {
	// The name of what is made is nobody's yet, and from then on it is its own.
	if rv.Schemaname == "" && (rv == a.target || a.made[rv.Relname]) {
		return Table{}, false
	}
	return a.catalog.Table(rv.Schemaname, rv.Relname)
}

// target is the name that a statement gives to a relation, nil if it makes none.
func target(root *pg.Node) *pg.RangeVar {
	switch x := root.GetNode().(type) {
	case *pg.Node_CreateStmt:
		return x.CreateStmt.Relation
	case *pg.Node_CreateTableAsStmt:
		if x.CreateTableAsStmt.Query.GetExecuteStmt() == nil { // what is executed may have to be paid for first
			return x.CreateTableAsStmt.Into.GetRel()
		}
	case *pg.Node_SelectStmt:
		return x.SelectStmt.IntoClause.GetRel()
	case *pg.Node_ViewStmt:
		return x.ViewStmt.View
	}
	return nil
}

// remember takes note of what the statement makes for those behind it in the text. One that meant the protected table
// after all is refused by the server: the guest has no right on it.
func (a *analysis) remember() {
	if a.target != nil && (a.target.Schemaname == "" || a.target.Schemaname == "pg_temp") {
		a.made[a.target.Relname] = true
	}
}

func (a *analysis) refuse(offset int32, hint, format string, args ...any) error {
	return sqlstate.New(sqlstate.NotAnswerable, format, args...).WithHint("%s", hint).At(a.src.position(offset))
}

// placed gives an error about a relation the place where the statement names it.
func (a *analysis) placed(err error, position int) error {
	var known *sqlstate.Error
	if errors.As(err, &known) {
		return known.At(max(1, position))
	}
	return err
}

// named reports whether the statement refers to any relation that is not ordinary. In a utility statement a bare word
// counts too: DROP TABLE and COMMENT ON hold names as words.
func (a *analysis) named() bool {
	found := false
	utility := false
	switch a.stmt.root.Stmt.GetNode().(type) {
	case *pg.Node_SelectStmt, *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt, *pg.Node_TransactionStmt, *pg.Node_VariableShowStmt:
	default:
		utility = true
	}
	tree.Inspect(a.stmt.root.Stmt, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.RangeVar:
			if _, ok := a.lookup(x); ok && !a.taken[x] {
				found = true
			}
		case *pg.String: // the server refuses what is done to a twin's table
			if t, ok := a.lookup(&pg.RangeVar{Relname: x.Sval}); ok && utility && !t.Twin {
				found = true
			}
		case *pg.ParamRef:
			a.stmt.Params = max(a.stmt.Params, int(x.Number))
		}
		return true
	})
	return found
}

// leftover refuses the first reference that no cut accounts for: the net under everything above.
func (a *analysis) leftover(root *pg.Node) error {
	var err error
	tree.Inspect(root, func(m proto.Message) bool {
		if rv, ok := m.(*pg.RangeVar); ok && err == nil && !a.taken[rv] {
			t, ok := a.lookup(rv)
			if rv == a.target && len(a.stmt.Cuts)+len(a.stmt.Virtual) > 0 { // the server would refuse it, when it is paid for
				t, ok = a.catalog.Table(rv.Schemaname, rv.Relname)
			}
			if ok {
				if t.Virtual {
					err = a.refuse(rv.Location, "It can be read in the FROM clause of a SELECT.", "the virtual table %s cannot be used here", t)
				} else {
					err = a.refuse(rv.Location, cutHint, "the protected table %s cannot be used here", t)
				}
			}
		}
		return err == nil
	})
	if err == nil && a.stmt.Plain != nil && (len(a.stmt.Cuts) > 0 || len(a.stmt.Virtual) > 0 || a.stmt.Explain != NoExplain) {
		err = sqlstate.New(sqlstate.NotAnswerable, "rows of the protected table %s cannot be shown here", a.stmt.Plain.Table).
			WithHint(cutHint).At(a.stmt.Plain.Position)
	}
	return err
}

// unwrapExplain takes EXPLAIN (PRIVACY [, FORMAT TEXT|JSON]) off the statement below it.
func (a *analysis) unwrapExplain() error {
	x := a.stmt.root.Stmt.GetExplainStmt()
	if x == nil {
		return nil
	}
	format, privacy := ExplainText, false
	var other *pg.DefElem
	for _, n := range x.Options {
		d := n.GetDefElem()
		switch strings.ToLower(d.Defname) {
		case "privacy":
			privacy = d.Arg == nil || slices.Contains([]string{"true", "on", "1"}, strings.ToLower(defText(d)))
		case "format":
			switch strings.ToLower(defText(d)) {
			case "json":
				format = ExplainJSON
			case "text":
			default:
				other = d
			}
		default:
			other = d
		}
	}
	if !privacy {
		return nil
	}
	if other != nil {
		return sqlstate.New(sqlstate.FeatureNotSupported, "EXPLAIN (PRIVACY) does not take %s %s", strings.ToUpper(other.Defname), defText(other)).
			WithHint("Write EXPLAIN (PRIVACY) or EXPLAIN (PRIVACY, FORMAT JSON).").At(a.src.position(other.Location))
	}
	a.stmt.Explain = format
	a.stmt.root.Stmt = x.Query
	a.named()
	return nil
}

func defText(d *pg.DefElem) string {
	switch v := d.GetArg().GetNode().(type) {
	case *pg.Node_String_:
		return v.String_.Sval
	case *pg.Node_Boolean:
		if v.Boolean.Boolval {
			return "true"
		}
		return "false"
	case *pg.Node_Integer:
		if v.Integer.Ival == 1 {
			return "1"
		}
	}
	return ""
}

// ownSetting is x of fugu.x, however that is written; other settings' names are "".
func ownSetting(name string) (string, bool) {
	own, ok := strings.CutPrefix(strings.ToLower(name), "fugu.")
	if !ok {
		return "", false
	}
	return own, true
}

// setting reads SET fugu.x; other settings give nil.
func setting(src *source, raw *pg.RawStmt, set *pg.VariableSetStmt) *Setting {
	name, ok := ownSetting(set.Name)
	if !ok {
		return nil
	}
	out := &Setting{Name: name, Default: set.Kind != pg.VariableSetKind_VAR_SET_VALUE, Position: src.position(int32(beginning(src.sql, int(raw.StmtLocation))))}
	var words []string
	for _, n := range set.Args {
		c, err := (&reader{src: src}).constant(n, n.GetAConst())
		if err != nil {
			continue
		}
		words = append(words, c.(Const).Text)
	}
	out.Value = strings.Join(words, ", ")
	return out
}
