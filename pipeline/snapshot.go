package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/model"
	"fugu/model/fitted"
	"fugu/parser"
	"fugu/parser/lex"
	"fugu/parser/shadow"
	"fugu/planner"
	"fugu/policy"
	"fugu/upstream"
)

// Sizes of the caches. What is in them depends on texts, parameters and policy only; what does not fit is worked out anew
// each time, so that no choice of statements takes more memory.
const (
	planEntries     = 4096
	planBytes       = 64 << 20
	measuredEntries = 256
	measuredBytes   = 64 << 20
)

// Snapshot is everything that the policies and the catalog say, at one time.
type Snapshot struct {
	policies []*policy.Policy
	apart    []*policy.Policy // of tables that are elsewhere, whose twins are here under the same names: see LoadApart
	tables   []*protected
	views    []parser.Table // over protected tables
	words    *lex.Words     // a text with none of them is ordinary
	glance   *lex.Words     // those, and the words that change a pinned setting
	shadows  *shadow.Shadows
	listing  *shadow.Introspection
	hidden   *shadow.Hidden
	plans    *cache[planKey, []template]
	shapes   *cache[planKey, shape]
	planned  atomic.Uint64 // the serial of the template that was planned last
	recalled *cache[recalledBy, recalled]
	measured *cache[ledger.Key, *measured]
	declared map[string]*declared                // by cutKey
	fitted   map[*policy.Policy]*fitted.Artifact // what fugu fit has prepared, where it holds
	accounts map[*policy.Policy]*account         // of policies that have a joint one
}

// protected is one protected table with all that belongs to it.
type protected struct {
	policy    *policy.Policy
	config    policy.Table
	table     *planner.Table
	syntax    parser.Table
	psi       []model.Psi    // of table.Secrets, in order
	totals    []model.Totals // likewise
	reference policy.QualifiedName
	public    *published    // nil: nothing
	places    *model.Places // of a policy with a joint account
	ties      []model.Tie   // between its secrets, over the reference
	network   *network      // of secrets that are parameters; nil: none is

	numberMu sync.Mutex
	number   *model.Places // of an account of covariances, once it is needed

	outsideMu sync.Mutex
	outsideOf map[string]float64 // by column, as outside counts it
}

// Load reads from the database of the policies, which is the reader's, what they refer to: columns, public domains, and the
// reference's classes. protected are the databases of the server that hold protected tables, in which its own may be:
// sessions of any database see in the catalog what depends on the rows of all. Without policies and protected databases
// it reads nothing, and every statement is ordinary.
func Load(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader, protected ...string) (*Snapshot, error) {
	masks := len(policies) > 0 || len(protected) > 0
	s := &Snapshot{policies: policies, words: lex.NewWords("fugu"), glance: lex.NewWords(append(lex.PinNames(), "fugu")...), fitted: map[*policy.Policy]*fitted.Artifact{}, accounts: map[*policy.Policy]*account{}, declared: map[string]*declared{}}
	s.plans = newCache[planKey, []template](planEntries, planBytes)
	s.shapes = newCache[planKey, shape](shapeEntries, shapeMemory)
	if !masks { // no word is more than another
		s.words, s.glance = lex.NewWords(), lex.NewWords(lex.PinNames()...)
	}
	s.recalled = newCache[recalledBy, recalled](recalledEntries, recalledBytes)
	s.measured = newCache[ledger.Key, *measured](measuredEntries, measuredBytes)
	for _, p := range policies {
		if p.Database != policies[0].Database {
			return nil, fmt.Errorf("the policies of %s and %s are of different databases", policies[0].Dataset, p.Dataset)
		}
		for _, t := range p.Tables {
			pt, err := loadTable(ctx, p, t, reader)
			if findings := (policy.Findings)(nil); errors.As(err, &findings) { // they say where they are
				return nil, err
			} else if err != nil {
				return nil, fmt.Errorf("%s:%d:%d: table %s: %w", p.Source, t.At.Line, t.At.Column, t.Qualified(), err)
			}
			s.tables = append(s.tables, pt)
			s.watch(t.Name)
		}
		if err := s.link(p); err != nil {
			return nil, err
		}
		if err := s.loadAccount(ctx, p, reader); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Source, err)
		}
	}
	if !masks {
		return s, nil
	}
	if err := s.namedApart(); err != nil {
		return nil, err
	}
	if err := s.loadShadows(ctx, reader, protected); err != nil {
		return nil, err
	}
	if err := s.loadViews(ctx, reader); err != nil {
		return nil, err
	}
	if err := s.loadIntrospection(ctx, reader); err != nil {
		return nil, err
	}
	if err := s.loadHidden(ctx, reader); err != nil {
		return nil, err
	}
	if err := s.loadDeclared(ctx, reader); err != nil {
		return nil, err
	}
	s.tryClasses(ctx, reader)
	return s, s.loadPublic(ctx, reader)
}

