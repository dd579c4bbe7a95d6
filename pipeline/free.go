package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/dataset"
	"fugu/explain"
	"fugu/meaning"
	"fugu/parser"
	"fugu/parser/lex"
	"fugu/planner"
	"fugu/twin/told"
	"fugu/virtual"
	"fugu/wire"
)

// free are the arrays that cost nothing, behind those of the answer: of twins, and of virtual tables. They are there
// before anything is charged, so that what fails in them costs nothing either.
func (s *statement) free(ctx context.Context, b wire.Binding) ([][]byte, error) {
	arrays, err := s.twinArrays(ctx, b)
	if err != nil {
		return nil, err
	}
	virtual, err := s.virtual(ctx, b)
	return append(arrays, virtual...), err
}

// twinArrays asks the reader what stands in the places of the cuts of twins: for each an array for each column. All
// are of one snapshot of the twins, and cost nothing.
func (s *statement) twinArrays(ctx context.Context, b wire.Binding) (arrays [][]byte, err error) {
	if len(s.plan.Twins) == 0 {
		return nil, nil
	}

	// Parameters are bound as text, like those of a statement with noise.
	types := pgtype.NewMap()
	var statements []string
	for _, c := range s.plan.Twins {
		params := make([][]byte, len(c.Params))
		for i, n := range c.Params {
			if params[i], err = textParam(types, b, n, c.ParamTypes[i]); err != nil {
				return nil, err
			}
		}
		sql, err := c.Bind(ctx, s.session.engine.desk.Reader, params)
		if err != nil {
			return nil, err
		}
		statements = append(statements, sql)
	}

	// They cost nothing, however long they take, and so have no more of the reader than dear ones.
	ctx, leave, err := s.session.engine.desk.Place(ctx, s.session.user)
	if err != nil {
		return nil, err
	}
	defer leave()

	// All statements run in one snapshot: twins of one build belong together.
	answers, err := s.session.engine.desk.Reader.Groups(ctx, statements, planner.MaxGroups)
	if err != nil {
		return nil, err
	}

	for i, rows := range answers {
		s.omits(i, rows)
		for k := range s.plan.Twins[i].Width() {
			column := make([]planner.Value, len(rows))
			for j, r := range rows {
				column[j] = r[k]
			}
			arrays = append(arrays, planner.Array(column))
		}
	}
	return arrays, nil
}

// omits notes what an answer about a twin whose rows are not listed lacks, to be told once in a session for each way
// in which it lacks something. A statement that asks how far values may be off asks for parts of them besides, of which
// the client sees nothing.
func (s *statement) omits(twin int, rows [][]planner.Value) {
	if lex.ContainsFold(s.source, "fugu") {
		return
	}
	null := func(row, column int) bool { return rows[row][column].Null }
	if o := s.plan.Twins[twin].Omitted(len(rows), null); o.What != "" && s.session.meets(o.What) {
		s.session.omitted = append(s.session.omitted, wire.Notice{Message: o.What, Hint: o.Hint})
	}
}

// virtual returns the arrays of the statement's virtual tables.
func (s *statement) virtual(ctx context.Context, b wire.Binding) ([][]byte, error) {
	var out [][]byte
	for _, v := range s.plan.Virtual {
		rows, err := s.virtualRows(ctx, b, v.Name)
		if err != nil {
			return nil, err
		}
		for i := range v.Columns {
			column := make([]planner.Value, len(rows))
			for j, r := range rows {
				column[j] = r[i]
			}
			out = append(out, planner.Array(column))
		}
	}
	return out, nil
}

