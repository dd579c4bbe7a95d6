package parser

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fugu/parser/tree"
)

// corpora are the texts of testdata, and some of every other kind.
func corpora(t testing.TB) []string {
	t.Helper()
	texts := []string{
		"CREATE TABLE t (a int PRIMARY KEY, b text DEFAULT 'x' CHECK (b <> '')) PARTITION BY RANGE (a)",
		"CREATE TABLESPACE s LOCATION '/x'", "DO $$BEGIN END$$",
		"SELECT GROUPING(a), b[1:2], (c).d, ARRAY[1,2], ROW(1,2), CASE a WHEN 1 THEN 2 ELSE 3 END, " +
			"a::numeric(7,3)[], 1.5, 'x', B'1', NULL, true FROM t GROUP BY GROUPING SETS (a, ROLLUP(b, c))",
		"SELECT json_arrayagg(x ORDER BY y RETURNING jsonb), xmlelement(name a), JSON_OBJECT('a': 1) FROM " +
			"JSON_TABLE('[]', '$' COLUMNS (x int PATH '$')) j",
		"COPY t (a) FROM STDIN WITH (FORMAT csv)", "GRANT SELECT ON t TO r", "EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1",
		"NOTIFY c, 'p'", "DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT 1",
		"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET b = 1 WHEN NOT MATCHED THEN INSERT VALUES (1)",
		"CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"SELECT a, rank() OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM a " +
			"TABLESAMPLE system (1) CROSS JOIN LATERAL f(a.b) WITH ORDINALITY AS f(x, y) FOR UPDATE OF a SKIP LOCKED",
		`SELECT E'\b\f\n\r\t\x01\x1f\x7f\\"<>/&', U&'\00e9\+01F600', "a""<b>\" AS "x'y", '' AS "é", ` +
			"-0.0, 0, 1e400, 9223372036854775807, 2147483648, x'1F', B'', false",
		"SELECT 1; SELECT 2; ;", "", "CREATE TABLE t (LIKE u INCLUDING ALL, a int GENERATED ALWAYS AS IDENTITY, b " +
			"int GENERATED ALWAYS AS (a + 1) STORED, FOREIGN KEY (a) REFERENCES v MATCH FULL ON DELETE SET NULL (a))",
	}
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n\n") {
			_, sql, _ := strings.Cut(part, "\n")
			sql, _, _ = strings.Cut(sql, "\n----")
			texts = append(texts, sql)
		}
	}
	return texts
}

// parsed is a text and its tree.
type parsed struct {
	sql  string
	tree *pg.ParseResult
}

// grammatical are the corpora as far as PostgreSQL's grammar knows them.
func grammatical(t testing.TB) []parsed {
	t.Helper()
	var out []parsed
	for _, sql := range corpora(t) {
		if read, err := pg.Parse(sql); err == nil {
			out = append(out, parsed{sql, read})
		}
	}
	if len(out) < 50 {
		t.Fatalf("%d trees only", len(out))
	}
	return out
}

// trees are the statements of the corpora.
func trees(t testing.TB) []*pg.Node {
	t.Helper()
	var out []*pg.Node
	for _, p := range grammatical(t) {
		for _, s := range p.tree.Stmts {
			out = append(out, s.Stmt)
		}
	}
	return out
}

// rangeInspect is inspect by protobuf's own reflection.
func rangeInspect(m protoreflect.Message, f func(protoreflect.Message) bool) {
	if !m.IsValid() || !f(m) {
		return
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.Message() == nil {
			return true
		}
		if fd.IsList() {
			for i, l := 0, v.List(); i < l.Len(); i++ {
				rangeInspect(l.Get(i).Message(), f)
			}
			return true
		}
		rangeInspect(v.Message(), f)
		return true
	})
}

// sameTree compares two trees up to the places where their nodes stood, by protobuf's own reflection, on copies.
func sameTree[M proto.Message](a, b M) bool {
	x, y := proto.Clone(a), proto.Clone(b)
	for _, n := range []proto.Message{x, y} {
		rangeInspect(n.ProtoReflect(), func(m protoreflect.Message) bool {
			for _, name := range []protoreflect.Name{"location", "arg_location", "stmt_location", "stmt_len"} {
				if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.Int32Kind {
					m.Clear(f)
				}
			}
			return true
		})
	}
	return proto.Equal(x, y)
}

