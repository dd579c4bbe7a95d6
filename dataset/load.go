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

// Load reads from the database of the policies, which is the reader's, what they refer to: columns, public domains, and
// the reference's classes. protected are the databases of the server that hold protected tables, in which its own may
// be: sessions of any database see in the catalog what depends on the rows of all. Without policies and protected
// databases it reads nothing, and every statement is ordinary.
func Load(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader, protected ...string) (*Snapshot,
	error) {
	s := &Snapshot{Policies: policies, Fitted: map[*policy.Policy]*fitted.Artifact{}, declared: map[string]*Declared{},
		words: lex.NewWords(), glance: lex.NewWords(lex.PinNames()...)}
	if len(policies) == 0 && len(protected) == 0 { // no word is more than another
		return s, nil
	}
	s.watch("fugu")

	// EXPLAIN (PRIVACY) is Fugu's, whatever it is asked of, and so are the calls that ask for an error.
	s.watch("privacy")
	for _, name := range parser.Spreads() {
		s.watch(name)
	}
	for _, p := range policies {
		if p.Database != policies[0].Database {
			return nil, fmt.Errorf("the policies of %s and %s are for different databases",
				policies[0].Dataset, p.Dataset)
		}
		if err := s.loadPolicy(ctx, p, reader); err != nil {
			return nil, err
		}
	}
	if err := s.namedApart(); err != nil {
		return nil, err
	}

	// What is shown of the tables: views over them are found before what lists both.
	tables, err := s.shadowRoots(ctx, reader)
	if err != nil {
		return nil, err
	}
	if err := s.identify(ctx, reader, tables); err != nil {
		return nil, err
	}
	if err := s.loadShadows(ctx, reader, tables, protected); err != nil {
		return nil, err
	}
	if err := s.loadViews(ctx, reader); err != nil {
		return nil, err
	}
	if err := s.loadIntrospection(ctx, reader, tables); err != nil {
		return nil, err
	}
	// Lists show the whole table, and its partitions are no tables of their own there.
	if err := s.loadPartitions(ctx, reader); err != nil {
		return nil, err
	}
	if err := s.loadHidden(ctx, reader); err != nil {
		return nil, err
	}

	// Statements of the policies are planned as anybody's, by all of the above.
	if err := s.loadDeclared(ctx, reader); err != nil {
		return nil, err
	}
	return s, s.loadPublic(ctx, reader)
}

// loadPolicy reads the tables of one policy.
func (s *Snapshot) loadPolicy(ctx context.Context, p *policy.Policy, reader *upstream.Reader) error {
	for _, t := range p.Tables {
		loaded, err := loadTable(ctx, p, t, reader)
		if findings := (policy.Findings)(nil); errors.As(err, &findings) { // they say where they are
			return err
		} else if err != nil {
			return p.Misfit(t.At, "table %s: %w", t.Qualified(), err)
		}
		s.Tables = append(s.Tables, loaded)
		s.watch(t.Name)
	}
	if err := s.link(p); err != nil {
		return err
	}
	if err := s.loadPlaces(ctx, p, reader); err != nil {
		return fmt.Errorf("%s: %w", p.Source, err)
	}
	return nil
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

	s.linkSyntax(p)

	// A root is known once all of the policy's tables are linked.
	for _, t := range s.Tables {
		if t.Policy != p {
			continue
		}
		if root := t.Table.Root(); len(root.Secrets) == 0 && !root.Twin {
			return p.Misfit(t.Config.At, "table %s: no secret of the policy speaks of it, so it needs no protection",
				t.Table)
		}
		if t.Table.Link == nil {
			continue
		}
		to := t.Config.Link.To
		own, theirs := t.known(), s.Find(to.Schema, to.Name).known()
		for _, k := range t.Table.Link.Keys {
			if !slices.Contains(own, k.Own) || !slices.Contains(theirs, k.To) {
				return p.Misfit(t.Config.At, "table %s: link: there are no columns %s of it and %s of %s", t.Table,
					k.Own, k.To, to)
			}
		}
	}
	return nil
}

// linkSyntax has statements on twins know whose rows those of a linked table go with, as far as the twins show it: of
// the table that a link leads to, its twin has to list rows with the columns of the link.
func (s *Snapshot) linkSyntax(p *policy.Policy) {
	shows := func(t *Protected, column string) bool { return !slices.Contains(t.Config.Twin.Drop, column) }
	for _, t := range s.Tables {
		l := t.Config.Link
		if t.Policy != p || l == nil || !t.Syntax.Twin {
			continue
		}
		to := s.Find(l.To.Schema, l.To.Name)
		link := &parser.Link{To: &to.Syntax}
		for _, k := range l.On {
			if shows(t, k.Own) && shows(to, k.To) {
				link.Own, link.Onto = append(link.Own, k.Own), append(link.Onto, k.To)
			}
		}
		if len(link.Own) == len(l.On) && !to.Syntax.Aggregates {
			t.Syntax.Link = link
		}
	}
}

// namedApart refuses two tables of one name that have twins: the schema of twins has one relation of a name.
func (s *Snapshot) namedApart() error {
	for i, t := range s.Tables {
		for _, o := range s.Tables[:i] {
			if t.Table.Twin && o.Table.Twin && t.Table.Name == o.Table.Name {
				return t.Policy.Misfit(t.Config.At, "the tables %s and %s have the same name, and twins of a name "+
					"are one: rename one of them", o.Table, t.Table)
			}
		}
	}
	return nil
}
