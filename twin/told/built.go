package told

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/dataset"
	"fugu/internal/hook"
	"fugu/parser"
	"fugu/sqlstate"
	"fugu/upstream"
)

// builtAge is how long it is believed that a twin is there. One that is dropped meanwhile is missed by the server.
const builtAge = time.Minute

// Built remembers which twins are there. The zero value has looked for none; it is safe for concurrent use.
type Built struct {
	mu sync.Mutex
	at map[string]time.Time // when a twin was last seen, by its table
}

// built finds the twin $2 in the schema $1, of a table in the schema $4: it is a table and, unless $3, the reader may
// read it. It says whether the schema and all that is in it belong to roles that may read the table itself.
const built = `SELECT NOT EXISTS (SELECT FROM pg_class p JOIN pg_namespace w ON w.oid = p.relnamespace,
	    (SELECT n.nspowner UNION SELECT o.relowner FROM pg_class o WHERE o.relnamespace = n.oid) AS x(owner)
	  WHERE w.nspname = $4 AND p.relname = $2 AND NOT has_any_column_privilege(x.owner, p.oid, 'SELECT'))
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')
	  AND ($3::bool OR has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'))`

// isBuilt reports whether the twin of a table is built, and, where its rows are not listed, whether the reader may read
// it. Everybody may read the catalog, in which it is looked for.
//
// What the reader reads runs code of its owner's with the reader's rights. So where the reader reads twins, and the
// list of them, it is an error if any of it is somebody's who may not read the table anyway: a guest's, say, who was
// there before the first build.
func (b *Built) isBuilt(ctx context.Context, reader *upstream.Reader, t *dataset.Protected) (bool, error) {
	b.mu.Lock()
	seen, ok := b.at[t.Table.String()]
	b.mu.Unlock()
	if ok && time.Since(seen) < builtAge {
		return true, nil
	}

	unlisted := t.Table.AtLeast > 0
	values := [][]byte{[]byte(parser.TwinSchema), []byte(t.Table.Name), []byte(strconv.FormatBool(!unlisted)),
		[]byte(t.Table.Schema)}
	rows, err := reader.Query(ctx, built, values,
		[]uint32{pgtype.TextOID, pgtype.TextOID, pgtype.BoolOID, pgtype.TextOID})
	if err != nil || len(rows) == 0 {
		return false, err
	}
	if unlisted && rows[0][0].Text != "t" && !hook.GuestCode {
		return false, sqlstate.New(sqlstate.ModelUnfit, "the schema %s, or something in it, belongs to a role that "+
			"may not read %s", parser.TwinSchema, t.Table).
			WithHint("The policy's owner can see whose it is: fugu check.")
	}

	// That it is there is remembered, and not that it is missing: the next statement may find it.
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at == nil {
		b.at = map[string]time.Time{}
	}
	b.at[t.Table.String()] = time.Now()
	return true, nil
}

// Tables are those whose twins a statement means. One whose twin is not there, or cannot be read, is an error at its
// position (ModelUnfit).
func (b *Built) Tables(ctx context.Context, reader *upstream.Reader, snap *dataset.Snapshot,
	uses []parser.TwinUse) (out []*dataset.Protected, err error) {
	for _, u := range uses {
		t := snap.Find(u.Table.Schema, u.Table.Name)
		if slices.Contains(out, t) {
			continue
		}
		switch ok, err := b.isBuilt(ctx, reader, t); {
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
