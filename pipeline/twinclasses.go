package pipeline

import (
	"context"
	"errors"

	"fugu/dataset"
	"fugu/parser"
	"fugu/sqlstate"
	"fugu/upstream"
)

// tryClasses forgets the classes of twins whose rows are not listed, where the conditions of the secrets are none that
// may stand below a cut: the error of a statistic is then bounded without them.
func (s *Snapshot) tryClasses(ctx context.Context, reader *upstream.Reader) {
	e := &Engine{reader: reader}
	e.snapshot.Store(s)
	for _, t := range s.Tables {
		if !t.Syntax.Aggregates || t.Syntax.Classes == nil {
			continue
		}
		sql := "SELECT fugu.sampling_error(count(*)) FROM " + dataset.Quoted(t.Config.Qualified())
		_, err := (&session{engine: e}).templates(ctx, s, sql, nil)
		var refused *sqlstate.Error
		if errors.As(err, &refused) && refused.Code == sqlstate.NotAnswerable {
			t.Syntax.Classes = []parser.Class(nil)
		}
	}
}