// Every message of every tree is met once, and what stands below a refused one is not. Each says where it stood.
func TestInspect(t *testing.T) {
	for _, n := range trees(t) {
		for _, under := range []func(proto.Message) bool{
			func(proto.Message) bool { return true },
			func(m proto.Message) bool { _, call := m.(*pg.FuncCall); return !call },
		} {
			got, want := map[proto.Message]int{}, map[proto.Message]int{}
			tree.Inspect(n, func(m proto.Message) bool { got[m]++; return under(m) })
			rangeInspect(n.ProtoReflect(), func(m protoreflect.Message) bool {
				want[m.Interface()]++
				return under(m.Interface())
			})
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %d messages, want %d", n, len(got), len(want))
			}
			for m := range got {
				location := int64(0)
				if f := m.ProtoReflect().Descriptor().Fields().ByName("location"); f != nil &&
					f.Kind() == protoreflect.Int32Kind {
					location = m.ProtoReflect().Get(f).Int()
				}
				if got := tree.LocationOf(m); int64(got) != location {
					t.Errorf("%v stands at %d, want %d", m, got, location)
				}
			}
		}
	}
	tree.Inspect((*pg.Node)(nil),
		func(proto.Message) bool { t.Error("a message that is not there was met"); return true })
	tree.Inspect(&pg.List{Items: []*pg.Node{nil}}, func(m proto.Message) bool {
		if _, list := m.(*pg.List); !list {
			t.Error("an item that is not there was met")
		}
		return true
	})
}

// mutate changes one field of one message somewhere below n, as a deparser's mistake would, and names it.
func mutate(r *rand.Rand, n proto.Message) string {
	var all []protoreflect.Message
	rangeInspect(n.ProtoReflect(), func(m protoreflect.Message) bool { all = append(all, m); return true })
	for {
		m := all[r.IntN(len(all))]
		fields := m.Descriptor().Fields()
		if fields.Len() == 0 {
			continue
		}
		f := fields.Get(r.IntN(fields.Len()))
		switch {
		case f.IsList():
			if l := m.Mutable(f).List(); l.Len() > 0 && r.IntN(2) == 0 {
				l.Truncate(l.Len() - 1)
			} else if f.Kind() == protoreflect.MessageKind {
				l.AppendMutable()
			}
		case f.Kind() == protoreflect.MessageKind:
			if m.Has(f) {
				m.Clear(f)
			} else {
				m.Mutable(f)
			}
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(m.Get(f).String()+"x"))
		case f.Kind() == protoreflect.BoolKind:
			m.Set(f, protoreflect.ValueOfBool(!m.Get(f).Bool()))
		case f.Kind() == protoreflect.Int32Kind:
			m.Set(f, protoreflect.ValueOfInt32(int32(m.Get(f).Int())+1))
		case f.Kind() == protoreflect.EnumKind:
			m.Set(f, protoreflect.ValueOfEnum(m.Get(f).Enum()+1))
		default:
			continue
		}
		return fmt.Sprintf("%s.%s", m.Descriptor().Name(), f.Name())
	}
}

// A text reads as its own tree, as no other text's, and as no tree that differs in any one field.
func TestReads(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	all := grammatical(t)
	check := func(sql string, parsed *pg.ParseResult, want bool, what string) {
		t.Helper()
		if got, err := tree.Reads(sql, parsed); err != nil || got != want {
			t.Errorf("%q reads as %v: %v, want %v %s: %v", sql, parsed, got, want, what, err)
		}
	}
	same, different := 0, 0
	for i, p := range all {
		check(p.sql, p.tree, true, "")
		for j, q := range all[:i] {
			if i-j <= 5 || (i+j)%23 == 0 {
				check(p.sql, q.tree, sameTree(p.tree, q.tree), "")
			}
		}
		for range 25 {
			m := tree.Clone(p.tree)
			what := mutate(r, m)
			want := sameTree(p.tree, m)
			check(p.sql, m, want, what)
			if want {
				same++
			} else {
				different++
			}
		}
	}
	if same < 100 || different < 1000 {
		t.Errorf("%d changes leave the tree the same, %d do not", same, different)
	}
	for _, sql := range []string{"SELECT 1)", "SELECT '"} {
		if got, err := tree.Reads(sql, &pg.ParseResult{Version: all[0].tree.Version}); got || err == nil {
			t.Errorf("%q reads as nothing", sql)
		}
	}
}

