package pipeline

import (
	"context"
	"errors"

	"fugu/dataset"
	"fugu/parser"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/twin/told"
	"fugu/upstream"
)

// Load is dataset.Load, with joint accounts that have no answer yet.
func Load(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader,
	protected ...string) (*Snapshot, error) {
	loaded, err := dataset.Load(ctx, policies, reader, protected...)
	if err != nil {
		return nil, err
	}
	s, err := newSnapshot(loaded, policies)
	if err != nil {
		return nil, err
	}
	s.tryClasses(ctx, reader)
	return s, nil
}

// LoadApart is dataset.LoadApart.
func LoadApart(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader,
	protected ...string) (*Snapshot, error) {
	loaded, err := dataset.LoadApart(ctx, policies, reader, protected...)
	if err != nil {
		return nil, err
	}
	return newSnapshot(loaded, nil)
}

// tryClasses forgets the classes of twins whose rows are not listed, where the conditions of the secrets are none that
// may stand below a cut: the error of a statistic is then bounded without them.
func (s *Snapshot) tryClasses(ctx context.Context, reader *upstream.Reader) {
	p := planning{Snapshot: s, reader: reader, built: &told.Built{}}
	for _, t := range s.Tables {
		if !t.Syntax.Aggregates || t.Syntax.Classes == nil {
			continue
		}
		sql := "SELECT fugu.sampling_error(count(*)) FROM " + dataset.Quoted(t.Config.Qualified())
		_, err := p.templates(ctx, sql, nil)
		var refused *sqlstate.Error
		if errors.As(err, &refused) && refused.Code == sqlstate.NotAnswerable {
			t.Syntax.Classes = []parser.Class(nil)
		}
	}
}
