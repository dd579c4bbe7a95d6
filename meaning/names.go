package meaning

import (
	"context"
	"strings"
	"sync"
	"time"

	"fugu/dataset"
	"fugu/parser"
	"fugu/parser/lex"
	"fugu/planner"
	"fugu/sqlstate"
	"fugu/upstream"
)

// A name without a schema is a protected table's only if PostgreSQL finds no other relation of that name first: a
// temporary table, or one of another schema in the session's search_path. The session itself is asked, before its text
// is interpreted, where there could be such a relation; elsewhere nothing is asked. Nothing secret hangs on it: the
// guest has no right on a protected table, so that a wrong guess towards the ordinary one is an error of the server's.

// namesakesAge is how long the list of relations is believed that are called like protected ones. What the session
// itself may have made counts at once.
const namesakesAge = time.Minute

// Namesakes are the names of protected tables, and of views over them, that another relation has too. The zero value
// knows none yet; they are safe for concurrent use.
type Namesakes struct {
	mu   sync.Mutex
	at   time.Time
	of   *dataset.Snapshot
	list []string
}

// among returns those of the names that more than one relation of the database has, whoever's temporary one it is. A
// twin is no other relation: it is what the name of its table means.
func (n *Namesakes) among(ctx context.Context, reader *upstream.Reader, snap *dataset.Snapshot) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == snap && time.Since(n.at) < namesakesAge {
		return n.list, nil
	}

	// Whatever schema it is in: which one a session means hangs on its search_path.
	var values []planner.Value
	for _, name := range snap.BareNames() {
		values = append(values, planner.Value{Text: name})
	}
	rows, err := reader.Query(ctx, `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	  WHERE c.relname = ANY($1::text[]) AND n.nspname <> 'fugu_twin' GROUP BY c.relname HAVING count(*) > 1`,
		[][]byte{planner.Array(values)}, nil)
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

// Makes reports whether a text may give a relation a name: it has a word of which such a text has one.
func Makes(sql string) bool { return making.In(sql) }

var making = lex.NewWords("create", "into", "alter", "import")

// Doubtful lists the names in a text that something else than what is protected may have. made: the session has sent a
// text that Makes relations.
func (n *Namesakes) Doubtful(ctx context.Context, reader *upstream.Reader, snap *dataset.Snapshot, made bool,
	sql string) (names []string) {
	var list []string
	all := made
	if !all {
		var err error
		list, err = n.among(ctx, reader, snap)
		all = err != nil
	}
	if all {
		list = snap.BareNames()
	}
	for _, name := range list {
		if lex.ContainsFold(sql, strings.ReplaceAll(name, `"`, `""`)) || lex.ContainsFold(sql, `u&"`) {
			names = append(names, name)
		}
	}
	return names
}

// Lookup writes the question where names are found; empty: there are none.
func Lookup(names []string) string {
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

// Same refuses a statement that was prepared when its doubtful names meant something else in the session: means is the
// key of what they meant.
func Same(ctx context.Context, ask Ask, snap *dataset.Snapshot, names []string, means string) error {
	query := Lookup(names)
	if query == "" {
		return nil
	}
	rows, err := ask(ctx, query)
	if err != nil {
		return err
	}
	if snap.Meanings(rows).Key() != means {
		return sqlstate.New(sqlstate.FeatureNotSupported, "a name of a protected table means another relation than "+
			"when the statement was prepared").
			WithHint("Prepare it again, or write the table with its schema.")
	}
	return nil
}
