package pipeline

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"unsafe"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/answer"
	"fugu/dataset"
	"fugu/internal/hook"
	"fugu/internal/trace"
	"fugu/meaning"
	"fugu/parser"
	"fugu/parser/lex"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// session is one client's side of the engine.
type session struct {
	engine     *Engine
	user       string
	login      *pgconn.Config    // with which its guests are opened
	parameters map[string]string // run-time parameters of its guests
	touched    bool              // the client has named fugu, so its settings may differ from the defaults

	prepared bool // the client has sent a PREPARE of a protected statement, so an EXECUTE may be more than ordinary
	made     bool // the client has sent a text that may have given a relation the name of a protected one

	means   dataset.Meanings // what the names mean in the text that is interpreted next
	latest  renaming         // what was interpreted last, if it was a renaming
	met     map[string]bool  // the twins that the session was told of, and what was told of omissions
	omitted []wire.Notice    // what the answer that was bound last lacks
	last    answer.Told      // the answer that fugu.last_release shows
	asked   lastAsked        // the statement that it answers
}

// Connect implements wire.Session.
func (s *session) Connect(ctx context.Context) (wire.Guest, error) {
	return upstream.OpenGuest(ctx, s.login, s.parameters)
}

// ConnectRenewable implements wire.Session.
func (s *session) ConnectRenewable(ctx context.Context) (wire.Guest, error) {
	return upstream.OpenRenewable(ctx, s.login, s.parameters)
}

// Kind implements wire.Session: sessions of one user on one database share guests that were opened with the same
// parameters.
func (s *session) Kind() string {
	kind := strconv.Quote(s.user) + "@" + strconv.Quote(s.login.Database)
	for _, name := range slices.Sorted(maps.Keys(s.parameters)) {
		kind += "," + name + "=" + strconv.Quote(s.parameters[name])
	}
	return kind
}

// Lasting reports whether a text may change what outlives its transaction in the database's session.
func (s *session) Lasting(sql []byte) bool {
	return lex.Lasting(unsafe.String(unsafe.SliceData(sql), len(sql)))
}

// Ordinary looks at a text's words, which is all that most statements pay, and for what was decided about it before.
func (s *session) Ordinary(sql []byte) bool {
	snap := s.engine.snapshot.Load()
	text := unsafe.String(unsafe.SliceData(sql), len(sql)) // nothing below keeps it
	if s.engine.closed.Load() || snap.Apart != nil && snap.Admits(s.user) != nil {
		return false // which Interpret refuses
	}
	if snap.Plain(text) && !s.mayExecute(text) || hook.Blind {
		return true
	}

	// A decision that a text is ordinary does not depend on its parameters' types.
	if templates, known := snap.plans.Get(planKey{sql: text}); !known || templates != nil || s.prepared {
		return false
	}
	s.touched = s.touched || lex.ContainsFold(text, "fugu")
	return true
}

// mayExecute reports whether an EXECUTE in a text may stand for a protected statement that the client has prepared.
func (s *session) mayExecute(text string) bool {
	return s.prepared && lex.ContainsFold(text, "execute")
}

