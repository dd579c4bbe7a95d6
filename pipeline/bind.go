package pipeline

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/answer"
	"fugu/explain"
	"fugu/internal/hook"
	"fugu/internal/trace"
	"fugu/ledger"
	"fugu/meaning"
	"fugu/parser"
	"fugu/planner"
	"fugu/quote"
	"fugu/upstream"
	"fugu/wire"
)

// Bind answers the statement for one binding of its parameters: with arrays that stand in the place of protected
// tables.
func (s *statement) Bind(ctx context.Context, b wire.Binding) (wire.Bound, error) {
	defer s.session.engine.desk.Searches.Serve()()
	ctx = trace.With(ctx, s.session.engine.recorder)

	// A refusal is recorded, unless it was the server that failed: then it has told the client itself.
	ask, told := b.Ask, false
	b.Ask = func(ctx context.Context, sql string) ([][]string, error) {
		rows, err := ask(ctx, sql)
		told = told || err != nil
		return rows, err
	}

	s.found, s.session.omitted = nil, nil
	bound, err := s.bind(ctx, b)
	if err == nil {
		bound.Notices, err = s.heard(ctx, b.Ask, bound.Notices)
	}
	if err != nil && !told {
		s.refused(ctx, err)
	}
	return bound, err
}

// stale reports whether the statement was planned under a snapshot that is not in force any more, and it matters. What
// EXECUTE finds is planned when it is found.
func (s *statement) stale() bool {
	depends := s.plan != nil && !s.prepare || s.masked || len(s.twins) > 0
	return depends && s.plain == nil && s.execute == nil && !s.session.engine.serves(s.snapshot) &&
		!hook.StaleStatements
}

// bind does what the statement asks for by its kind: what is plain, ordinary or only prepared asks nothing.
func (s *statement) bind(ctx context.Context, b wire.Binding) (wire.Bound, error) {
	if s.stale() {
		if err := s.replan(ctx); err != nil {
			return wire.Bound{}, err
		}
	}
	switch {
	case s.plain != nil:
		return wire.Bound{Notices: []wire.Notice{{
			Message: fmt.Sprintf("these are rows of %s, not of %s", s.plain.Reference, s.plain.Table),
			Hint:    "Rows of a protected table are not shown; the policy offers its reference instead."}}}, nil
	case s.execute != nil:
		return s.run(ctx, b)
	case s.plan == nil || s.prepare:
		return wire.Bound{}, nil
	}
	return s.respond(ctx, b, s.plan.Explain)
}

// respond answers the statement, or explains how it would.
func (s *statement) respond(ctx context.Context, b wire.Binding, how parser.Explain) (bound wire.Bound, err error) {
	ctx, span := s.begin(ctx, how)
	defer span.End(&err)
	if s.noData && how == parser.NoExplain {
		return wire.Bound{Values: empty(s.plan)}, nil
	}

	// A COPY is tried without rows first, so that the server's own errors cost nothing.
	if s.probe != "" {
		if _, err := b.Ask(ctx, s.probe); err != nil {
			return wire.Bound{}, err
		}
	}

	if err := s.meansWhatItSays(ctx, b); err != nil {
		return wire.Bound{}, err
	}

	// Settings live on the guest, and only a session that ever named fugu can have any.
	set := settings{confidence: explain.Confidence}
	if s.session.touched {
		if set, err = readSettings(ctx, b.Ask); err != nil {
			return wire.Bound{}, err
		}
	}

	// Ordinary tables that the cuts read are held for the answer: what is hashed has to be what is summed.
	reader, tables := s.session.engine.desk.Reader, s.plan.Ordinary()
	if len(tables) == 0 {
		return s.bindOn(ctx, b, how, set, reader, nil)
	}

	if err := meaning.MayRead(ctx, b.Ask, tables); err != nil {
		return wire.Bound{}, err
	}
	ctx, leave, err := s.session.engine.desk.Place(ctx, s.session.user)
	if err != nil {
		return wire.Bound{}, err
	}
	defer leave()
	err = reader.InSnapshot(ctx, meaning.Locked(tables), s.snapshot.ProtectedTables(),
		func(snap *upstream.Snapshot) (err error) {
			bound, err = s.bindOn(ctx, b, how, set, snap, snap.Contents)
			return err
		})
	return bound, err
}

// begin begins the trace of one binding.
func (s *statement) begin(ctx context.Context, how parser.Explain) (context.Context, trace.Span) {
	stage := trace.Answer
	if how != parser.NoExplain {
		stage = trace.Explain
	}
	ctx, span := trace.Begin(ctx, stage)
	f := trace.Facts{Statement: s.fingerprint}
	if s.policy != nil {
		f.Dataset = s.policy.Dataset
	}
	span.Tell(f)
	return ctx, span
}