// link joins the tables of a policy that belong together, and sees to it that each has a secret to protect.
func (s *Snapshot) link(p *policy.Policy) error {
	for _, t := range s.tables {
		if l := t.config.Link; t.policy == p && l != nil {
			t.table.Link = &planner.Link{To: s.find(l.To.Schema, l.To.Name).table}
			for _, k := range l.On {
				t.table.Link.Keys = append(t.table.Link.Keys, planner.LinkKey(k))
			}
		}
	}
	for _, t := range s.tables {
		root := t.table.Root()
		if t.policy == p && len(root.Secrets) == 0 && !root.Twin {
			return fmt.Errorf("%s:%d:%d: table %s: no secret of the policy speaks of it, so it needs no protection", p.Source, t.config.At.Line, t.config.At.Column, t.table)
		}
		if l := t.table.Link; t.policy == p && l != nil {
			for _, k := range l.Keys {
				if !slices.Contains(t.syntax.Columns, k.Own) || !slices.Contains(s.find(l.To.Schema, l.To.Name).syntax.Columns, k.To) {
					return fmt.Errorf("%s:%d:%d: table %s: link: there are no columns %s of it and %s of %s", p.Source, t.config.At.Line, t.config.At.Column, t.table, k.Own, k.To, l.To)
				}
			}
		}
	}
	return nil
}

// loadViews finds the views that read protected tables: a cut can read them as if their query stood there.
func (s *Snapshot) loadViews(ctx context.Context, reader *upstream.Reader) error {
	var names []planner.Value
	for _, t := range s.tables {
		names = append(names, text(Quoted(t.config.Qualified())))
	}
	rows, err := reader.Query(ctx, `WITH RECURSIVE views AS (
	    SELECT to_regclass(n)::oid AS oid FROM unnest($1::text[]) AS n
	    UNION SELECT r.ev_class FROM views JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = views.oid AND d.classid = 'pg_rewrite'::regclass
	      JOIN pg_rewrite r ON r.oid = d.objid)
	  SELECT n.nspname, c.relname, pg_get_viewdef(c.oid), a.attname FROM views JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
	    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	  WHERE c.relkind = 'v' ORDER BY c.oid, a.attnum`, [][]byte{planner.Array(names)}, nil)
	if err != nil {
		return fmt.Errorf("reading the views over protected tables: %w", err)
	}
	for _, r := range rows {
		v := parser.Table{Schema: r[0].Text, Name: r[1].Text, View: r[2].Text}
		if n := len(s.views); n == 0 || s.views[n-1].String() != v.String() {
			s.views = append(s.views, v)
			s.watch(v.Name)
		}
		last := &s.views[len(s.views)-1]
		last.Columns = append(last.Columns, r[3].Text)
	}
	return nil
}

