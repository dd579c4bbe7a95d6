package pipeline

import (
	"context"
	"slices"

	"fugu/dataset"
	"fugu/internal/trace"
	"fugu/parser"
	"fugu/parser/lex"
	"fugu/parser/shadow"
	"fugu/planner"
	"fugu/twin/told"
	"fugu/upstream"
)

// planning is what the plan of a text depends on besides the text.
type planning struct {
	*Snapshot
	reader   *upstream.Reader
	built    *told.Built
	means    dataset.Meanings // of the names in the text
	prepared bool             // an EXECUTE in it may be more than ordinary
}

// templates returns how each statement of a text is answered: as it was decided before, or by parsing and planning it
// now. nil: every statement of it is ordinary.
func (p planning) templates(ctx context.Context, sql string, paramTypes []uint32) (out []template, err error) {
	snap := p.Snapshot
	key := newPlanKey(sql, paramTypes)
	key.means = p.means.Key()
	if ts, ok := snap.plans.Get(key); ok {
		return ts, nil
	}
	if t, ok := snap.reshaped(key, paramTypes); ok {
		return []template{t}, nil
	}

	// What only asks the catalog for what there is can go to the server as it is, if it cannot be rewritten.
	harmless := !snap.Names(sql) && !snap.Shadows().Mentions(sql)
	if harmless && !p.prepared && !shadow.Introspects(sql) && !lex.ContainsFold(sql, "execute") {
		snap.plans.Add(key, nil, key.size())
		return nil, nil
	}
	ctx, span := trace.Begin(ctx, trace.Interpret)
	defer span.End(&err)
	parsing, part := trace.Begin(ctx, trace.Parse)
	statements, err := parser.Parse(sql, snap.Catalog(parsing, p.reader, p.means))
	part.End(&err)
	if harmless && err != nil {
		return nil, nil // the server says what is wrong with it
	}
	if err != nil {
		return nil, err
	}
	return p.planAll(ctx, key, statements, paramTypes, harmless)
}

// planAll plans the statements of a text, and remembers how. If a harmless one cannot be planned, the text is ordinary.
func (p planning) planAll(ctx context.Context, key planKey, statements []*parser.Statement, paramTypes []uint32,
	harmless bool) (out []template, err error) {
	remember := func() { p.plans.Add(key, out, key.size()+templatesSize(out)) }

	// The least that there may be to do is to change names where they stand.
	if t, ok, err := p.renamed(ctx, key, statements, paramTypes); err != nil {
		return nil, err
	} else if ok {
		out = []template{t}
		remember()
		return out, nil
	}

	for _, st := range statements {
		if st.Setting != nil {
			if err := checkSetting(st.Setting); err != nil {
				return nil, err
			}
		}
		t, err := p.plan(ctx, st, paramTypes)
		if harmless && err != nil {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	if !slices.ContainsFunc(statements, func(st *parser.Statement) bool { return !st.Ordinary() }) {
		out = nil
	}
	p.sign(out, statements, key.means)

	// What ordinary tables look like can change at any time, so that a plan which reads one is made anew each time.
	if !slices.ContainsFunc(out, func(t template) bool { return t.plan != nil && len(t.plan.Ordinary()) > 0 }) {
		remember()
	}
	return out, nil
}

// sign gives templates that are more than the client's text what tells them from all others.
func (p planning) sign(templates []template, statements []*parser.Statement, means string) {
	for i := range templates {
		if st, t := statements[i], &templates[i]; !st.Ordinary() {
			t.fingerprint, t.serial = parser.Fingerprint(st.Text), p.planned.Add(1)
			t.source, t.means = st.Text, means
		}
	}
}

// plan decides how one statement is answered.
func (p planning) plan(ctx context.Context, st *parser.Statement, paramTypes []uint32) (t template, err error) {
	ctx, span := trace.Begin(ctx, trace.Plan)
	defer span.End(&err)
	snap := p.Snapshot

	// Whatever a statement is, the session is told of the twins in it.
	t = template{text: st.Text, params: max(st.Params, len(paramTypes)), types: paramTypes, start: int32(st.Start)}
	if t.twins, err = p.built.Tables(ctx, p.reader, snap.Snapshot, st.TwinsRead()); err != nil {
		return t, err
	}

	// What asks nothing of protected rows is settled without a plan: by its kind, in this order.
	switch {
	case st.Ordinary():
		return t, nil
	case st.Show != "":
		if sql, ok := showSQL(st.Show, snap.Policies); ok { // otherwise the server has not got it either
			t.text, t.show = sql, true
		}
		return t, nil
	case st.Masked && len(st.Cuts)+len(st.Virtual) == 0 && st.Plain == nil && st.Explain == parser.NoExplain:
		t.masked = true
		t.text, t.places, err = st.RewriteShadows()
		return t, err
	case st.Execute != nil:
		t.execute, t.explain, t.noData, t.params = st.Execute, st.Explain, st.NoData, len(paramTypes)
		if t.explain != parser.NoExplain {
			t.text = planner.ExplainSQL(t.explain, 1)
		}
		return t, nil
	case st.Plain != nil:
		return p.planPlain(st, t)
	}

	// What is left aggregates protected rows, at the cost of one dataset.
	if t.policy, err = snap.PolicyOf(st); err != nil {
		return t, err
	}
	if st.Prepare != nil {
		return p.planPrepare(ctx, st, t)
	}
	if t.plan, err = planner.New(ctx, st, snap, p.reader, paramTypes); err != nil {
		return t, err
	}
	t.text, t.noData = t.plan.SQL, st.NoData
	if st.Copy {
		err = t.planCopy()
	}
	return t, err
}

// planPlain has a statement that lists rows of a protected table list those of its reference, where the policy offers
// them.
func (p planning) planPlain(st *parser.Statement, t template) (_ template, err error) {
	if t.plain, err = p.Listed(st.Plain); err != nil {
		return t, err
	}
	t.policy = t.plain.Policy
	t.text, err = st.RewritePlain(t.plain.Reference.Schema, t.plain.Reference.Name)
	return t, err
}
