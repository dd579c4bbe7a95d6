package pipeline

import (
	"context"
	"slices"

	"fugu/parser"
	"fugu/sqlstate"
	"fugu/wire"
)

// statement is a template in one session: what wire prepares and binds.
type statement struct {
	*template // all sessions share it, and none writes to it
	session   *session
	snapshot  *Snapshot
	found     *statement // the prepared statement that an EXECUTE ran when it was last bound
}

func (s *statement) Text() string { return s.text }

func (s *statement) ClientParams() int { return s.params }

func (s *statement) Ordinary() bool {
	return s.plan == nil && s.plain == nil && !s.masked && !s.show && s.explain == parser.NoExplain
}

// Placed implements wire.Placer.
func (s *statement) Placed() func(position int32) int32 {
	switch {
	case s.splice != nil:
		return s.splice.At
	case s.masked:
		return s.places.At
	case s.Ordinary() && s.execute == nil && s.start > 0:
		return func(position int32) int32 { return position + s.start }
	}
	return nil
}

func (s *statement) ParamTypes() []uint32 {
	if s.plan == nil || s.prepare || s.probe != "" {
		return s.types
	}
	return s.plan.ParamTypes
}

func (s *statement) Tag() string {
	if s.explain != parser.NoExplain || s.plan != nil && s.plan.Explain != parser.NoExplain {
		return "EXPLAIN"
	}
	if s.show {
		return "SHOW"
	}
	return ""
}

// Relayed implements wire.Relayer.
func (s *statement) Relayed() bool { return s.splice != nil }

// Silent implements wire.Relayer: what is masked needs nothing when it is bound but that the policy is still the same,
// and that the session knows what it is told of.
func (s *statement) Silent() bool {
	return s.masked && s.session.engine.serves(s.snapshot) && s.introduced()
}

// Counted implements wire.Counted.
func (s *statement) Counted() wire.Kind {
	switch {
	case s.found != nil:
		return s.found.Counted()
	case s.policy != nil && s.plan != nil && !s.prepare:
		return wire.Protected
	case len(s.twins) > 0:
		return wire.Twin
	case s.masked:
		return wire.Catalog
	case s.Ordinary() && s.execute == nil:
		return wire.Plain
	}
	return wire.Own
}

var (
	_ wire.Relayer = (*statement)(nil)
	_ wire.Counted = (*statement)(nil)
)

// replan plans a statement anew that was planned under an earlier snapshot: one that is bound while the policies are
// read again, or was prepared before. Where the policies are what they were, and the guest would be sent the same text
// with the same parameters, it is the statement that the client would have by preparing it again, and takes its place.
// Otherwise it is refused: whoever prepared it did so under other rules.
func (s *statement) replan(ctx context.Context) error {
	changed := sqlstate.New(sqlstate.FeatureNotSupported, "the policy or its tables have changed since the statement "+
		"was prepared").
		WithHint("Prepare it again.")
	snap := s.session.engine.snapshot.Load()
	if s.session.engine.closed.Load() || !slices.Equal(snap.fingerprints(), s.snapshot.fingerprints()) {
		return changed
	}
	if err := snap.Admits(s.session.user); err != nil {
		return err
	}

	// What its names mean would have to be asked, where they may mean something else: that is for the client to begin.
	if s.source == "" || s.means != "" || len(s.session.doubtful(ctx, snap, s.source)) > 0 {
		return changed
	}

	templates, err := s.session.planning(snap).templates(ctx, s.source, s.types)
	if err != nil || len(templates) != 1 {
		return changed
	}
	next := &statement{template: &templates[0], session: s.session, snapshot: snap}
	if next.text != s.text || next.params != s.params || !slices.Equal(next.ParamTypes(), s.ParamTypes()) {
		return changed
	}
	if err := s.session.checkAllowed(next.template); err != nil {
		return err
	}
	own := templates[0]
	own.start = s.start // it is of a text that may have held others before it
	s.template, s.snapshot = &own, snap
	return nil
}
