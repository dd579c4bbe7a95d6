package meaning

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fugu/planner"
	"fugu/planner/row"
	"fugu/sqlstate"
	"fugu/upstream"
)

// Below a cut there are PostgreSQL's own functions, operators and types alone, found by their names in pg_catalog.
// Where the client's own search_path would find a user's object in the place of one of them, the statement means
// something else to the client, and is refused rather than answered with another meaning. Nothing secret hangs on it.

// overloadsAge is how long the list of users' objects is believed.
const overloadsAge = time.Minute

// Overloads are the objects of users' with names that expressions below a cut can use. The zero value knows none yet;
// they are safe for concurrent use.
type Overloads struct {
	mu       sync.Mutex
	at       time.Time
	list     []overload
	builtin  map[string]bool    // signatures of PostgreSQL's own, if there is any of a user's
	implicit map[[2]uint32]bool // casts that PostgreSQL applies by itself
}

// overload is a function (f), an operator (o) or a type (t) of a user's.
type overload struct {
	kind byte
	oid  string
	name string
	args []uint32
	some bool // it takes further arguments, or fewer
}

// polymorphic are the pseudo-types of arguments that take any value (manual, section 38.2.5).
var polymorphic = []uint32{
	2276, // any
	2283, // anyelement
	2776, // anynonarray
	3500, // anyenum
	5077, // anycompatible
	5079, // anycompatiblenonarray
}

// Candidates lists the objects of users' that PostgreSQL might choose for what stands below the cuts of a plan.
func (o *Overloads) Candidates(ctx context.Context, reader *upstream.Reader, p *planner.Plan) ([]overload, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.at) > overloadsAge {
		if err := o.load(ctx, reader); err != nil {
			return nil, err
		}
		o.at = time.Now()
	}
	if len(o.list) == 0 {
		return nil, nil
	}

	// Most databases have none, and most statements use nothing that one could stand in for.
	var out []overload
	uses := p.Uses()
	for _, x := range o.list {
		if slices.ContainsFunc(uses, func(u row.Use) bool { return o.applies(x, u) }) {
			out = append(out, x)
		}
	}
	return out, nil
}

// applies reports whether PostgreSQL might choose x for u (manual, sections 10.2 and 10.3): an exact match is chosen
// before any other, and otherwise what values can be cast to by themselves.
func (o *Overloads) applies(x overload, u row.Use) bool {
	if x.name != u.Name || (x.kind == 't') != u.Type {
		return false
	}
	if u.Type {
		return true
	}

	// With defaults or VARIADIC it may be called with other numbers of arguments.
	if !x.some && len(x.args) != len(u.Args) {
		return false
	}
	exact := len(x.args) == len(u.Args)
	for i, a := range u.Args {
		if i >= len(x.args) {
			break
		}
		t := x.args[i]
		exact = exact && (a == t || u.Loose[i])
		if !u.Loose[i] && a != t && !o.implicit[[2]uint32{a, t}] && !slices.Contains(polymorphic, t) {
			return false
		}
	}
	return exact || !o.builtin[signature(x.kind, u.Name, u.Args)]
}

func signature(kind byte, name string, args []uint32) string {
	return fmt.Sprint(string(kind), name, args)
}