func (s *statement) virtualRows(ctx context.Context, b wire.Binding, name string) ([][]planner.Value, error) {
	ledger, policies := s.session.engine.desk.Ledger, s.snapshot.Policies
	switch name {
	case "last_release":
		return virtual.LastRelease(s.session.last), nil
	case "estimate":
		return s.session.estimates(ctx)
	case "noise_law":
		return s.session.noiseLaw(ctx)
	case "budget":
		return virtual.Budget(ctx, ledger, policies, s.session.user)
	case "releases":
		return virtual.Releases(ctx, ledger, policies)
	case "twin":
		classes, err := s.classes(ctx, b)
		return virtual.Twin(s.snapshot.Tables, classes), err
	case "channel":
		chances, err := told.Channels(ctx, s.session.engine.desk.Reader, s.snapshot.Snapshot, b.Ask)
		return virtual.Channel(chances), err
	case "policy":
		return virtual.Policy(s.snapshot.Tables), nil
	}
	return nil, fmt.Errorf("the virtual table fugu.%s has no rows that anybody makes", name)
}

// classes are what the client may know of the twins of the policies.
func (s *statement) classes(ctx context.Context, b wire.Binding) ([]told.Class, error) {
	return told.Classes(ctx, s.session.engine.desk.Reader, s.snapshot.Snapshot, b.Ask)
}

// explainTwins adds to an explanation what the twins are that the statement reads.
func (s *statement) explainTwins(ctx context.Context, b wire.Binding, x *explain.Explanation) error {
	if len(s.twins) == 0 {
		return nil
	}
	classes, err := s.classes(ctx, b)
	if err != nil {
		return err
	}
	x.AddTwins(told.Explain(s.twins, classes))
	return nil
}

// introduce tells a session, once for each table, that what it takes for it is its twin, or has noise. The notice is
// for people, and is not repeated at every statement.
func (s *statement) introduce() (notices []wire.Notice) {
	for _, t := range s.twins {
		if s.session.meets(t.Table.String()) {
			notices = append(notices, ofTwin(t))
		}
	}
	for _, table := range s.noisy() {
		if s.session.meets(table) {
			notices = append(notices, ofNoise(table))
		}
	}
	return notices
}

// introduces reports whether there is a table to be introduced now. A text that itself says what is heard is left to
// run before it is known.
func (s *statement) introduces() bool {
	return !s.introduced() && !lex.ContainsFold(s.text, "client_min_messages") &&
		!lex.ContainsFold(s.text, "fugu.notices")
}

// introduced reports whether the session has met all tables that the statement reads.
func (s *statement) introduced() bool {
	strange := func(table string) bool { return !s.session.met[table] }
	return !slices.ContainsFunc(s.twins, func(t *dataset.Protected) bool { return strange(t.Table.String()) }) &&
		!slices.ContainsFunc(s.noisy(), strange)
}

// noisy are the roots of the statement's cuts, whose answers have noise.
func (s *statement) noisy() (tables []string) {
	if s.plan == nil || s.prepare || s.plan.Explain != parser.NoExplain {
		return nil
	}
	for _, c := range s.plan.Cuts {
		tables = append(tables, c.Table.String())
	}
	return tables
}

// meets reports whether a session has not met a table before, and notes that it has.
func (s *session) meets(table string) bool {
	if s.met[table] {
		return false
	}
	if s.met == nil {
		s.met = map[string]bool{}
	}
	s.met[table] = true
	return true
}

// heard are the notices that the client wants to hear, of those that a statement brings and of what introduces its
// tables: by client_min_messages, as PostgreSQL's own, and by fugu.notices. The guest has both, and is asked only where
// there is something to say.
func (s *statement) heard(ctx context.Context, ask meaning.Ask,
	brought []wire.Notice) (heard []wire.Notice, err error) {
	introduces := s.introduces()
	if !introduces && len(brought)+len(s.session.omitted) == 0 {
		return nil, nil
	}
	wishes, err := askHearing(ctx, ask)
	if err != nil {
		return nil, err
	}

	// What nobody hears is not said later, either.
	if introduces {
		if told := s.introduce(); !wishes.silent {
			heard = told
		}
	}
	if !wishes.silent {
		heard = append(heard, s.session.omitted...)
	}
	return wishes.audible(append(heard, brought...)), nil
}
