package pipeline

import (
	"context"
	"errors"
	"slices"

	"fugu/parser"
	"fugu/sqlstate"
	"fugu/twin/class"
	"fugu/twin/margin"
	"fugu/upstream"
)

// loadClasses has statements on a table's twin know of which class its rows are, as far as its columns tell. What can
// be NULL is not looked up in the protected table: a class that the twin does not have has no rows.
func (t *protected) loadClasses() error {
	spec, err := margin.Spec(t.policy, t.config.Qualified(), func(string) bool { return true })
	if err != nil {
		return err
	}
	if spec.Public != nil {
		t.syntax.Cells = len(spec.Public.Cells)
	}
	kept := slices.DeleteFunc(slices.Clone(t.syntax.Columns), func(name string) bool {
		return slices.Contains(t.config.Twin.Drop, name)
	})
	t.syntax.Classes, err = class.Conditions(spec, kept)
	return err
}

// tryClasses forgets the classes of twins whose rows are not listed, where the conditions of the secrets are none that
// may stand below a cut: the error of a statistic is then bounded without them.
func (s *Snapshot) tryClasses(ctx context.Context, reader *upstream.Reader) {
	e := &Engine{reader: reader}
	e.snapshot.Store(s)
	for _, t := range s.tables {
		if !t.syntax.Aggregates || t.syntax.Classes == nil {
			continue
		}
		sql := "SELECT fugu.sampling_error(count(*)) FROM " + Quoted(t.config.Qualified())
		_, err := (&session{engine: e}).templates(ctx, s, sql, nil)
		var refused *sqlstate.Error
		if errors.As(err, &refused) && refused.Code == sqlstate.NotAnswerable {
			t.syntax.Classes = []parser.Class(nil)
		}
	}
}