// Interpret decides about one SQL text: nil if it is ordinary, and otherwise its statements.
func (s *session) Interpret(ctx context.Context, sql string, paramTypes []uint32) ([]wire.Statement, error) {
	defer func() { s.means = nil }()
	if err := s.engine.open(); err != nil {
		return nil, err
	}

	// What a driver says again and again is not looked at each time.
	snap := s.engine.snapshot.Load()
	if s.latest.is(snap, sql, paramTypes) && len(s.means) == 0 {
		return s.latest.statements, nil
	}

	// Who may not ask at all is told so before a text is looked at.
	if err := snap.Admits(s.user); err != nil {
		return nil, err
	}

	if err := lex.CheckPins(sql); err != nil {
		return nil, err
	}

	// Ordinary traffic ends here: no protected name is in the text, and no EXECUTE that may stand for one.
	named := snap.Mentions(sql)
	if !named && !s.mayExecute(sql) || hook.Blind {
		if key := newPlanKey(sql, nil); !lex.ContainsFold(sql, "execute") && !snap.Plain(sql) {
			snap.plans.Add(key, nil, key.size()) // which a glance finds the next time
		}
		return nil, nil
	}

	// Searches for noise give way while a statement is planned.
	defer s.engine.desk.Searches.Serve()()
	s.touched = s.touched || lex.ContainsFold(sql, "fugu")
	templates, err := s.planning(snap).templates(trace.With(ctx, s.engine.recorder), sql, paramTypes)
	if err != nil && !named {
		return nil, nil // the server says what is wrong with it
	}

	// One statement that is refused refuses the text, before any of it runs.
	for i := 0; i < len(templates) && err == nil; i++ {
		err = s.checkAllowed(&templates[i])
	}
	if err != nil {
		s.refused(ctx, snap, sql, err)
		return nil, err
	}

	if templates == nil {
		return nil, nil
	}
	out := s.statements(snap, templates)
	if len(out) == 1 && templates[0].splice != nil && len(s.means) == 0 {
		s.latest = renaming{snap, sql, paramTypes, out}
	}
	return out, nil
}

// statements makes the session's own of plans that it may share with others.
func (s *session) statements(snap *Snapshot, templates []template) []wire.Statement {
	out := make([]wire.Statement, len(templates))
	for i := range templates {
		t := &templates[i]
		s.prepared = s.prepared || t.prepare
		out[i] = &statement{template: t, session: s, snapshot: snap}
	}
	return out
}

// planning returns what the plans of the session's texts depend on.
func (s *session) planning(snap *Snapshot) planning {
	return planning{snap, s.engine.desk.Reader, &s.engine.built, s.means, s.prepared}
}

// checkAllowed refuses a statement about a dataset that the user may not ask about.
func (s *session) checkAllowed(t *template) error {
	if t.policy != nil {
		if err := s.checkPolicy(t.policy); err != nil {
			return err
		}
	}
	for _, twin := range t.twins {
		if err := s.checkPolicy(twin.Policy); err != nil {
			return err
		}
	}
	return nil
}

// checkPolicy refuses what is about a policy's dataset if it does not list the user.
func (s *session) checkPolicy(p *policy.Policy) error {
	if p.MayAsk(s.user) {
		return nil
	}
	return sqlstate.New(sqlstate.NotAllowed, "user %q may not ask about dataset %s", s.user, p.Dataset).
		WithHint("The policy lists the analysts who may.")
}

// Lookup implements wire.Resolver: it asks what the names of a text mean in the session, unless they can mean nothing
// but what is protected.
func (s *session) Lookup(ctx context.Context, sql string) string {
	snap := s.engine.snapshot.Load()
	s.means = nil
	if !snap.Names(sql) {
		return ""
	}
	asked := s.doubtful(ctx, snap, sql)
	s.made = s.made || meaning.Makes(sql)
	return meaning.Lookup(asked)
}

// doubtful lists the names of protected relations in a text that other relations may have as well.
func (s *session) doubtful(ctx context.Context, snap *Snapshot, sql string) []string {
	return s.engine.namesakes.Doubtful(ctx, s.engine.desk.Reader, snap.Snapshot, s.made, sql)
}

// Split implements wire.Resolver. Names may change their meaning within a text of several statements if another
// relation has a protected one's name, or may have it by then.
func (s *session) Split(ctx context.Context, sql string) (out []wire.Statement) {
	snap := s.engine.snapshot.Load()
	if hook.Blind || !snap.Names(sql) {
		return nil
	}
	made := s.made || meaning.Makes(sql)
	if len(s.engine.namesakes.Doubtful(ctx, s.engine.desk.Reader, snap.Snapshot, made, sql)) == 0 {
		return nil
	}
	for _, p := range parser.Pieces(sql) {
		out = append(out, &statement{template: &template{text: p.Text, params: p.Params}, session: s,
			snapshot: snap})
	}
	return out
}

// Resolve implements wire.Resolver: it takes the answer of a Lookup for the text that is interpreted next.
func (s *session) Resolve(rows [][]string) { s.means = s.engine.snapshot.Load().Meanings(rows) }

var _ wire.Resolver = (*session)(nil)
