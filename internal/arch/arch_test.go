package arch

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRepository(t *testing.T) {
	found, err := Check(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// plantedImports are imports of a file, and what is found of them; nothing: they break no rule.
var plantedImports = []struct{ file, imports, want string }{
	{"privacy/p.go", "math fugu/sqlstate", "fugu/sqlstate: a leaf imports nothing of ours"},
	{"sqlstate/p.go", "fugu/privacy", "fugu/privacy: a leaf imports nothing of ours"},
	{"planner/aggregate/p.go", "fugu/parser", "fugu/parser: a leaf imports nothing of ours"},
	{"reuse/blue/p.go", "fugu/mechanism", "fugu/mechanism: a leaf imports nothing of ours"},
	{"privacy/p_test.go", "fugu/sqlstate", ""},
	{"parser/lex/p.go", "fugu/parser", "fugu/parser: words are found without grammar or catalog"},
	{"parser/lex/p.go", "github.com/pganalyze/pg_query_go/v6",
		"github.com/pganalyze/pg_query_go/v6: words are found without grammar or catalog"},
	{"parser/lex/p.go", "fugu/sqlstate", ""},
	{"parser/shadow/p.go", "fugu/parser", "fugu/parser: masks of the catalog know no statement of the parser's"},
	{"parser/shadow/p.go", "fugu/parser/tree fugu/parser/lex fugu/internal/hook", ""},
	{"wire/p.go", "fugu/parser", "fugu/parser: wire imports sqlstate and nothing else of ours"},
	{"wire/p.go", "fugu/sqlstate crypto/rand github.com/jackc/pgx/v5/pgproto3", ""},
	{"wire/p.go", "fugu/wire/auth", ""},
	{"wire/auth/p.go", "fugu/wire", "fugu/wire: who may come in is decided without a session"},
	{"wire/p_test.go", "fugu/test/pgcluster", ""},
	{"admin/p.go", "fugu/upstream",
		"fugu/upstream: what operators see is numbers that they are given: there is no way to a row, a statistic or " +
			"a statement"},
	{"admin/p.go", "github.com/prometheus/client_golang/prometheus", ""},
	{"privacy/joint/p.go", "fugu/ledger",
		"fugu/ledger: the joint account knows privacy, sensitivity and nothing else of ours"},
	{"privacy/joint/p.go", "fugu/privacy fugu/sensitivity gonum.org/v1/gonum/blas", ""},
	{"ledger/audit/p.go", "fugu/ledger", "fugu/ledger: an audit knows no store"},
	{"ledger/audit/p.go", "database/sql", "database/sql: an audit knows no store"},
	{"ledger/audit/p.go", "fugu/privacy crypto/sha256", ""},
	{"twin/p.go", "fugu/parser", "fugu/parser: the law of twins knows policies, samplers and nothing else of ours"},
	{"twin/p.go", "fugu/policy fugu/mechanism fugu/internal/hook", ""},
	{"twin/build/p.go", "fugu/upstream", ""},
	{"twin/columns/p.go", "fugu/upstream",
		"fugu/upstream: how columns are shown is worked out without a database"},
	{"twin/columns/p.go", "fugu/channel fugu/policy fugu/twin fugu/twin/class", ""},
	{"internal/config/p.go", "fugu/policy",
		"fugu/policy: configuration knows YAML, what is misspelt, and nothing else of ours"},
	{"internal/config/p.go", "fugu/internal/strictyaml", ""},
	{"dataset/p.go", "fugu/ledger",
		"fugu/ledger: what is known when a policy is loaded is no session's, and has no price"},
	{"dataset/p.go", "fugu/upstream fugu/planner", ""},
	{"reuse/p.go", "fugu/upstream", "fugu/upstream: what is reused knows no session, and is asked of nobody by itself"},
	{"reuse/p.go", "fugu/ledger fugu/quote", ""},
	{"model/p.go", "fugu/wire", "fugu/wire: SQL and mathematics know no protocol"},
	{"planner/sub/p.go", "fugu/upstream", "fugu/upstream: SQL and mathematics know no protocol"},
	{"parser/p.go", "fugu/planner/aggregate", "fugu/planner/aggregate: a statement is read without a plan"},
	{"parser/p.go", "github.com/jackc/pgx/v5/pgproto3",
		"github.com/jackc/pgx/v5/pgproto3: SQL and mathematics know no protocol"},
	{"mechanism/p.go", "crypto/rand fugu/privacy", ""},
	{"sensitivity/p.go", "fugu/privacy", ""},
	{"quote/p.go", "fugu/ledger", "fugu/ledger: a quote knows no session and nothing of who pays"},
	{"fit/p.go", "fugu/pipeline", "fugu/pipeline: a quote knows no session and nothing of who pays"},
	{"quote/p.go", "fugu/dataset fugu/upstream", ""},
	{"account/p.go", "fugu/upstream", "fugu/upstream: what was spent knows no session, no text and no row"},
	{"account/memory/p.go", "fugu/account fugu/ledger", ""},
	{"answer/p.go", "fugu/wire", "fugu/wire: an answer knows no session, no text and no protocol"},
	{"answer/p.go", "fugu/account fugu/upstream fugu/reuse", ""},
	{"preview/p.go", "fugu/pipeline", "fugu/pipeline: a preview knows no session and no protocol"},
	{"preview/p.go", "fugu/answer fugu/parser fugu/ledger", ""},
	{"meaning/p.go", "fugu/ledger", "fugu/ledger: what names mean is asked by whoever has a session"},
	{"meaning/p.go", "fugu/parser fugu/planner fugu/upstream", ""},
	{"internal/cache/p.go", "fugu/quote", "fugu/quote: a cache does not know what it keeps"},
	{"pipeline/p.go", "fugu/cmd/proxy", "fugu/cmd/proxy: a program is not imported"},
	{"pipeline/p.go", "fugu/test/adult", "fugu/test/adult: what is for tests stays there"},
	{"pipeline/p_test.go", "fugu/test/adult", ""},
	{"cmd/proxy/p.go", "fugu/examples/adult", "fugu/examples/adult: what is for tests stays there"},
	{"cmd/demo/p.go", "fugu/test/adult", ""},
	{"test/adult/p.go", "fugu/examples/adult", ""},
	{"testing/p.go", "fugu/test/adult", "fugu/test/adult: what is for tests stays there"},
	{"mechanism/p.go", "fugu/mechanism/published",
		"fugu/mechanism/published: mechanisms as published are for comparison"},
	{"test/paper/p.go", "fugu/mechanism/published", ""},
	{"pipeline/p.go", "crypto/rand", "crypto/rand: secret random numbers are made where noise and keys are"},
	{"mechanism/p.go", "math/rand/v2", "math/rand/v2: predictable random numbers are for tests"},
	{"cmd/demo/p.go", "math/rand", "math/rand: predictable random numbers are for tests"},
	{"test/adult/p.go", "math/rand", ""},
	{"mechanism/p_test.go", "math/rand/v2", ""},
}

// planted are texts of files, and what is found in them.
var planted = []struct{ file, text, want string }{
	{"parser/p.go", "package p\n\nvar err = sqlstate.New(\"42883\", \"none\")\n",
		"parser/p.go: writes an SQLSTATE out that package sqlstate has or should have a name for"},
	{"parser/p.go", "package p\n\nvar is = sqlstate.Is(err, \"42883\")\n",
		"parser/p.go: writes an SQLSTATE out that package sqlstate has or should have a name for"},
	{"parser/p.go", "package p\n\nvar err = sqlstate.New(sqlstate.SyntaxError, \"none\")\n", ""},
	{"docs/p.md", "see\n" + elsewhere[0] + "/x\n", "docs/p.md:2: mentions " + elsewhere[0]},
	{"p.sh", "cat " + elsewhere[3], "p.sh:1: mentions " + elsewhere[3]},
	{".git/p.go", importing("math/rand"), ""},
	{"p/p.go", "package p\n" + strings.Repeat("\n", maxLines), "p/p.go: has 401 lines, more than 400"},
	{"p/p.go", "package p\n" + strings.Repeat("\n", maxLines-1), ""},
	{"p/testdata/p.sql", strings.Repeat("\n", 2*maxLines), ""},
	{".git", elsewhere[0], ""},
}

// importing is the text of a file with these imports.
func importing(paths ...string) string {
	return "package p\n\nimport (\n\t_ \"" + strings.Join(paths, "\"\n\t_ \"") + "\"\n)\n"
}

// Each planted violation is found, and it alone.
func TestCheck(t *testing.T) {
	check := func(file, text, want string) {
		t.Helper()
		repository := fstest.MapFS{
			file:        {Data: []byte(text)},
			"p/fine.go": {Data: []byte(importing("fugu/wire", "fugu/privacy"))},
		}
		for name := range lengthy {
			repository[name] = &fstest.MapFile{Data: []byte("package p" + strings.Repeat("\n", maxLines+1))}
		}
		got, err := Check(repository)
		if joined := strings.Join(got, "\n"); err != nil || joined != want {
			t.Errorf("%s: got %q, %v, want %q", file, got, err, want)
		}
	}
	for _, c := range plantedImports {
		want := c.want
		if want != "" {
			want = c.file + ": imports " + want
		}
		check(c.file, importing(strings.Fields(c.imports)...), want)
	}
	for _, c := range planted {
		check(c.file, c.text, c.want)
	}
}

func TestCheckLists(t *testing.T) {
	lengthy["gone.go"] = "a test's"
	defer delete(lengthy, "gone.go")
	const gone = "gone.go: is on the list of lengthy files, but is not one"
	if got, err := Check(fstest.MapFS{}); err != nil || !slices.Contains(got, gone) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Check(fstest.MapFS{"p/p.go": {Data: []byte("no Go")}}); err == nil {
		t.Error("a file that does not parse was accepted")
	}
}
