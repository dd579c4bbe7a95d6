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

// Each planted violation is found, and it alone.
func TestCheck(t *testing.T) {
	imports := func(paths ...string) string {
		return "package p\n\nimport (\n\t_ \"" + strings.Join(paths, "\"\n\t_ \"") + "\"\n)\n"
	}
	for _, c := range []struct{ file, text, want string }{
		{"privacy/p.go", imports("math", "fugu/sqlstate"), "privacy/p.go: imports fugu/sqlstate: a leaf imports nothing of ours"},
		{"sqlstate/p.go", imports("fugu/privacy"), "sqlstate/p.go: imports fugu/privacy: a leaf imports nothing of ours"},
		{"planner/aggregate/p.go", imports("fugu/parser"), "planner/aggregate/p.go: imports fugu/parser: a leaf imports nothing of ours"},
		{"reuse/blue/p.go", imports("fugu/mechanism"), "reuse/blue/p.go: imports fugu/mechanism: a leaf imports nothing of ours"},
		{"privacy/p_test.go", imports("fugu/sqlstate"), ""},
		{"parser/lex/p.go", imports("fugu/parser"), "parser/lex/p.go: imports fugu/parser: words are found without grammar or catalog"},
		{"parser/lex/p.go", imports("github.com/pganalyze/pg_query_go/v6"),
			"parser/lex/p.go: imports github.com/pganalyze/pg_query_go/v6: words are found without grammar or catalog"},
		{"parser/lex/p.go", imports("fugu/sqlstate"), ""},
		{"parser/shadow/p.go", imports("fugu/parser"),
			"parser/shadow/p.go: imports fugu/parser: masks of the catalog know no statement of the parser's"},
		{"parser/shadow/p.go", imports("fugu/parser/tree", "fugu/parser/lex", "fugu/internal/hook"), ""},
		{"wire/p.go", imports("fugu/parser"), "wire/p.go: imports fugu/parser: wire imports sqlstate and nothing else of ours"},
		{"wire/p.go", imports("fugu/sqlstate", "crypto/rand", "github.com/jackc/pgx/v5/pgproto3"), ""},
		{"wire/p.go", imports("fugu/wire/auth"), ""},
		{"wire/auth/p.go", imports("fugu/wire"), "wire/auth/p.go: imports fugu/wire: who may come in is decided without a session"},
		{"wire/p_test.go", imports("fugu/test/pgcluster"), ""},
		{"privacy/joint/p.go", imports("fugu/ledger"), "privacy/joint/p.go: imports fugu/ledger: the joint account knows privacy, sensitivity and nothing else of ours"},
		{"privacy/joint/p.go", imports("fugu/privacy", "fugu/sensitivity", "gonum.org/v1/gonum/blas"), ""},
		{"ledger/audit/p.go", imports("fugu/ledger"), "ledger/audit/p.go: imports fugu/ledger: an audit knows no store"},
		{"ledger/audit/p.go", imports("database/sql"), "ledger/audit/p.go: imports database/sql: an audit knows no store"},
		{"ledger/audit/p.go", imports("fugu/privacy", "crypto/sha256"), ""},
		{"twin/p.go", imports("fugu/parser"), "twin/p.go: imports fugu/parser: the law of twins knows policies, samplers and nothing else of ours"},
		{"twin/p.go", imports("fugu/policy", "fugu/mechanism", "fugu/internal/hook"), ""},
		{"twin/build/p.go", imports("fugu/upstream"), ""},
		{"internal/config/p.go", imports("fugu/policy"),
			"internal/config/p.go: imports fugu/policy: configuration knows YAML and nothing else of ours"},
		{"internal/config/p.go", imports("fugu/internal/strictyaml"), ""},
		{"dataset/p.go", imports("fugu/ledger"),
			"dataset/p.go: imports fugu/ledger: what is known when a policy is loaded is no session's, and has no price"},
		{"dataset/p.go", imports("fugu/upstream", "fugu/planner"), ""},
		{"reuse/p.go", imports("fugu/upstream"),
			"reuse/p.go: imports fugu/upstream: what is reused knows no session, and is asked of nobody by itself"},
		{"reuse/p.go", imports("fugu/ledger", "fugu/quote"), ""},
		{"model/p.go", imports("fugu/wire"), "model/p.go: imports fugu/wire: SQL and mathematics know no protocol"},
		{"planner/sub/p.go", imports("fugu/upstream"), "planner/sub/p.go: imports fugu/upstream: SQL and mathematics know no protocol"},
		{"parser/p.go", imports("github.com/jackc/pgx/v5/pgproto3"), "parser/p.go: imports github.com/jackc/pgx/v5/pgproto3: SQL and mathematics know no protocol"},
		{"mechanism/p.go", imports("crypto/rand", "fugu/privacy"), ""},
		{"sensitivity/p.go", imports("fugu/privacy"), ""},
		{"quote/p.go", imports("fugu/ledger"), "quote/p.go: imports fugu/ledger: a quote knows no session and nothing of who pays"},
		{"fit/p.go", imports("fugu/pipeline"), "fit/p.go: imports fugu/pipeline: a quote knows no session and nothing of who pays"},
		{"quote/p.go", imports("fugu/dataset", "fugu/upstream"), ""},
		{"internal/cache/p.go", imports("fugu/quote"), "internal/cache/p.go: imports fugu/quote: a cache does not know what it keeps"},
		{"pipeline/p.go", imports("fugu/cmd/proxy"), "pipeline/p.go: imports fugu/cmd/proxy: a program is not imported"},
		{"pipeline/p.go", imports("fugu/test/adult"), "pipeline/p.go: imports fugu/test/adult: what is for tests stays there"},
		{"pipeline/p_test.go", imports("fugu/test/adult"), ""},
		{"cmd/proxy/p.go", imports("fugu/examples/adult"), "cmd/proxy/p.go: imports fugu/examples/adult: what is for tests stays there"},
		{"cmd/demo/p.go", imports("fugu/test/adult"), ""},
		{"test/adult/p.go", imports("fugu/examples/adult"), ""},
		{"testing/p.go", imports("fugu/test/adult"), "testing/p.go: imports fugu/test/adult: what is for tests stays there"},
		{"mechanism/p.go", imports("fugu/mechanism/published"), "mechanism/p.go: imports fugu/mechanism/published: mechanisms as published are for comparison"},
		{"test/paper/p.go", imports("fugu/mechanism/published"), ""},
		{"pipeline/p.go", imports("crypto/rand"), "pipeline/p.go: imports crypto/rand: secret random numbers are made where noise and keys are"},
		{"mechanism/p.go", imports("math/rand/v2"), "mechanism/p.go: imports math/rand/v2: predictable random numbers are for tests"},
		{"cmd/demo/p.go", imports("math/rand"), "cmd/demo/p.go: imports math/rand: predictable random numbers are for tests"},
		{"test/adult/p.go", imports("math/rand"), ""},
		{"mechanism/p_test.go", imports("math/rand/v2"), ""},
		{"parser/p.go", "package p\n\nvar err = sqlstate.New(\"42883\", \"none\")\n",
			"parser/p.go: writes an SQLSTATE out that package sqlstate has or should have a name for"},
		{"parser/p.go", "package p\n\nvar is = sqlstate.Is(err, \"42883\")\n",
			"parser/p.go: writes an SQLSTATE out that package sqlstate has or should have a name for"},
		{"parser/p.go", "package p\n\nvar err = sqlstate.New(sqlstate.SyntaxError, \"none\")\n", ""},
		{"docs/p.md", "see\n" + elsewhere[0] + "/x\n", "docs/p.md:2: mentions " + elsewhere[0]},
		{"p.sh", "cat " + elsewhere[3], "p.sh:1: mentions " + elsewhere[3]},
		{"p/p.go", "package p\n" + strings.Repeat("\n", maxLines), "p/p.go: has 401 lines, more than 400"},
		{"p/p.go", "package p\n" + strings.Repeat("\n", maxLines-1), ""},
		{"p/testdata/p.sql", strings.Repeat("\n", 2*maxLines), ""},
		{".git/p.go", imports("math/rand"), ""},
		{".git", elsewhere[0], ""},
	} {
		repository := fstest.MapFS{c.file: {Data: []byte(c.text)}, "p/fine.go": {Data: []byte(imports("fugu/wire", "fugu/privacy"))}}
		for name := range lengthy {
			repository[name] = &fstest.MapFile{Data: []byte("package p" + strings.Repeat("\n", maxLines+1))}
		}
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		if got, err := Check(repository); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", c.file, got, err, want)
		}
	}
	lengthy["gone.go"] = "a test's"
	defer delete(lengthy, "gone.go")
	if got, err := Check(fstest.MapFS{}); err != nil || !slices.Contains(got, "gone.go: is on the list of lengthy files, but is not one") {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Check(fstest.MapFS{"p/p.go": {Data: []byte("no Go")}}); err == nil {
		t.Error("a file that does not parse was accepted")
	}
}
