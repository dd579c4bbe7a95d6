package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fugu/model/fitted"
	"fugu/parser"
	"fugu/parser/lex"
	"fugu/planner"
	"fugu/policy"
	"fugu/upstream"
)

// Load reads from the database of the policies, which is the reader's, what they refer to: columns, public domains, and the
// reference's classes. protected are the databases of the server that hold protected tables, in which its own may be:
// sessions of any database see in the catalog what depends on the rows of all. Without policies and protected databases
// it reads nothing, and every statement is ordinary.
func Load(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader, protected ...string) (*Snapshot, error) {
	masks := len(policies) > 0 || len(protected) > 0
	s := &Snapshot{Policies: policies, words: lex.NewWords("fugu"), glance: lex.NewWords(append(lex.PinNames(), "fugu")...),
		Fitted: map[*policy.Policy]*fitted.Artifact{}, declared: map[string]*Declared{}}
	if !masks { // no word is more than another
		s.words, s.glance = lex.NewWords(), lex.NewWords(lex.PinNames()...)
	}
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
			s.Tables = append(s.Tables, pt)
			s.watch(t.Name)
		}
		if err := s.link(p); err != nil {
			return nil, err
		}
		if err := s.loadPlaces(ctx, p, reader); err != nil {
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
	return s, s.loadPublic(ctx, reader)
}

// link joins the tables of a policy that belong together, and sees to it that each has a secret to protect.
func (s *Snapshot) link(p *policy.Policy) error {
	for _, t := range s.Tables {
		if l := t.Config.Link; t.Policy == p && l != nil {
			t.Table.Link = &planner.Link{To: s.Find(l.To.Schema, l.To.Name).Table}
			for _, k := range l.On {
				t.Table.Link.Keys = append(t.Table.Link.Keys, planner.LinkKey(k))
			}
		}
	}
	for _, t := range s.Tables {
		root := t.Table.Root()
		if t.Policy == p && len(root.Secrets) == 0 && !root.Twin {
			return fmt.Errorf("%s:%d:%d: table %s: no secret of the policy speaks of it, so it needs no protection", p.Source, t.Config.At.Line, t.Config.At.Column, t.Table)
		}
		if l := t.Table.Link; t.Policy == p && l != nil {
			for _, k := range l.Keys {
				if !slices.Contains(t.Syntax.Columns, k.Own) || !slices.Contains(s.Find(l.To.Schema, l.To.Name).Syntax.Columns, k.To) {
					return fmt.Errorf("%s:%d:%d: table %s: link: there are no columns %s of it and %s of %s", p.Source, t.Config.At.Line, t.Config.At.Column, t.Table, k.Own, k.To, l.To)
				}
			}
		}
	}
	return nil
}

// loadViews finds the views that read protected tables: a cut can read them as if their query stood there.
func (s *Snapshot) loadViews(ctx context.Context, reader *upstream.Reader) error {
	var names []string
	for _, t := range s.Tables {
		names = append(names, Quoted(t.Config.Qualified()))
	}
	rows, err := reader.Query(ctx, `WITH RECURSIVE views AS (
	    SELECT to_regclass(n)::oid AS oid FROM unnest($1::text[]) AS n
	    UNION SELECT r.ev_class FROM views JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = views.oid AND d.classid = 'pg_rewrite'::regclass
	      JOIN pg_rewrite r ON r.oid = d.objid)
	  SELECT n.nspname, c.relname, pg_get_viewdef(c.oid), a.attname FROM views JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
	    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	  WHERE c.relkind = 'v' ORDER BY c.oid, a.attnum`, [][]byte{textArray(names)}, nil)
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

// namedApart refuses two tables of one name that have twins: the schema of twins has one relation of a name.
func (s *Snapshot) namedApart() error {
	for i, t := range s.Tables {
		for _, o := range s.Tables[:i] {
			if t.Table.Twin && o.Table.Twin && t.Table.Name == o.Table.Name {
				return fmt.Errorf("%s:%d:%d: the tables %s and %s have the same name, and twins of a name are one: rename one of them",
					t.Policy.Source, t.Config.At.Line, t.Config.At.Column, o.Table, t.Table)
			}
		}
	}
	return nil
}
