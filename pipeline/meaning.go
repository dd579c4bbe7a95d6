package pipeline

import (
	"context"
	"strings"
	"sync"
	"time"

	"fugu/parser"
	"fugu/parser/lex"
	"fugu/planner"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// A name without a schema is a protected table's only if PostgreSQL finds no other relation of that name first: a
// temporary table, or one of another schema in the session's search_path. The session itself is asked, before its text
// is interpreted, where there could be such a relation; elsewhere nothing is asked. Nothing secret hangs on it: the
// guest has no right on a protected table, so that a wrong guess towards the ordinary one is an error of the server's.

// namesakesAge is how long the list of relations is believed that are called like protected ones. What the session
// itself may have made counts at once.
const namesakesAge = time.Minute

// namesakes are the names of protected tables, and of views over them, that another relation has too.
type namesakes struct {
	mu   sync.Mutex
	at   time.Time
	of   *Snapshot
	list []string
}

// among returns those of the names that more than one relation of the database has, whoever's temporary one it is. A
// twin is no other relation: it is what the name of its table means.
func (n *namesakes) among(ctx context.Context, reader *upstream.Reader, snap *Snapshot) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == snap && time.Since(n.at) < namesakesAge {
		return n.list, nil
	}
	var values []planner.Value
	for _, name := range snap.BareNames() {
		values = append(values, text(name))
	}
	rows, err := reader.Query(ctx, `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	  WHERE c.relname = ANY($1::text[]) AND n.nspname <> 'fugu_twin' GROUP BY c.relname HAVING count(*) > 1`, [][]byte{planner.Array(values)}, nil)
	if err != nil {
		return nil, err
	}
	n.list = nil
	for _, r := range rows {
		n.list = append(n.list, r[0].Text)
	}
	n.at, n.of = time.Now(), snap
	return n.list, nil
}

// making are the words of which a text that gives a relation a name has one.
var making = lex.NewWords("create", "into", "alter", "import")

// Lookup implements wire.Resolver: the question what the names of a text mean in the session, empty where they can mean
// nothing but what is protected.
func (s *session) Lookup(ctx context.Context, sql string) string {
	snap := s.engine.snapshot.Load()
	s.means = nil
	if !snap.Names(sql) {
		return ""
	}
	asked := s.doubtful(ctx, snap, sql)
	s.made = s.made || making.In(sql)
	return lookup(asked)
}

// doubtful lists the names in a text that something else than what is protected may have.
func (s *session) doubtful(ctx context.Context, snap *Snapshot, sql string) (names []string) {
	list := snap.BareNames()
	if !s.made {
		var err error
		if list, err = s.engine.namesakes.among(ctx, s.engine.reader, snap); err != nil {
			list = snap.BareNames()
		}
	}
	for _, name := range list {
		if lex.ContainsFold(sql, strings.ReplaceAll(name, `"`, `""`)) || lex.ContainsFold(sql, `u&"`) {
			names = append(names, name)
		}
	}
	return names
}

// lookup writes the question where names are found.
func lookup(names []string) string {
	if len(names) == 0 {
		return ""
	}
	var literals []string
	for _, name := range names {
		literals = append(literals, parser.QuoteLiteral(name)+"::pg_catalog.text")
	}
	return "SELECT u.name, n.nspname FROM pg_catalog.unnest(ARRAY[" + strings.Join(literals, ", ") +
		"]) AS u(name), pg_catalog.pg_class AS c, pg_catalog.pg_namespace AS n " +
		"WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(pg_catalog.quote_ident(u.name))::pg_catalog.oid " +
		"AND n.oid OPERATOR(pg_catalog.=) c.relnamespace"
}

// Resolve implements wire.Resolver: it takes the answer of a Lookup for the text that is interpreted next.
func (s *session) Resolve(rows [][]string) { s.means = s.engine.snapshot.Load().Meanings(rows) }

var _ wire.Resolver = (*session)(nil)

// meansTheSame refuses a statement that was prepared when its names meant something else in the session.
func (s *statement) meansTheSame(ctx context.Context, b wire.Binding) error {
	query := lookup(s.session.doubtful(ctx, s.snapshot, s.source))
	if query == "" {
		return nil
	}
	rows, err := b.Ask(ctx, query)
	if err != nil {
		return err
	}
	if s.snapshot.Meanings(rows).Key() != s.means {
		return sqlstate.New(sqlstate.FeatureNotSupported, "a name of a protected table means another relation than "+
			"when the statement was prepared").
			WithHint("Prepare it again, or write the table with its schema.")
	}
	return nil
}