func (o *Overloads) load(ctx context.Context, reader *upstream.Reader) error {
	functions, operators, types := row.Names()
	params := [][]byte{array(functions), array(operators), array(types)}
	const objects = `
	  SELECT 'f', p.oid::text, p.proname::text, array_to_string(p.proargtypes, ','),
	    (p.pronargdefaults > 0 OR p.provariadic <> 0)::text, p.pronamespace AS ns
	  FROM pg_proc AS p WHERE p.proname::text = ANY($1::text[])
	  UNION ALL SELECT 'o', o.oid::text, o.oprname::text,
	    CASE WHEN o.oprleft = 0 THEN ARRAY[o.oprright] ELSE ARRAY[o.oprleft, o.oprright] END::text,
	    'false', o.oprnamespace
	  FROM pg_operator AS o WHERE o.oprname::text = ANY($2::text[])
	  UNION ALL SELECT 't', t.oid::text, t.typname::text, '{}', 'false', t.typnamespace
	  FROM pg_type AS t WHERE t.typname::text = ANY($3::text[])`
	rows, err := reader.Query(ctx, "SELECT * FROM ("+objects+") AS x WHERE ns <> 'pg_catalog'::regnamespace", params,
		nil)
	if err != nil {
		return fmt.Errorf("looking for overloads: %w", err)
	}

	// Where users have none, what PostgreSQL has of its own does not matter.
	o.list, o.builtin, o.implicit = nil, map[string]bool{}, map[[2]uint32]bool{}
	for _, r := range rows {
		o.list = append(o.list, overload{kind: r[0].Text[0], oid: r[1].Text, name: r[2].Text, args: oids(r[3].Text),
			some: r[4].Text == "true"})
	}
	if len(rows) == 0 {
		return nil
	}

	rows, err = reader.Query(ctx, "SELECT * FROM ("+objects+") AS x WHERE ns = 'pg_catalog'::regnamespace", params, nil)
	if err != nil {
		return fmt.Errorf("looking for overloads: %w", err)
	}
	for _, r := range rows {
		o.builtin[signature(r[0].Text[0], r[2].Text, oids(r[3].Text))] = true
	}
	// A domain takes the values of its base type.
	rows, err = reader.Query(ctx, `SELECT castsource::text, casttarget::text FROM pg_cast WHERE castcontext = 'i'
	  UNION SELECT typbasetype::text, oid::text FROM pg_type WHERE typtype = 'd'
	  UNION SELECT c.castsource::text, t.oid::text
	  FROM pg_cast AS c JOIN pg_type AS t ON t.typtype = 'd' AND t.typbasetype = c.casttarget
	  WHERE c.castcontext = 'i'`, nil, nil)
	if err != nil {
		return fmt.Errorf("looking for casts: %w", err)
	}
	for _, r := range rows {
		pair := oids("{" + r[0].Text + "," + r[1].Text + "}")
		o.implicit[[2]uint32{pair[0], pair[1]}] = true
	}
	return nil
}

func array(words []string) []byte {
	values := make([]planner.Value, len(words))
	for i, w := range words {
		values[i] = planner.Value{Text: w}
	}
	return planner.Array(values)
}

// oids reads an array of OIDs.
func oids(s string) []uint32 {
	var out []uint32
	for _, w := range strings.Split(strings.Trim(s, "{}"), ",") {
		if n, err := strconv.ParseUint(w, 10, 32); err == nil {
			out = append(out, uint32(n))
		}
	}
	return out
}

// Own refuses a plan for which the client's search_path finds a user's object in the place of one of PostgreSQL's own
// that stands below a cut.
func (o *Overloads) Own(ctx context.Context, ask Ask, reader *upstream.Reader, p *planner.Plan) error {
	found, err := o.Candidates(ctx, reader, p)
	if err != nil || len(found) == 0 {
		return err
	}

	// All of them are asked about at once.
	var parts []string
	for _, x := range found {
		visible := map[byte]string{'f': "pg_function_is_visible", 'o': "pg_operator_is_visible",
			't': "pg_type_is_visible"}[x.kind]
		parts = append(parts, "SELECT "+x.oid+" WHERE pg_catalog."+visible+"("+x.oid+")")
	}
	rows, err := ask(ctx, strings.Join(parts, " UNION ALL "))
	if err != nil || len(rows) == 0 {
		return err
	}

	i := slices.IndexFunc(found, func(x overload) bool { return x.oid == rows[0][0] })
	if i < 0 {
		return fmt.Errorf("asked about overloads, the server speaks of others")
	}

	what := map[byte]string{'f': "function", 'o': "operator", 't': "type"}[found[i].kind]
	return sqlstate.New(sqlstate.NotAnswerable, "a user-defined %s %s could be meant in the place of PostgreSQL's own",
		what, found[i].name).
		WithHint("On protected rows there are PostgreSQL's own alone. Leave the schema of the other one out of " +
			"search_path.").At(p.Position())
}
