package pipeline

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"unsafe"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/dataset"
	"fugu/internal/hook"
	"fugu/parser"
	"fugu/parser/lex"
	"fugu/parser/shadow"
	"fugu/planner"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// session is one client's side of the engine.
type session struct {
	engine     *Engine
	user       string
	login      *pgconn.Config    // of its guests
	parameters map[string]string // that they are opened with
	touched    bool              // the client has named fugu, so its settings may differ from the defaults
	// prepared: the client has sent a PREPARE of a protected statement, so an EXECUTE may be more than ordinary.
	prepared bool
	// made: the client has sent a text that may have given a relation the name of a protected one.
	made  bool
	means dataset.Meanings // of the names in the text that is interpreted next
	met   map[string]bool  // twins that the session was told of
	last  lastRelease
}

// Connect opens a guest for the session.
func (s *session) Connect(ctx context.Context, renewable bool) (wire.Guest, error) {
	open := upstream.OpenGuest
	if renewable {
		open = upstream.OpenRenewable
	}
	return open(ctx, s.login, s.parameters)
}

// Kind is the user, the database, and what its guests are opened with.
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

// template is one statement of a text as it is planned, for every session alike. At most one of plan, plain, execute,
// masked and show is set; with none the text is the client's own.
type template struct {
	twins  []*dataset.Protected // that the statement means, beside whatever else it is
	serial uint64               // tells it from all others of the snapshot
	text   string
	params int      // of the client's
	types  []uint32 // that the client gave for them
	plan   *planner.Plan
	policy *policy.Policy // of the plan's cuts, or of plain; nil for virtual tables only
	masked bool           // text masks parts of the catalog
	places parser.Places  // of masked: where the parts of text stood in the client's
	// of masked: text stands for all that the client sent, and this is how; nil: there is more to it
	splice *parser.Splice
	start  int32              // of the client's own text: characters before it in what the client sent
	show   bool               // text tells a setting of Fugu's, in the place of SHOW
	plain  *dataset.Protected // a plain SELECT of rows: text reads the reference instead

	prepare bool            // text is PREPARE of the plan, and asks nothing yet
	execute *parser.Execute // EXECUTE of what will be found when it is bound
	explain parser.Explain  // of execute
	// not empty: text takes no parameters, so that values are written into it; this looks at it before
	probe  string
	noData bool // nothing is asked

	source string // the client's text of the plan
	means  string // what its names meant, as meanings.key has it

	fingerprint string // of the client's text, in the audit
}

// Ordinary looks at a text's words, which is all that most statements pay, and for what was decided about it before.
func (s *session) Ordinary(sql []byte) bool {
	snap := s.engine.snapshot.Load()
	text := unsafe.String(unsafe.SliceData(sql), len(sql)) // nothing below keeps it
	if s.engine.closed.Load() || snap.Apart != nil && snap.Admits(s.user) != nil {
		return false // which Interpret refuses
	}
	if snap.Plain(text) && !(s.prepared && lex.ContainsFold(text, "execute")) || hook.Blind {
		return true
	}
	// A decision that a text is ordinary does not depend on its parameters' types.
	if templates, known := snap.plans.Get(planKey{sql: text}); !known || templates != nil || s.prepared {
		return false
	}
	s.touched = s.touched || lex.ContainsFold(text, "fugu")
	return true
}

// Interpret decides about one SQL text.
func (s *session) Interpret(ctx context.Context, sql string, paramTypes []uint32) ([]wire.Statement, error) {
	defer func() { s.means = nil }()
	if err := s.engine.open(); err != nil {
		return nil, err
	}
	snap := s.engine.snapshot.Load()
	if err := snap.Admits(s.user); err != nil {
		return nil, err
	}
	if err := lex.CheckPins(sql); err != nil {
		return nil, err
	}
	named := snap.Mentions(sql)
	if !named && !(s.prepared && lex.ContainsFold(sql, "execute")) || hook.Blind {
		if key := newPlanKey(sql, nil); !lex.ContainsFold(sql, "execute") && !snap.Plain(sql) {
			snap.plans.Add(key, nil, weight(key)) // which a glance finds the next time
		}
		return nil, nil
	}
	defer s.engine.searches.Serve()()
	s.touched = s.touched || lex.ContainsFold(sql, "fugu")
	templates, err := s.templates(ctx, snap, sql, paramTypes)
	if err != nil && !named {
		return nil, nil // the server says what is wrong with it
	}
	for i := 0; i < len(templates) && err == nil; i++ {
		err = s.allowed(templates[i])
	}
	if err != nil {
		s.refused(ctx, snap, sql, err)
		return nil, err
	}
	if templates == nil {
		return nil, nil
	}
	out := make([]wire.Statement, len(templates))
	for i, t := range templates {
		s.prepared = s.prepared || t.prepare
		out[i] = &statement{template: t, session: s, snapshot: snap}
	}
	return out, nil
}