// bindOn answers or explains the statement on db: the reader, or a snapshot in which ordinary tables are held, whose
// contents tell what these hold.
func (s *statement) bindOn(ctx context.Context, b wire.Binding, how parser.Explain, set settings, db answer.Database,
	contents []string) (wire.Bound, error) {
	if s.policy == nil { // nothing below is protected by noise
		return s.bindFree(ctx, b, how)
	}

	q, err := s.question(ctx, b, set, db, contents)
	if err != nil {
		return wire.Bound{}, err
	}
	if how != parser.NoExplain {
		x, err := q.Explain(ctx)
		if err == nil {
			err = s.explainTwins(ctx, b, &x)
		}
		if err != nil {
			return wire.Bound{}, err
		}
		return explained(x, how)
	}

	// What is free is looked up before anything is charged: if it fails, nothing was spent.
	free, err := s.free(ctx, b)
	if err != nil {
		return wire.Bound{}, err
	}
	if set.estimates {
		if err := q.Estimable(ctx); err != nil {
			return wire.Bound{}, err
		}
	}

	a, err := q.Answer(ctx)
	if err != nil {
		return wire.Bound{}, err
	}

	// From here on everything is made of the stored answer.
	var bound wire.Bound
	if bound.Values, err = q.Arrays(ctx, a); err != nil {
		return wire.Bound{}, err
	}
	if s.session.last, err = q.Told(ctx, a); err != nil {
		return wire.Bound{}, err
	}
	s.remember(lasting(b.Formats, b.Values), set, contents)
	bound.Notices = notices(ctx, q, a, set.notices)
	if set.estimates {
		if err := estimated(ctx, q, &bound, s.session.last); err != nil {
			return wire.Bound{}, err
		}
	}
	bound.Values = append(bound.Values, free...)
	return s.inlined(bound)
}

// bindFree answers or explains a statement that costs nothing.
func (s *statement) bindFree(ctx context.Context, b wire.Binding, how parser.Explain) (wire.Bound, error) {
	if how != parser.NoExplain {
		x := explain.Explanation{Above: explain.ReadsNothing}
		if err := s.explainTwins(ctx, b, &x); err != nil {
			return wire.Bound{}, err
		}
		return explained(x, how)
	}
	free, err := s.free(ctx, b)
	if err != nil {
		return wire.Bound{}, err
	}
	return s.inlined(wire.Bound{Values: free})
}

// inlined writes the values into the text if the statement takes no parameters, as a COPY does not.
func (s *statement) inlined(bound wire.Bound) (_ wire.Bound, err error) {
	if s.probe != "" {
		bound.Text, err = parser.Inline(s.plan.SQL, s.plan.ClientParams+1, bound.Values)
		bound.Values = nil
	}
	return bound, err
}

// question makes a question of one binding, with its parameters and settings. contents tells what the ordinary tables
// hold that the cuts read.
func (s *statement) question(ctx context.Context, b wire.Binding, set settings, db answer.Database,
	contents []string) (*answer.Question, error) {
	a, err := set.asked(s.policy)
	if err != nil {
		return nil, err
	}
	a.User, a.Statement, a.Above = s.session.user, s.fingerprint, s.plan.Above
	a.Database, a.Contents = db, contents
	a.Bind = func(ctx context.Context) ([]*planner.Bound, error) {
		types := pgtype.NewMap()
		return quote.Bind(ctx, s.plan, db, func(n int, oid uint32) ([]byte, error) {
			return textParam(types, b, n, oid)
		})
	}
	return s.session.engine.desk.Question(ctx, s.snapshot.known, a)
}

// textParam returns the text form of the client's parameter n, nil for NULL.
func textParam(types *pgtype.Map, b wire.Binding, n int, oid uint32) ([]byte, error) {
	if n > len(b.Values) {
		return nil, quote.NoParameter(n)
	}

	// The protocol's Bind message has one format for all parameters, one for each, or none, which means text.
	format := int16(pgtype.TextFormatCode)
	switch {
	case len(b.Formats) == 1:
		format = b.Formats[0]
	case len(b.Formats) > 1:
		format = b.Formats[n-1]
	}
	return quote.Text(types, n, oid, format, b.Values[n-1])
}

// meansWhatItSays refuses a statement whose names have come to mean something else.
func (s *statement) meansWhatItSays(ctx context.Context, b wire.Binding) error {
	engine := s.session.engine
	doubtful := s.session.doubtful(ctx, s.snapshot, s.source)
	if err := meaning.Same(ctx, b.Ask, s.snapshot.Snapshot, doubtful, s.means); err != nil {
		return err
	}
	return engine.overloads.Own(ctx, b.Ask, engine.desk.Reader, s.plan)
}

// notices returns what a client is told beside an answer: a warning, and if it wants notices what was released.
func notices(ctx context.Context, q *answer.Question, a ledger.Answer, wished bool) (out []wire.Notice) {
	if text := q.Warning(ctx); text != "" {
		out = append(out, wire.Notice{Warning: true, Message: "fugu: " + text,
			Hint: "SET fugu.max_error = '50%' refuses such a statement before it is charged; EXPLAIN (PRIVACY) shows " +
				"its noise, and costs nothing."})
	}
	if wished {
		told, left := q.Notice(ctx, a)
		out = append(out, wire.Notice{Message: told, Detail: left})
	}
	return out
}

// explained makes the answer to EXPLAIN (PRIVACY): one array of lines.
func explained(x explain.Explanation, how parser.Explain) (wire.Bound, error) {
	lines := x.Lines()
	if how == parser.ExplainJSON {
		text, err := x.JSON()
		if err != nil {
			return wire.Bound{}, err
		}
		lines = []string{text}
	}
	column := make([]planner.Value, len(lines))
	for i, l := range lines {
		column[i] = planner.Value{Text: l}
	}
	return wire.Bound{Values: [][]byte{planner.Array(column)}}, nil
}
