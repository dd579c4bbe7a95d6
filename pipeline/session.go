package pipeline

import (
	"context"
	"fmt"

	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// session is one client's side of the engine.
type session struct {
	engine  *Engine
	user    string
	guest   *upstream.Guest
	touched bool // the client has named fugu, so its settings may differ from the defaults
	last    []lastRelease
}

func (s *session) Guest() wire.Guest { return s.guest }

func (s *session) Close() { _ = s.guest.Conn().Close() }

// template is one statement of a text as it is planned, for every session alike. Exactly one of plan, plain and ordinary
// text is set.
type template struct {
	text   string
	params int      // of the client's
	types  []uint32 // that the client gave for them
	plan   *planner.Plan
	policy *policy.Policy // of the plan's cuts, or of plain; nil for virtual tables only
	plain  *protected     // a plain SELECT of rows: text reads the reference instead
}

// Interpret decides about one SQL text.
func (s *session) Interpret(ctx context.Context, sql string, paramTypes []uint32) ([]wire.Statement, error) {
	snap := s.engine.snapshot.Load()
	if !snap.mentions(sql) {
		return nil, nil
	}
	s.touched = s.touched || containsFold(sql, "fugu")
	templates, err := s.templates(ctx, snap, sql, paramTypes)
	if err != nil || templates == nil {
		return nil, err
	}
	out := make([]wire.Statement, len(templates))
	for i, t := range templates {
		if t.policy != nil && !t.policy.MayAsk(s.user) {
			return nil, sqlstate.New(sqlstate.NotAllowed, "user %q may not ask about dataset %s", s.user, t.policy.Dataset).
				WithHint("The policy lists the analysts who may.")
		}
		out[i] = &statement{template: t, session: s, snapshot: snap}
	}
	return out, nil
}

// templates parses and plans a text, or finds it in the cache. nil: every statement of it is ordinary.
func (s *session) templates(ctx context.Context, snap *Snapshot, sql string, paramTypes []uint32) ([]template, error) {
	key := fmt.Sprint(paramTypes, sql)
	if ts, ok := snap.plans.Get(key); ok {
		return ts, nil
	}
	statements, err := parser.Parse(sql, snap)
	if err != nil {
		return nil, err
	}
	var out []template
	special := false
	for _, st := range statements {
		if st.Setting != nil {
			if err := checkSetting(st.Setting); err != nil {
				return nil, err
			}
		}
		t, err := s.plan(ctx, snap, st, paramTypes)
		if err != nil {
			return nil, err
		}
		special = special || !st.Ordinary()
		out = append(out, t)
	}
	if !special {
		out = nil
	}
	if len(sql) <= maxCachedText {
		snap.plans.Add(key, out)
	}
	return out, nil
}

func (s *session) plan(ctx context.Context, snap *Snapshot, st *parser.Statement, paramTypes []uint32) (template, error) {
	t := template{text: st.Text, params: max(st.Params, len(paramTypes)), types: paramTypes}
	switch {
	case st.Ordinary():
		return t, nil
	case st.Plain != nil:
		t.plain = snap.find(st.Plain.Table.Schema, st.Plain.Table.Name)
		t.policy = t.plain.policy
		if t.plain.config.PlainRows != policy.ReferenceRows {
			return t, sqlstate.New(sqlstate.NotAnswerable, "rows of the protected table %s are not shown", st.Plain.Table).
				WithHint("Aggregate them: count, sum or avg, with WHERE and GROUP BY. The policy's plain_rows can offer reference rows instead.").At(st.Plain.Position)
		}
		var err error
		t.text, err = st.RewritePlain(t.plain.reference.Schema, t.plain.reference.Name)
		return t, err
	}
	for _, c := range st.Cuts {
		p := snap.find(c.Table.Schema, c.Table.Name).policy
		if t.policy != nil && t.policy != p {
			return t, sqlstate.New(sqlstate.NotAnswerable, "one statement cannot read the datasets %s and %s together", t.policy.Dataset, p.Dataset).
				WithHint("Ask about each in a statement of its own.").At(c.Position)
		}
		t.policy = p
	}
	var err error
	if t.plan, err = planner.New(ctx, st, snap, s.engine.reader, paramTypes); err != nil {
		return t, err
	}
	t.text = t.plan.SQL
	return t, nil
}

// statement is a template in one session: what wire prepares and binds.
type statement struct {
	template
	session  *session
	snapshot *Snapshot
}

func (s *statement) Text() string { return s.text }

func (s *statement) ClientParams() int { return s.params }

func (s *statement) Ordinary() bool { return s.plan == nil && s.plain == nil }

func (s *statement) ParamTypes() []uint32 {
	if s.plan == nil {
		return s.types
	}
	return s.plan.ParamTypes
}

func (s *statement) Tag() string {
	if s.plan != nil && s.plan.Explain != parser.NoExplain {
		return "EXPLAIN"
	}
	return ""
}
