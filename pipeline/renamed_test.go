package pipeline

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/dataset"
	"fugu/parser"
	"fugu/parser/lex"
	"fugu/parser/shadow"
	"fugu/planner"
	"fugu/test/patient"
	"fugu/wire"
)

// twinned is a snapshot with twins of public.account and of "of"."odd ""name", and nothing else.
func twinned() *Snapshot {
	s := &dataset.Snapshot{}
	for _, name := range [][2]string{{"public", "account"}, {"of", `odd "name`}} {
		s.Tables = append(s.Tables, &dataset.Protected{
			Table:  &planner.Table{Schema: name[0], Name: name[1], Twin: true},
			Syntax: parser.Table{Schema: name[0], Name: name[1], Twin: true}})
	}
	out, _ := newSnapshot(s, nil) // of which no policy has an account
	return out
}

// onTwin is a session for which the Adult table stands for its twin, in a house that knows the shape of a text about
// it.
func onTwin(t testing.TB, sql string) *session {
	t.Helper()
	s := &session{engine: newHouse(t).engine, user: "alice"}
	snap := s.engine.snapshot.Load()
	for _, p := range snap.Tables {
		p.Table.Twin, p.Syntax.Twin = true, true
	}
	splice, _, ok := read(snap, sql)
	found, known := lex.Constants(sql)
	if !ok || !known {
		t.Fatalf("%s is not only renamed", sql)
	}
	of := shape{edits: splice.Edits, constants: found}
	snap.shapes.Add(planKey{sql: lex.Shape(sql, found)}, of, of.size())
	return s
}

// A text that is said again is not interpreted again, but where anything differs that its meaning hangs on.
func TestSaidAgain(t *testing.T) {
	sql := "SELECT count(*) FROM adult WHERE age = 17"
	s := onTwin(t, sql)
	ask := func(sql string, types ...uint32) wire.Statement {
		t.Helper()
		out, err := s.Interpret(t.Context(), sql, types)
		if err != nil || len(out) != 1 {
			t.Fatalf("%s: %d statements, %v", sql, len(out), err)
		}
		return out[0]
	}
	first := ask(sql)
	if ask(sql) != first {
		t.Error("it is interpreted again")
	}

	for what, other := range map[string]func() wire.Statement{
		"another constant":  func() wire.Statement { return ask(strings.Replace(sql, "17", "18", 1)) },
		"a type of a value": func() wire.Statement { return ask(sql, 23) },
		"a name of another relation's": func() wire.Statement {
			s.Resolve([][]string{{"adult", "pg_temp_3"}})
			out, err := s.Interpret(t.Context(), sql, nil)
			if err != nil || out != nil {
				t.Errorf("a temporary table of the name came to %d statements, %v", len(out), err)
			}
			return nil
		},
		"other policies": func() wire.Statement {
			old := s.engine.snapshot.Load()
			defer s.engine.snapshot.Store(old)
			s.engine.snapshot.Store(onTwin(t, sql).engine.snapshot.Load())
			return ask(sql)
		},
	} {
		again := ask(sql)
		if got := other(); got == again {
			t.Errorf("with %s it is what it was", what)
		}
	}

	s.engine.Close()
	if _, err := s.Interpret(t.Context(), sql, nil); err == nil {
		t.Error("an engine that is closed says it again")
	}
}

// read is what the whole way says of a text: what it becomes, and whether that is by names alone.
func read(s *Snapshot, sql string) (splice parser.Splice, respelled []string, renamed bool) {
	parse := func() []*parser.Statement {
		statements, _ := parser.Parse(sql, s.Catalog(context.Background(), nil, nil))
		return statements
	}
	splice, renamed = parser.Rename(sql, parse())
	for _, st := range parse() {
		text := st.Text
		if st.Masked {
			var err error
			if text, _, err = st.RewriteShadows(); err != nil {
				return parser.Splice{}, nil, false
			}
		}
		respelled = append(respelled, text)
	}
	return splice, respelled, renamed
}