// FuzzReads: a text reads as its own tree, and as another only if the two are the same.
func FuzzReads(f *testing.F) {
	texts := corpora(f)
	for i, sql := range texts {
		f.Add(sql, texts[(i+1)%len(texts)], uint64(i))
	}
	f.Fuzz(func(t *testing.T, sql, other string, seed uint64) {
		if guard(sql) != nil || guard(other) != nil {
			return
		}
		parsed, err := pg.Parse(sql)
		if err != nil {
			return
		}
		if got, err := tree.Reads(sql, parsed); err != nil || !got {
			t.Errorf("%q does not read as itself: %v", sql, err)
		}
		if second, err := pg.Parse(other); err == nil {
			if got, _ := tree.Reads(other, parsed); got != sameTree(parsed, second) {
				t.Errorf("%q reads as the tree of %q: %v", other, sql, got)
			}
		}
		m := tree.Clone(parsed)
		what := mutate(rand.New(rand.NewPCG(seed, 1)), m)
		if got, _ := tree.Reads(sql, m); got != sameTree(parsed, m) {
			t.Errorf("%q reads as itself with %s changed: %v", sql, what, got)
		}
	})
}

// The relation that is built is the one that would be parsed.
func TestUnnest(t *testing.T) {
	for _, r := range []Relation{
		{First: 1, Columns: []RelationColumn{{"a", "text"}}},
		{First: 7, Columns: []RelationColumn{{"a b", "pg_catalog.int8"}, {`q"`, "numeric(7,3)"},
			{"select", "timestamp with time zone"}, {"C", `public."my Type"`}, {"v", "character varying(10)"},
			{"i", "interval day to second(3)"}, {"ar", "integer[]"}}},
	} {
		for range 2 { // the second time from the cache
			for _, alias := range []*pg.Alias{{Aliasname: "Adult"},
				{Aliasname: "x", Colnames: []*pg.Node{pg.MakeStrNode("Renamed")}}} {
				var args, names []string
				for i, c := range r.Columns {
					args = append(args, fmt.Sprintf("$%d::%s[]", r.First+i, c.Type))
					name := c.Name
					if i < len(alias.Colnames) {
						name = "Renamed"
					}
					names = append(names, QuoteIdent(name))
				}
				parsed, err := pg.Parse(fmt.Sprintf("SELECT FROM unnest(%s) AS %s(%s)", strings.Join(args, ", "),
					QuoteIdent(alias.Aliasname), strings.Join(names, ", ")))
				if err != nil {
					t.Fatal(err)
				}
				got, err := unnest(r, alias)
				if err != nil || !sameTree(&pg.Node{Node: got}, parsed.Stmts[0].Stmt.GetSelectStmt().FromClause[0]) {
					t.Errorf("%+v: %v, %v", r, got, err)
				}
			}
		}
	}
	for _, typ := range []string{"", "no type", "int; SELECT 1", "int, 2::int", "int) --"} {
		if _, err := unnest(Relation{First: 1, Columns: []RelationColumn{{"a", typ}}},
			&pg.Alias{Aliasname: "x"}); err == nil {
			t.Errorf("%q was taken for a type", typ)
		}
	}
}

// checkAtMost compares the bound with what the scanner counts.
func checkAtMost(t *testing.T, sql string) {
	t.Helper()
	scan, err := pg.Scan(sql)
	if err != nil {
		return
	}
	if got := atMost(sql); got < len(scan.Tokens) {
		t.Errorf("%q: at most %d tokens, and it has %d", sql, got, len(scan.Tokens))
	}
}

func TestAtMost(t *testing.T) {
	for _, sql := range []string{"", " ", "a", "a b", "1", "1e5", "1.5e-3", "0xff 0b1 0o7 1_000", "$1$2", "$1+$2",
		"$$x$$y$t$z$t$", "a$b", "a.b.c", "((()))", "- - -", "--\n--\n1", "/*a/*b*/*/c",
		"'a''b'\n'c'", "e'\\''f", "u&\"x\"", "x'1f'b'0'", "n'x'", "a::b:=c", "ä.ü", "<->@@>=", "1.2.3", ".5.5",
		"\"a\"\"b\"c", "1..2", "a[1:2]", "5a"} {
		checkAtMost(t, sql)
	}
	if got := atMost("SELECT count(*) FROM adult"); got != 7 {
		t.Errorf("a plain statement has at most %d tokens", got)
	}
	r := rand.New(rand.NewPCG(41, 42))
	parts := []string{"a", "B", "_", "1", "23", "$", "$1", "'", "''", "\"", "e'", "u&", "&", ".", "e", "x", "0x", "-",
		"--", "/*", "*/", "(", ")", ",", ";", ":", "::", " ", "\n", "\t", "\v", "ä", "$t$", "<", "=", "[", "]"}
	for range 60_000 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		checkAtMost(t, b.String())
	}
}

func FuzzAtMost(f *testing.F) {
	f.Add("SELECT 1e5adult, $1x, U&\"a\"b")
	f.Fuzz(func(t *testing.T, sql string) {
		if strings.IndexByte(sql, 0) < 0 {
			checkAtMost(t, sql)
		}
	})
}
