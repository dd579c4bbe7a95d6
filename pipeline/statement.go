package pipeline

import (
	"fugu/parser"
	"fugu/wire"
)

// statement is a template in one session: what wire prepares and binds.
type statement struct {
	template
	session  *session
	snapshot *Snapshot
	found    *statement // that EXECUTE was of, when it was last bound
}

func (s *statement) Text() string { return s.text }

func (s *statement) ClientParams() int { return s.params }

func (s *statement) Ordinary() bool {
	return s.plan == nil && s.plain == nil && !s.masked && !s.show && s.explain == parser.NoExplain
}

// Placed tells where in what the client sent stands what an error of the guest's speaks of.
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
	if !s.masked || !s.session.engine.serves(s.snapshot) {
		return false
	}
	for _, t := range s.twins {
		if !s.session.met[t.Table.String()] {
			return false
		}
	}
	return true
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
