package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"fugu/dataset"
	"fugu/parser"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// builtAge is how long it is believed that a twin is there. One that is dropped meanwhile is missed by the server.
const builtAge = time.Minute

// built remembers which twins are there.
type built struct {
	mu sync.Mutex
	at map[string]time.Time // when a twin was last seen, by its table
}

// there reports whether the twin of a table is built, and, where its rows are not listed, whether the reader may read
// it. Everybody may read the catalog, in which it is looked for.
func (b *built) there(ctx context.Context, reader *upstream.Reader, t *dataset.Protected) (bool, error) {
	b.mu.Lock()
	seen, ok := b.at[t.Table.String()]
	b.mu.Unlock()
	if ok && time.Since(seen) < builtAge {
		return true, nil
	}
	rows, err := reader.Query(ctx, `SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	  WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p') AND ($3::bool OR has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'))`,
		[][]byte{[]byte(parser.TwinSchema), []byte(t.Table.Name), []byte(strconv.FormatBool(t.Table.AtLeast == 0))},
		[]uint32{25, 25, 16})
	if err != nil || len(rows) == 0 {
		return false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at == nil {
		b.at = map[string]time.Time{}
	}
	b.at[t.Table.String()] = time.Now()
	return true, nil
}

// twins are the tables whose twins a statement means, if they can be read.
func (e *Engine) twins(ctx context.Context, snap *Snapshot,
	uses []parser.TwinUse) (out []*dataset.Protected, err error) {
	for _, u := range uses {
		t := snap.Find(u.Table.Schema, u.Table.Name)
		if slices.Contains(out, t) {
			continue
		}
		switch ok, err := e.built.there(ctx, e.reader, t); {
		case err != nil:
			return nil, err
		case !ok:
			return nil, sqlstate.New(sqlstate.ModelUnfit, "the twin of %s is not built yet", t.Table).
				WithHint("The policy's owner can build it: fugu twin build.").At(u.Position)
		}
		out = append(out, t)
	}
	return out, nil
}

// introduce tells a session, once, that what it takes for a table is its twin.
func (s *statement) introduce() (notices []wire.Notice) {
	for _, t := range s.twins {
		name := t.Table.String()
		if s.session.met[name] {
			continue
		}
		if s.session.met == nil {
			s.session.met = map[string]bool{}
		}
		s.session.met[name] = true
		hint := "Ask what you like: nothing is charged."
		if t.Table.AtLeast > 0 {
			hint = fmt.Sprintf("Its rows are not listed, and what fewer than %d rows of the sample have is left "+
				"out, or NULL. Nothing is charged.", t.Table.AtLeast)
		}
		notices = append(notices, wire.Notice{
			Message: fmt.Sprintf("%s is answered from its twin: a copy made of a sample of its rows, in which the "+
				"share that is secret is blurred", name),
			Hint: hint + " SELECT * FROM fugu.twin says what the twin is; EXPLAIN (PRIVACY) how far a count may " +
				"be off."})
	}
	return notices
}