// allowed refuses a statement about a dataset that the user may not ask about.
func (s *session) allowed(t template) error {
	if t.policy != nil && !t.policy.MayAsk(s.user) {
		return sqlstate.New(sqlstate.NotAllowed, "user %q may not ask about dataset %s", s.user, t.policy.Dataset).
			WithHint("The policy lists the analysts who may.")
	}
	for _, twin := range t.twins {
		if !twin.Policy.MayAsk(s.user) {
			return sqlstate.New(sqlstate.NotAllowed, "user %q may not ask about dataset %s", s.user,
				twin.Policy.Dataset).
				WithHint("The policy lists the analysts who may.")
		}
	}
	return nil
}

// templates parses and plans a text, or finds it in the cache. nil: every statement of it is ordinary.
func (s *session) templates(ctx context.Context, snap *Snapshot, sql string, paramTypes []uint32) ([]template, error) {
	key := newPlanKey(sql, paramTypes)
	key.means = s.means.Key()
	if ts, ok := snap.plans.Get(key); ok {
		return ts, nil
	}
	if t, ok := snap.reshaped(key, paramTypes); ok {
		return []template{t}, nil
	}
	// What only asks the catalog for what there is can go to the server as it is, if it cannot be rewritten.
	harmless := !snap.Names(sql) && !snap.Shadows().Mentions(sql)
	if harmless && !s.prepared && !shadow.Introspects(sql) && !lex.ContainsFold(sql, "execute") {
		snap.plans.Add(key, nil, weight(key))
		return nil, nil
	}
	statements, err := parser.Parse(sql, snap.Catalog(ctx, s.engine.reader, s.means))
	if harmless && err != nil {
		return nil, nil // the server says what is wrong with it
	}
	if err != nil {
		return nil, err
	}
	if t, ok, err := s.renamed(ctx, snap, key, statements, paramTypes); ok || err != nil {
		out := []template{t}
		if err == nil {
			snap.plans.Add(key, out, weight(key)+weight(out))
		}
		return out, err
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
		if harmless && err != nil {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		special = special || !st.Ordinary()
		out = append(out, t)
	}
	if !special {
		out = nil
	}
	for i, st := range statements {
		if special && !st.Ordinary() {
			out[i].fingerprint = parser.Fingerprint(st.Text)
			out[i].serial = snap.planned.Add(1)
			out[i].source, out[i].means = st.Text, key.means
		}
	}
	// What ordinary tables look like can change at any time.
	if !slices.ContainsFunc(out, func(t template) bool { return t.plan != nil && len(t.plan.Ordinary()) > 0 }) {
		snap.plans.Add(key, out, weight(key)+weight(out))
	}
	return out, nil
}

func (s *session) plan(ctx context.Context, snap *Snapshot, st *parser.Statement,
	paramTypes []uint32) (template, error) {
	t := template{text: st.Text, params: max(st.Params, len(paramTypes)), types: paramTypes, start: int32(st.Start)}
	var err error
	if t.twins, err = s.engine.twins(ctx, snap, slices.Concat(st.Twins, aggregated(st))); err != nil {
		return t, err
	}
	switch {
	case st.Ordinary():
		return t, nil
	case st.Show != "":
		return snap.planShow(st.Show, t), nil
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
		t.plain = snap.Find(st.Plain.Table.Schema, st.Plain.Table.Name)
		t.policy = t.plain.Policy
		if t.plain.Table.AtLeast > 0 {
			return t, sqlstate.New(sqlstate.NotAnswerable, "rows of the twin of %s are not listed", st.Plain.Table).
				WithHint("Aggregate them: count, sum, avg and the like, with WHERE and GROUP BY. The policy's owner " +
					"can write twin: {rows: shown}.").At(st.Plain.Position)
		}
		if t.plain.Config.PlainRows != policy.ReferenceRows {
			return t, sqlstate.New(sqlstate.NotAnswerable, "rows of the protected table %s are not shown",
				st.Plain.Table).
				WithHint("Aggregate them: count, sum or avg, with WHERE and GROUP BY. The policy's plain_rows can " +
					"offer reference rows instead.").At(st.Plain.Position)
		}
		t.text, err = st.RewritePlain(t.plain.Reference.Schema, t.plain.Reference.Name)
		return t, err
	}
	if t.policy, err = snap.PolicyOf(st); err != nil {
		return t, err
	}
	if st.Prepare != nil {
		return s.planPrepare(ctx, snap, st, t)
	}
	if t.plan, err = planner.New(ctx, st, snap, s.engine.reader, paramTypes); err != nil {
		return t, err
	}
	t.text, t.noData = t.plan.SQL, st.NoData
	if st.Copy {
		err = t.planCopy()
	}
	return t, err
}

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
