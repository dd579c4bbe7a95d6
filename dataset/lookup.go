package dataset

import (
	"slices"
	"strings"

	"fugu/parser"
	"fugu/parser/lex"
	"fugu/planner"
	"fugu/policy"
	"fugu/upstream"
)

// Table finds a relation that is not ordinary. A name without a schema is a protected table's if any has that name;
// what else it may mean in a session, Catalog.Table knows.
func (s *Snapshot) Table(schema, name string) (parser.Table, bool) {
	if schema == "fugu" {
		if v, ok := s.VirtualTable(name); ok {
			t := parser.Table{Schema: schema, Name: name, Virtual: true}
			for _, c := range v.Columns {
				t.Columns = append(t.Columns, c.Name)
			}
			return t, true
		}
	}
	if t := s.Find(schema, name); t != nil {
		return t.Syntax, true
	}
	for _, v := range s.views {
		if v.Name == name && (schema == "" || v.Schema == schema) {
			return v, true
		}
	}
	return parser.Table{}, false
}

// Find is the protected table of that name, of any schema if that is empty; nil: there is none.
func (s *Snapshot) Find(schema, name string) *Protected {
	for _, t := range s.Tables {
		asTwin := schema == parser.TwinSchema && t.Table.AtLeast > 0
		if t.Table.Name == name && (schema == "" || t.Table.Schema == schema || asTwin) {
			return t
		}
	}
	return nil
}

// ProtectedTables lists the protected tables of all policies.
func (s *Snapshot) ProtectedTables() (out []upstream.Protected) {
	for _, t := range s.Tables {
		out = append(out, upstream.Protected{Schema: t.Table.Schema, Name: t.Table.Name})
	}
	return out
}

// Protected is the planner's view of a protected table.
func (s *Snapshot) Protected(schema, name string) (*planner.Table, bool) {
	if t := s.Find(schema, name); t != nil {
		return t.Table, true
	}
	return nil, false
}

// VirtualTable is the planner's view of one of Fugu's own tables.
func (s *Snapshot) VirtualTable(name string) (planner.VirtualTable, bool) {
	v, ok := virtualTables[name]
	if s.Apart != nil { // they are in the database, as far as there are any
		return planner.VirtualTable{}, false
	}
	return planner.VirtualTable{Name: name, Columns: v}, ok
}

// watch takes a name that makes a text more than ordinary.
func (s *Snapshot) watch(name string) {
	s.words.Add(name)
	s.glance.Add(name)
}

// Plain reports that a text is ordinary, by the first look at its words: it is all that most statements pay.
func (s *Snapshot) Plain(sql string) bool { return !s.glance.In(sql) && !s.Masks.Touches(sql) }

// Mentions reports whether a text holds any word that could make it ask for protected data or for what shows it.
func (s *Snapshot) Mentions(sql string) bool { return s.words.In(sql) || s.Masks.Touches(sql) }

// Names reports whether a text holds a name of what is protected, or of Fugu's own.
func (s *Snapshot) Names(sql string) bool { return s.words.In(sql) }

var _ parser.Twinner = (*Snapshot)(nil)

// Twin finds the table of which a name means the twin: the table's, or the twin's own. A twin whose rows are not listed
// no name means: the guest cannot read it, and statements that aggregate it are cut as those on noise are.
func (s *Snapshot) Twin(schema, name string) (parser.Table, bool) {
	for _, t := range s.Tables {
		listed := t.Table.Twin && t.Table.AtLeast == 0
		if listed && t.Table.Name == name && slices.Contains([]string{"", t.Table.Schema, parser.TwinSchema}, schema) {
			return t.Syntax, true
		}
	}
	return parser.Table{}, false
}

// BareNames are the names by which a statement can mean what is protected without saying a schema.
func (s *Snapshot) BareNames() (names []string) {
	for _, t := range s.Tables {
		names = append(names, t.Table.Name)
	}
	for _, v := range s.views {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// DatasetOf is the one whose tables a text names, empty if it is none or several.
func (s *Snapshot) DatasetOf(sql string) string {
	name := ""
	for _, t := range s.Tables {
		if t.Policy.Dataset == name || !lex.NewWords(t.Config.Name).In(sql) {
			continue
		}
		if name != "" {
			return ""
		}
		name = t.Policy.Dataset
	}
	return name
}

// virtualTables are the columns of the tables in the schema fugu.
var virtualTables = map[string][]planner.Column{
	"budget": columns("dataset text, scope text, secret text, epsilon_total float8, epsilon_spent float8, " +
		"epsilon_left float8, delta_total float8, releases int8, epoch int8, period int8"),
	"last_release": columns("statement_id int8, column_name text, group_key text, mechanism text, assumption text, " +
		"noise_sd float8, lower float8, upper float8, epsilon float8, delta float8, secret text, " +
		"delta_reached float8, binding_pair text, epsilon_estimation float8, epsilon_asked float8"),
	"estimate": columns("statement_id int8, column_name text, group_key text, mean float8, sd float8, lower float8, " +
		"upper float8, basis text, answers int8"),
	"noise_law": columns("statement_id int8, column_name text, group_key text, source text, law text, scale float8, " +
		"along float8, variance float8"),
	"releases": columns("statement_id int8, dataset text, at timestamptz, mechanism text, assumption text, " +
		"epsilon float8, delta float8, failed bool, epsilon_charged float8"),
	"twin": columns("dataset text, table_name text, built timestamptz, rows int8, sampled int8, class text, " +
		"told int8, taken int8, count_error float8, epsilon float8, delta float8, assumption text, at_least int8, " +
		"told_error float8"),
	"channel": columns("dataset text, table_name text, column_name text, outcome text, from_value text, " +
		"to_value text, probability float8"),
	"policy": columns("dataset text, table_name text, secret text, proportion text, \"from\" float8, " +
		"\"to\" float8, \"within\" float8"),
}

func columns(list string) []planner.Column {
	var out []planner.Column
	for _, c := range strings.Split(list, ", ") {
		name, typ, _ := strings.Cut(c, " ")
		out = append(out, planner.Column{Name: strings.Trim(name, `"`), Type: "pg_catalog." + typ})
	}
	return out
}

// Quoted writes a qualified name as SQL.
func Quoted(n policy.QualifiedName) string {
	return parser.QuoteIdent(n.Schema) + "." + parser.QuoteIdent(n.Name)
}
