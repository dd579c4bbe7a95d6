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
)

// trees are the statements of the corpora that PostgreSQL's grammar knows, and some of every other kind.
func trees(t testing.TB) []*pg.Node {
	t.Helper()
	var out []*pg.Node
	texts := []string{
		"CREATE TABLE t (a int PRIMARY KEY, b text DEFAULT 'x' CHECK (b <> '')) PARTITION BY RANGE (a)", "CREATE TABLESPACE s LOCATION '/x'", "DO $$BEGIN END$$",
		"SELECT GROUPING(a), b[1:2], (c).d, ARRAY[1,2], ROW(1,2), CASE a WHEN 1 THEN 2 ELSE 3 END, a::numeric(7,3)[], 1.5, 'x', B'1', NULL, true FROM t GROUP BY GROUPING SETS (a, ROLLUP(b, c))",
		"SELECT json_arrayagg(x ORDER BY y RETURNING jsonb), xmlelement(name a), JSON_OBJECT('a': 1) FROM JSON_TABLE('[]', '$' COLUMNS (x int PATH '$')) j",
		"COPY t (a) FROM STDIN WITH (FORMAT csv)", "GRANT SELECT ON t TO r", "EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1", "NOTIFY c, 'p'", "DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT 1",
		"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET b = 1 WHEN NOT MATCHED THEN INSERT VALUES (1)", "CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"SELECT a, rank() OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM a TABLESAMPLE system (1) CROSS JOIN LATERAL f(a.b) WITH ORDINALITY AS f(x, y) FOR UPDATE OF a SKIP LOCKED",
	}
	files, err := filepath.Glob("testdata/[abr]*")
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
	for _, sql := range texts {
		if tree, err := pg.Parse(sql); err == nil {
			for _, s := range tree.Stmts {
				out = append(out, s.Stmt)
			}
		}
	}
	if len(out) < 50 {
		t.Fatalf("%d trees only", len(out))
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

// sameByProto is sameTree by protobuf's own reflection, on copies.
func sameByProto(a, b *pg.Node) bool {
	a, b = proto.Clone(a).(*pg.Node), proto.Clone(b).(*pg.Node)
	for _, n := range []*pg.Node{a, b} {
		rangeInspect(n.ProtoReflect(), func(m protoreflect.Message) bool {
			for _, name := range []protoreflect.Name{"location", "arg_location", "stmt_location", "stmt_len"} {
				if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.Int32Kind {
					m.Clear(f)
				}
			}
			return true
		})
	}
	return proto.Equal(a, b)
}

// Every message of every tree is met once, and what stands below a refused one is not.
func TestInspect(t *testing.T) {
	visit := func(walk func(protoreflect.Message, func(protoreflect.Message) bool), n *pg.Node, below func(protoreflect.Message) bool) map[proto.Message]int {
		met := map[proto.Message]int{}
		walk(n.ProtoReflect(), func(m protoreflect.Message) bool {
			met[m.Interface()]++
			return below(m)
		})
		return met
	}
	for _, n := range trees(t) {
		for _, below := range []func(protoreflect.Message) bool{
			func(protoreflect.Message) bool { return true },
			func(m protoreflect.Message) bool { return m.Descriptor().Name() != "FuncCall" },
		} {
			if got, want := visit(inspect, n, below), visit(rangeInspect, n, below); !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %d messages, want %d", n, len(got), len(want))
			}
		}
	}
	if (*pg.Node)(nil).ProtoReflect().IsValid() {
		t.Fatal("a message that is not there is valid")
	}
	inspect((*pg.Node)(nil).ProtoReflect(), func(protoreflect.Message) bool { t.Error("a message that is not there was met"); return true })
}

// mutate changes one field of one message somewhere below n, as a deparser's mistake would, and names it.
func mutate(r *rand.Rand, n *pg.Node) string {
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

// sameTree says what proto.Equal says without the places, of equal trees and of such that differ in any one field.
func TestSameTree(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	all := trees(t)
	same, different := 0, 0
	for i, n := range all {
		for j, m := range all[:i+1] {
			if i-j > 5 && (i+j)%7 > 0 {
				continue
			}
			if got, want := sameTree(n, m), sameByProto(n, m); got != want || i == j && !got {
				t.Errorf("%v and %v: %v, want %v", n, m, got, want)
			}
		}
		for range 60 {
			m := proto.Clone(n).(*pg.Node)
			what := mutate(r, m)
			got, want := sameTree(n, m), sameByProto(n, m)
			if got != want {
				t.Errorf("%s changed in %v: %v, want %v", what, n, got, want)
			}
			if got {
				same++
			} else {
				different++
			}
		}
	}
	if same < 100 || different < 1000 {
		t.Errorf("%d changes leave the tree the same, %d do not", same, different)
	}
}

// The relation that is built is the one that would be parsed.
func TestUnnest(t *testing.T) {
	for _, r := range []Relation{
		{First: 1, Columns: []RelationColumn{{"a", "text"}}},
		{First: 7, Columns: []RelationColumn{{"a b", "pg_catalog.int8"}, {`q"`, "numeric(7,3)"}, {"select", "timestamp with time zone"}, {"C", `public."my Type"`}, {"v", "character varying(10)"}, {"i", "interval day to second(3)"}, {"ar", "integer[]"}}},
	} {
		for range 2 { // the second time from the cache
			for _, alias := range []*pg.Alias{{Aliasname: "Adult"}, {Aliasname: "x", Colnames: []*pg.Node{pg.MakeStrNode("Renamed")}}} {
				var args, names []string
				for i, c := range r.Columns {
					args = append(args, fmt.Sprintf("$%d::%s[]", r.First+i, c.Type))
					name := c.Name
					if i < len(alias.Colnames) {
						name = "Renamed"
					}
					names = append(names, QuoteIdent(name))
				}
				tree, err := pg.Parse(fmt.Sprintf("SELECT FROM unnest(%s) AS %s(%s)", strings.Join(args, ", "), QuoteIdent(alias.Aliasname), strings.Join(names, ", ")))
				if err != nil {
					t.Fatal(err)
				}
				got, err := unnest(r, alias)
				if err != nil || !sameTree(&pg.Node{Node: got}, tree.Stmts[0].Stmt.GetSelectStmt().FromClause[0]) {
					t.Errorf("%+v: %v, %v", r, got, err)
				}
			}
		}
	}
	for _, typ := range []string{"", "no type", "int; SELECT 1", "int, 2::int", "int) --"} {
		if _, err := unnest(Relation{First: 1, Columns: []RelationColumn{{"a", typ}}}, &pg.Alias{Aliasname: "x"}); err == nil {
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
	for _, sql := range []string{"", " ", "a", "a b", "1", "1e5", "1.5e-3", "0xff 0b1 0o7 1_000", "$1$2", "$1+$2", "$$x$$y$t$z$t$", "a$b", "a.b.c", "((()))", "- - -", "--\n--\n1", "/*a/*b*/*/c",
		"'a''b'\n'c'", "e'\\''f", "u&\"x\"", "x'1f'b'0'", "n'x'", "a::b:=c", "ä.ü", "<->@@>=", "1.2.3", ".5.5", "\"a\"\"b\"c", "1..2", "a[1:2]", "5a"} {
		checkAtMost(t, sql)
	}
	if got := atMost("SELECT count(*) FROM adult"); got != 7 {
		t.Errorf("a plain statement has at most %d tokens", got)
	}
	r := rand.New(rand.NewPCG(41, 42))
	parts := []string{"a", "B", "_", "1", "23", "$", "$1", "'", "''", "\"", "e'", "u&", "&", ".", "e", "x", "0x", "-", "--", "/*", "*/", "(", ")", ",", ";", ":", "::", " ", "\n", "\t", "\v", "ä", "$t$", "<", "=", "[", "]"}
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