func loadTable(ctx context.Context, p *policy.Policy, t policy.Table, reader *upstream.Reader) (*protected, error) {
	pt := &protected{policy: p, config: t, reference: t.Reference, table: &planner.Table{
		Schema: t.Schema, Name: t.Name, Rows: t.Rows,
		Domains: map[string][]planner.Value{}, Calendars: map[string]planner.Calendar{}, Bounds: map[string][2]string{}}}
	if pt.table.Twin = t.Answers == policy.FromTwin; pt.table.Twin {
		return pt, pt.loadTwin(ctx, reader)
	}
	if t.Reference.Name != "" {
		pt.table.Reference = Quoted(t.Reference)
	}
	if hook.ModelFromData {
		pt.table.Reference = Quoted(t.Qualified())
	}
	columns, err := loadColumns(ctx, reader, Quoted(t.Qualified()))
	if err != nil {
		return nil, err
	}
	if err := sameColumns(ctx, reader, t); err != nil {
		return nil, err
	}
	pt.table.Columns = columns
	pt.syntax = parser.Table{Schema: t.Schema, Name: t.Name}
	for _, c := range columns {
		pt.syntax.Columns = append(pt.syntax.Columns, c.Name)
	}
	for _, d := range t.GroupBy {
		if d.Dates != nil {
			if err := loadDates(ctx, reader, pt.table, d); err != nil {
				return nil, fmt.Errorf("group_by %s: %w", d.Column, err)
			}
			continue
		}
		values, err := loadDomain(ctx, reader, pt.table, d)
		if err != nil {
			return nil, fmt.Errorf("group_by %s: %w", d.Column, err)
		}
		pt.table.Domains[d.Column] = values
		if d.Range != nil {
			pt.table.Bounds[d.Column] = [2]string{strconv.FormatInt(d.Range.From, 10), strconv.FormatInt(d.Range.To, 10)}
		}
	}
	for _, sec := range p.Secrets {
		if sec.Table != t.Qualified() {
			continue
		}
		secret, psi, err := pt.secret(ctx, reader, sec)
		if err != nil {
			return nil, fmt.Errorf("secret %s (line %d): %w", sec.Name, sec.PropertyAt.Line, err)
		}
		pt.table.Secrets, pt.psi = append(pt.table.Secrets, secret), append(pt.psi, psi)
	}
	if err := pt.loadNetwork(); err != nil {
		return nil, err
	}
	if len(pt.table.Secrets) == 0 || pt.table.Reference == "" {
		return pt, nil
	}
	if pt.totals, err = model.CountClasses(ctx, reader, pt.table); err != nil {
		return nil, err
	}
	if pt.ties, err = pt.compare(ctx, reader); err != nil {
		return nil, err
	}
	for i, psi := range pt.psi {
		if err := psi.Check(pt.totals[i], t.Rows); err != nil {
			return nil, err
		}
	}
	return pt, nil
}

// loadTwin reads the columns of a table that is answered from its twin: statements are parsed with them. Nothing else of it
// is read, as no statistic of it is asked.
func (t *protected) loadTwin(ctx context.Context, reader *upstream.Reader) (err error) {
	t.table.Columns, err = loadColumns(ctx, reader, Quoted(t.config.Qualified()))
	t.syntax = parser.Table{Schema: t.config.Schema, Name: t.config.Name, Twin: true, Linked: t.config.Link != nil}
	if w := t.config.Twin; w.Rows == policy.Aggregate {
		t.table.AtLeast, t.syntax.Aggregates = w.AtLeast, true
		t.table.Columns = slices.DeleteFunc(t.table.Columns, func(c planner.Column) bool { return slices.Contains(w.Drop, c.Name) })
	}
	for _, c := range t.table.Columns {
		t.syntax.Columns = append(t.syntax.Columns, c.Name)
	}
	t.reference = policy.QualifiedName{}
	if err == nil && !t.syntax.Linked {
		err = t.loadClasses()
	}
	return err
}