// tree is how a text reads, whatever its spelling and places.
func tree(t *testing.T, sql string) string {
	t.Helper()
	x, err := pg.Parse(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	text, err := pg.Deparse(x)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}

// renames are texts of which only names have to be changed: @ stands before a name that gets the schema of twins, and
// @[x] for a schema x that it takes the place of.
var renames = []string{
	`SELECT abalance FROM @account WHERE aid = 17`,
	`SELECT @[public].account.aid FROM ONLY @[public].account, @account *`,
	`SELECT a.b.account.aid FROM @["public"]."account", a.b."é"`,
	`TABLE @[of]."odd ""name"`,
	`SELECT 'é', x FROM @ACCOUNT x, fugu_twin.account y, LATERAL (SELECT x.*) z`,
	`SELECT NULL::@account, CAST(ROW(1) AS @[public].account[]), @account '(1)', 'account'::regclass`,
	`WITH account AS (SELECT 1 FROM @account) SELECT * FROM account -- of account`,
	`UPDATE x SET (a, b) = (SELECT aid, bid FROM @account WHERE aid = 3) WHERE EXISTS (TABLE @account)`,
	`INSERT INTO x SELECT aid, $1 /* 'account */ FROM @account ON CONFLICT (a) DO UPDATE SET b = 7`,
	`MERGE INTO x USING @account a ON a.aid = x.a WHEN MATCHED THEN DELETE`,
	`SELECT 1 FROM @account WHERE aid IN (1, 22, 333) AND f = 'it''s' AND g BETWEEN -1 AND 1e+5 LIMIT 3;`,
	`SELECT a::float(24), 1_000, 0x1F, .5, 1., 3000000000, interval '1' day, E'\'', n'x' FROM @account`,
	`BEGIN; SELECT aid FROM @account; ; SELECT 5 FROM other; COPY @account TO STDOUT`,
	"SELECT 'a'\n'b', aid FROM @account",
	`CREATE VIEW v AS SELECT aid FROM @account`,
	`CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM @account; END`,
	`PREPARE p AS SELECT aid FROM @account WHERE f = $1`,
	`SELECT aid FROM adult.@[public].account WHERE adult.@[public].account.aid = 1`,
	`SELECT aid FROM @U&"\0061ccount"`,
	`SELECT aid AS "fugu_twin.x'", 'it is 5' FROM @account x WHERE x."f ""5" = '' AND aid <> ALL ('{1,2}')`,
}

// more are texts of which more has to be changed, or names that stand otherwise than one writes them.
var more = []string{
	`SELECT * FROM public . "account"`,
	`SELECT aid FROM U&"\0070ublic".account`,
	`BEGIN; SELECT aid FROM account; SELECT 'x' 'y' FROM other`, // no SQL: it is refused
	`CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM account'`,
	`SELECT count(*), fugu.sampling_error(count(*)) FROM account`,
	`SET fugu.epsilon = 1; SELECT aid FROM account`,
	`EXPLAIN (PRIVACY) SELECT aid FROM account`,
	`SELECT aid FROM other`,
}

var put = regexp.MustCompile(`@\[([^\]]*)\]`)

// client is the client's text of one of renames.
func client(marked string) string {
	return strings.ReplaceAll(put.ReplaceAllString(marked, "$1"), "@", "")
}

func TestRename(t *testing.T) {
	patient.Test(t)
	s := twinned()
	for _, marked := range renames {
		sql := client(marked)
		want := strings.ReplaceAll(put.ReplaceAllString(marked, parser.TwinSchema), "@", parser.TwinSchema+".")
		splice, respelled, ok := read(s, sql)
		switch {
		case !ok || splice.Text != want:
			t.Errorf("%s\nbecame %s\nand not %s (%v)", sql, splice.Text, want, ok)
			continue
		case tree(t, splice.Text) != tree(t, strings.Join(respelled, "; ")):
			t.Errorf("%s\nbecame another than by the deparser: %s", sql, respelled)
		}
		placed(t, sql, splice)
	}
	for _, sql := range more {
		if splice, _, ok := read(s, sql); ok {
			t.Errorf("%s\nis more than names, and became %s", sql, splice.Text)
		}
	}
}

// placed checks that an error at a token of the text that the guest gets is told at that of the client's.
func placed(t *testing.T, sql string, splice parser.Splice) {
	t.Helper()
	position := func(text string, offset int32) int32 { return int32(utf8.RuneCountInString(text[:offset]) + 1) }
	client, err1 := pg.Scan(sql)
	guest, err2 := pg.Scan(splice.Text)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	words := func(text string, tokens []*pg.ScanToken, i int) string {
		return text[tokens[i].Start:tokens[min(i+1, len(tokens)-1)].End]
	}
	j := 0
	for i, token := range client.Tokens {
		at := position(sql, token.Start)
		put := words(splice.Text, guest.Tokens, j) == parser.TwinSchema+"." &&
			!strings.Contains(words(sql, client.Tokens, i), ".")
		if put {
			if got := splice.At(position(splice.Text, guest.Tokens[j].Start)); got != at {
				t.Errorf("%s: the name at %d is told at %d", sql, at, got)
			}
			j += 2
		}
		if got := splice.At(position(splice.Text, guest.Tokens[j].Start)); got != at {
			t.Errorf("%s: %s at %d is told at %d", sql, sql[token.Start:token.End], at, got)
		}
		j++
	}
	if j != len(guest.Tokens) || splice.At(0) != 0 {
		t.Errorf("%s: %d tokens of %d were found, and 0 became %d", sql, j, len(guest.Tokens), splice.At(0))
	}
}

// awkward are values of strings that a wrong reading would take for something else.
var awkward = []string{"", "x", "account", "public.account", "fugu_twin.account", "' || account || '", " FROM account ",
	"--", "/*", "*/", `"`, "$$", "$1", ";", "0", "7'8", "é", "\n", "pg_class", strings.Repeat("account ", 20)}

// exchanged is a text with other constants, by the same rules.
func exchanged(r *rand.Rand, sql string, found []lex.Constant) string {
	var b strings.Builder
	at := 0
	for _, c := range found {
		b.WriteString(sql[at:c.At])
		if c.Stand == 0 {
			b.WriteString(strings.ReplaceAll(awkward[r.IntN(len(awkward))], "'", "''"))
		} else {
			b.WriteString(strconv.Itoa(r.IntN(1_000_000_000)))
		}
		at = c.At + c.Len
	}
	return b.String() + sql[at:]
}

// kinds are the tokens of a text without the values of constants.
func kinds(sql string) (out []string, ok bool) {
	scan, err := pg.Scan(sql)
	if err != nil {
		return nil, false
	}
	for _, token := range scan.Tokens {
		text := sql[token.Start:token.End]
		if token.Token == pg.Token_ICONST || token.Token == pg.Token_FCONST || token.Token == pg.Token_SCONST {
			text = ""
		}
		out = append(out, token.Token.String()+text)
	}
	return out, true
}

// sameByShape checks that a text of the shape of another becomes by it what it becomes when it is read.
func sameByShape(t *testing.T, s *Snapshot, sql, other string) {
	t.Helper()
	splice, _, ok := read(s, sql)
	found, known := lex.Constants(sql)
	if !ok || !known || !splice.Plain {
		return
	}
	s.shapes.Add(planKey{sql: lex.Shape(sql, found)}, shape{edits: splice.Edits, constants: found}, 1)
	got, ok := s.reshaped(planKey{sql: other}, nil)
	if !ok {
		return
	}
	want, _, renamed := read(s, other)
	if _, err := pg.Parse(other); err != nil {
		return // the server says so of either
	}
	if !renamed || got.text != want.Text || !slices.Equal(got.splice.Edits, want.Edits) || !want.Plain {
		t.Errorf("%q\nbecame by its shape %q\nand read as %q, %v\nafter %q", other, got.text, want.Text, renamed, sql)
	}
	a, ok1 := kinds(sql)
	b, ok2 := kinds(other)
	if !ok1 || !ok2 || slices.Compare(a, b) != 0 && !strings.Contains(other, "''") {
		t.Errorf("%q and %q have one shape, and other tokens", sql, other)
	}
}

// What a text becomes by the shape of another is what it becomes when it is read, whatever stands in its constants.
func TestTextsByShape(t *testing.T) {
	patient.Test(t)
	s, r := twinned(), rand.New(rand.NewPCG(1, 2))
	hits := 0
	for _, marked := range renames {
		sql := client(marked)
		found, ok := lex.Constants(sql)
		if !ok {
			continue
		}
		for range 50 {
			other := exchanged(r, sql, found)
			if again, ok := lex.Constants(other); ok && lex.Shape(other, again) == lex.Shape(sql, found) {
				hits++
				sameByShape(t, s, sql, other)
			}
		}
	}
	if hits < 300 {
		t.Errorf("only %d texts had the shape of another", hits)
	}
}

// What stands in a constant's place in another way is of another shape.
func TestTextsApart(t *testing.T) {
	patient.Test(t)
	for _, pair := range [][2]string{
		{`SELECT 1 FROM account`, `SELECT 1.0 FROM account`},
		{`SELECT 1 FROM account`, `SELECT '1' FROM account`},
		{`SELECT 1 FROM account`, `SELECT 3000000000 FROM account`},
		{`SELECT 1 FROM account`, `SELECT $1 FROM account`},
		{`SELECT 'a' FROM account`, `SELECT 'a' 'b' FROM account`},
		{`SELECT "a" FROM account`, `SELECT "b" FROM account`},
		{`SELECT 1 FROM account -- 1`, `SELECT 1 FROM account -- 2`},
		{`SELECT a1 FROM account`, `SELECT a2 FROM account`},
		{`SELECT $1 FROM account`, `SELECT $2 FROM account`},
		{`SELECT 1.5 FROM account`, `SELECT 2.5 FROM account`},
		{`SELECT 1 FROM account`, `SELECT  FROM account`},
		{`SELECT 1e5 FROM account`, `SELECT 1e6 FROM account`},
		{`SELECT 0x1 FROM account`, `SELECT 0x2 FROM account`},
	} {
		a, ok1 := lex.Constants(pair[0])
		b, ok2 := lex.Constants(pair[1])
		if !ok1 || !ok2 || lex.Shape(pair[0], a) == lex.Shape(pair[1], b) {
			t.Errorf("%q and %q have one shape", pair[0], pair[1])
		}
	}
	for _, sql := range []string{`SELECT E'a'`, `SELECT b'1'`, `SELECT x'1'`, `SELECT n'a'`, `SELECT U&'a'`,
		`SELECT U&"a"`, `SELECT $$a$$`, `SELECT $a$b$a$`, `SELECT 'a\'`, `SELECT 'a`, `SELECT "a`, `SELECT /* a`,
		`SELECT 1'a'`, `SELECT $1a`, "SELECT '\x00'", strings.Repeat("x", lex.MaxConstants+1)} {
		if _, ok := lex.Constants(sql); ok {
			t.Errorf("%q has a shape", sql)
		}
	}
}

// A word in a string that only reading decides about keeps a text from being known by its shape.
func TestShapeWithASuspect(t *testing.T) {
	patient.Test(t)
	s := twinned()
	shadows, err := shadow.New([]shadow.Root{{Schema: "public", Name: "account", OID: 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Masks = shadows
	sql := "SELECT 'x' FROM account"
	found, _ := lex.Constants(sql)
	of := shape{edits: []parser.Edit{{At: strings.Index(sql, "account"), Put: "fugu_twin."}}, constants: found}
	s.shapes.Add(planKey{sql: lex.Shape(sql, found)}, of, 1)
	for other, want := range map[string]bool{"SELECT 'it is' FROM account": true,
		"SELECT 'pg_class' FROM account":            false,
		"SELECT 'pg_relation_size(1)' FROM account": false, "SELECT 'information_schema' FROM account": false} {
		if _, ok := s.reshaped(planKey{sql: other}, nil); ok != want {
			t.Errorf("%s: known by its shape: %v", other, ok)
		}
	}
	if _, ok := s.reshaped(planKey{sql: "SELECT 'x' FROM account", means: "account\x00own"}, nil); ok {
		t.Error("a shape is known where its names mean something else")
	}
}

func FuzzShape(f *testing.F) {
	for _, marked := range renames {
		f.Add(client(marked), uint64(1))
	}
	f.Fuzz(func(t *testing.T, sql string, seed uint64) {
		found, ok := lex.Constants(sql)
		if !ok {
			return
		}
		other := exchanged(rand.New(rand.NewPCG(seed, 3)), sql, found)
		again, ok := lex.Constants(other)
		if ok && lex.Shape(other, again) == lex.Shape(sql, found) {
			sameByShape(t, twinned(), sql, other)
		}
	})
}