// loadDomain lists the public values of a column, in the text form that PostgreSQL gives them.
func loadDomain(ctx context.Context, reader *upstream.Reader, t *planner.Table, d policy.Domain) ([]planner.Value, error) {
	typ, err := typeOf(t, d.Column)
	if err != nil {
		return nil, err
	}
	var sql string
	var params [][]byte
	if d.FromReference {
		col := "t." + parser.QuoteIdent(d.Column)
		sql = "SELECT " + col + "::text FROM " + t.Reference + " AS t GROUP BY " + col + " ORDER BY " + col
	} else {
		var values []planner.Value
		for _, v := range d.Values {
			values = append(values, planner.Value{Text: v.Text, Null: v.IsNull})
		}
		if d.Range != nil {
			for i := d.Range.From; i <= d.Range.To; i++ {
				values = append(values, planner.Value{Text: strconv.FormatInt(i, 10)})
			}
		}
		sql = "SELECT v::" + typ + "::text FROM unnest($1::text[]) WITH ORDINALITY AS u(v, i) ORDER BY i"
		params = [][]byte{planner.Array(values)}
	}
	rows, err := reader.Query(ctx, sql, params, nil)
	if err != nil {
		return nil, fmt.Errorf("listing its values as %s: %w", typ, err)
	}
	seen := map[planner.Value]bool{}
	var out []planner.Value
	for _, r := range rows {
		if seen[r[0]] {
			return nil, fmt.Errorf("the value %q comes twice", r[0].Text)
		}
		seen[r[0]] = true
		out = append(out, r[0])
	}
	return out, nil
}

// Quoted writes a qualified name as SQL.
func Quoted(n policy.QualifiedName) string {
	return parser.QuoteIdent(n.Schema) + "." + parser.QuoteIdent(n.Name)
}

// Table finds a relation that is not ordinary. A name without a schema is a protected table's if any has that name; what
// else it may mean in a session, catalog.Table knows.
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
	if t := s.find(schema, name); t != nil {
		return t.syntax, true
	}
	for _, v := range s.views {
		if v.Name == name && (schema == "" || v.Schema == schema) {
			return v, true
		}
	}
	return parser.Table{}, false
}

func (s *Snapshot) find(schema, name string) *protected {
	for _, t := range s.tables {
		if t.table.Name == name && (schema == "" || t.table.Schema == schema || schema == parser.TwinSchema && t.table.AtLeast > 0) {
			return t
		}
	}
	return nil
}

// protected lists the protected tables of all policies.
func (s *Snapshot) protected() (out []upstream.Protected) {
	for _, t := range s.tables {
		out = append(out, upstream.Protected{Schema: t.table.Schema, Name: t.table.Name})
	}
	return out
}

// Protected is the planner's view of a protected table.
func (s *Snapshot) Protected(schema, name string) (*planner.Table, bool) {
	if t := s.find(schema, name); t != nil {
		return t.table, true
	}
	return nil, false
}

// VirtualTable is the planner's view of one of Fugu's own tables.
func (s *Snapshot) VirtualTable(name string) (planner.VirtualTable, bool) {
	v, ok := virtualTables[name]
	if s.apart != nil { // they are in the database, as far as there are any
		return planner.VirtualTable{}, false
	}
	return planner.VirtualTable{Name: name, Columns: v}, ok
}

// watch takes a name that makes a text more than ordinary.
func (s *Snapshot) watch(name string) {
	s.words.Add(name)
	s.glance.Add(name)
}

// plainly reports that a text is ordinary, by the first look at its words: it is all that most statements pay.
func (s *Snapshot) plainly(sql string) bool { return !s.glance.In(sql) && !s.shadows.Touches(sql) }

// mentions reports whether a text holds any word that could make it ask for protected data or for what shows it.
func (s *Snapshot) mentions(sql string) bool { return s.words.In(sql) || s.shadows.Touches(sql) }
