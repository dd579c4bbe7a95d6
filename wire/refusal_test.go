package wire

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	inStepT = `T ?column?:25/-1/0`
	inStepD = `D ["in step"]`
	inStepC = `C "SELECT 1\x00"`
	refused = `E ERROR PV001 not answerable hint: ask otherwise at 8`
	spent   = `E ERROR PV002 no budget`
	one     = `C "INSERT 0 1\x00"`
)

// inStep is what every script ends with.
var inStep = []string{inStepT, inStepD, inStepC}

// What Fugu says itself comes in its place among the server's replies, and the server's transaction takes part.
func TestOwnWords(t *testing.T) {
	p := serve(t, nil)
	insert := []pgproto3.FrontendMessage{parse("", "INSERT INTO kept VALUES (1)"), bind("", ""), exec("")}
	for name, x := range map[string]struct {
		script script
		want   string // replies, one a line, without the last
		binds  int
	}{
		"refused query": {script{q("SELECT /*refuse*/"), "Z"}, refused + "\nZ \"I\"", 0},
		"refused in a transaction": {script{q("BEGIN"), "Z", q("SELECT /*refuse*/"), "Z", q("SELECT 1"), "Z", q("ROLLBACK"), "Z"},
			`C "BEGIN\x00"` + "\nZ \"T\"\n" + refused + "\nZ \"E\"\nE ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block\nZ \"E\"\n" + `C "ROLLBACK\x00"` + "\nZ \"I\"", 0},
		"refused between two": {script{q("SELECT 1"), q("SELECT /*refuse*/"), q("SELECT 2"), "ZZZ"},
			"T ?column?:23/-1/0\nD [\"1\"]\nC \"SELECT 1\\x00\"\nZ \"I\"\n" + refused + "\nZ \"I\"\nT ?column?:23/-1/0\nD [\"2\"]\nC \"SELECT 1\\x00\"\nZ \"I\"", 0},
		"refused parse takes the pipeline with it": {script{q("TRUNCATE kept"), "Z", insert[0], insert[1], insert[2], parse("", "SELECT /*refuse*/"), bind("", ""), exec(""), insert[0], insert[1], insert[2], sync_, "Z", q("SELECT count(*) FROM kept"), "Z"},
			`C "TRUNCATE TABLE\x00"` + "\nZ \"I\"\n1 \"\"\n2 \"\"\n" + one + "\n" + refused + "\nZ \"I\"\nT count:20/-1/0\nD [\"0\"]\nC \"SELECT 1\\x00\"\nZ \"I\"", 0},
		"refused parse drops the unnamed statement": {script{parse("", protected), sync_, "Z", parse("", "SELECT /*refuse*/"), sync_, "Z", bind("", ""), sync_, "Z"},
			"1 \"\"\nZ \"I\"\n" + refused + "\nZ \"I\"\nE ERROR 26000 unnamed prepared statement does not exist\nZ \"I\"", 0},
		"no budget keeps the statement": {script{parse("", "SELECT x FROM noisy /*p*/ /*budget*/"), bind("", ""), exec(""), sync_, "Z", bind("", ""), sync_, "Z"},
			"1 \"\"\n" + spent + "\nZ \"I\"\n" + spent + "\nZ \"I\"", 2},
		"no budget in a script": {script{q("TRUNCATE kept"), "Z", q("INSERT INTO kept VALUES (1); SELECT x FROM noisy /*p*/ /*budget*/; SELECT 2"), "Z", q("SELECT count(*) FROM kept"), "Z"},
			`C "TRUNCATE TABLE\x00"` + "\nZ \"I\"\n" + one + "\n" + spent + "\nZ \"I\"\nT count:20/-1/0\nD [\"0\"]\nC \"SELECT 1\\x00\"\nZ \"I\"", 1},
		"internal errors stay inside": {script{q("SELECT x FROM noisy /*p*/ /*internal*/"), "Z"},
			"E ERROR XX000 internal error detail: The proxy's log says more.\nZ \"I\"", 1},
		"function call": {script{frame('F', "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"), "Z"},
			"E ERROR 0A000 the function call protocol is not supported through Fugu hint: Use SELECT function(...).\nZ \"I\"", 0},
		"bytes that are no UTF-8": {script{q("SELECT '\xff'"), "Z", parse("", "SELECT '\xff'"), sync_, "Z"},
			"E ERROR 22021 invalid byte sequence for encoding \"UTF8\"\nZ \"I\"\nE ERROR 22021 invalid byte sequence for encoding \"UTF8\"\nZ \"I\"", 0},
		"parameters of the engine's are not described": {script{parse("s", "SELECT x+$1 FROM noisy /*p*/", 20), describeS("s"), sync_, "Z"},
			"1 \"\"\nt [20]\nT ?column?:20/-1/0\nZ \"I\"", 0},
		"parameter in a query": {script{q("SELECT x+$1::int8 FROM noisy /*p*/"), "Z"}, "E ERROR 42P02 there is no parameter $1\nZ \"I\"", 0},
		"notice": {script{q("SELECT x FROM noisy LIMIT 1 /*p*/ /*notice*/"), "Z"},
			"N NOTICE 00000 noise detail: sd hint: more\nT x:20/-1/0\nD [\"1\"]\nC \"SELECT 1\\x00\"\nZ \"I\"", 1},
		"notice, extended": {script{parse("", "SELECT x FROM noisy LIMIT 1 /*p*/ /*notice*/"), bind("", ""), exec(""), sync_, "Z"},
			"1 \"\"\nN NOTICE 00000 noise detail: sd hint: more\n2 \"\"\nD [\"1\"]\nC \"SELECT 1\\x00\"\nZ \"I\"", 1},
		"tag": {script{q("SELECT x FROM noisy LIMIT 1 /*p*/ /*tag*/"), "Z", parse("", "SELECT x FROM noisy LIMIT 1 /*p*/ /*tag*/"), bind("", ""), exec(""), parse("", "SELECT 1"), bind("", ""), exec(""), sync_, "Z"},
			"T x:20/-1/0\nD [\"1\"]\nC \"EXPLAIN\\x00\"\nZ \"I\"\n1 \"\"\n2 \"\"\nD [\"1\"]\nC \"EXPLAIN\\x00\"\n1 \"\"\n2 \"\"\nD [\"1\"]\nC \"SELECT 1\\x00\"\nZ \"I\"", 2},
		"copy in within a script": {script{q("COPY kept FROM STDIN; " + protected), "Z"},
			"E ERROR 0A000 COPY FROM STDIN cannot stand in one query string with a statement on protected data hint: Send it as a query of its own.\nZ \"I\"", 0},
		"what rewriting shows is scrubbed": {script{parse("", "SELECT x FROM noisy WHERE missing /*p*/"), sync_, "Z", parse("s", "SELECT x/$1::int8 FROM noisy /*p*/"), bind("", "s", "0"), exec(""), sync_, "Z"},
			"E ERROR 42703 column \"missing\" does not exist\nZ \"I\"\n1 \"\"\n2 \"\"\nE ERROR 22012 division by zero\nZ \"I\"", 1},

		"ask": {script{q("SELECT x FROM noisy LIMIT 1 /*p*/ /*ask*/"), "Z"},
			"N NOTICE 00000 asked [[\"wiretest\" \"\" \"0\"]]\nT x:20/-1/0\nD [\"1\"]\nC \"SELECT 1\\x00\"\nZ \"I\"", 1},
		"ask in a pipeline leaves statement and portal alone": {script{parse("", "SELECT generate_series(1,3)"), bind("", ""), execN("", 1), parse("a", "SELECT x FROM noisy LIMIT 1 /*p*/ /*ask*/"), bind("p", "a"), exec("p"), execN("", 1), bind("", ""), execN("", 1), sync_, "Z", q("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'fugu%'"), "Z"},
			"1 \"\"\n2 \"\"\nD [\"1\"]\ns \"\"\n1 \"\"\nN NOTICE 00000 asked [[\"wiretest\" \"\" \"0\"]]\n2 \"\"\nD [\"1\"]\nC \"SELECT 1\\x00\"\nD [\"2\"]\ns \"\"\n2 \"\"\nD [\"1\"]\ns \"\"\nZ \"I\"\nT count:20/-1/0\nD [\"0\"]\nC \"SELECT 1\\x00\"\nZ \"I\"", 1},
		"ask fails": {script{parse("", "SELECT x FROM noisy /*p*/ /*badask*/"), bind("", ""), exec(""), sync_, "Z", q("SELECT x FROM noisy LIMIT 1 /*p*/ /*badask*/; SELECT 2"), "Z", q("SELECT x FROM noisy LIMIT 1 /*p*/ /*ask*/"), "Z"},
			"1 \"\"\nE ERROR 22012 division by zero\nZ \"I\"\nE ERROR 22012 division by zero\nZ \"I\"\nN NOTICE 00000 asked [[\"wiretest\" \"\" \"0\"]]\nT x:20/-1/0\nD [\"1\"]\nC \"SELECT 1\\x00\"\nZ \"I\"", 3},
		"ask fails, and the engine does not heed it": {script{parse("", "SELECT x FROM noisy /*p*/ /*heedless*/"), bind("", ""), exec(""), sync_, "Z", q("SELECT x FROM noisy LIMIT 1 /*p*/ /*heedless*/"), "Z"},
			"1 \"\"\nE ERROR 22012 division by zero\nZ \"I\"\nE ERROR 22012 division by zero\nZ \"I\"", 2},

		"what is skipped costs nothing": {script{parse("s", protected), sync_, "Z", parse("", "nonsense"), bind("", "s"), exec(""), q(protected), sync_, "Z"},
			"1 \"\"\nZ \"I\"\nE ERROR 42601 syntax error at or near \"nonsense\" at 1\nZ \"I\"", 0},
		"what fails before costs nothing": {script{q("SELECT 1/0; " + protected), "Z", parse("s", protected), sync_, "Z", parse("", "SELECT 1/0"), bind("", ""), exec(""), bind("", "s"), exec(""), sync_, "Z"},
			"E ERROR 22012 division by zero\nZ \"I\"\n1 \"\"\nZ \"I\"\n1 \"\"\nE ERROR 22012 division by zero\nZ \"I\"", 0},
		"what cannot be prepared costs nothing": {script{q("SELECT missing FROM noisy /*p*/"), "Z"}, "E ERROR 42703 column \"missing\" does not exist\nZ \"I\"", 0},
		"a failed transaction costs nothing": {script{parse("s", protected), sync_, "Z", q("BEGIN; SELECT 1/0"), "Z", bind("", "s"), exec(""), sync_, "Z", q(protected), "Z", q("ROLLBACK"), "Z"},
			"1 \"\"\nZ \"I\"\nC \"BEGIN\\x00\"\nE ERROR 22012 division by zero\nZ \"E\"\nE ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block\nZ \"E\"\nE ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block\nZ \"E\"\nC \"ROLLBACK\\x00\"\nZ \"I\"", 0},
		"the wrong number of parameters costs nothing": {script{parse("s", protected), sync_, "Z", bind("", "s", "1"), exec(""), sync_, "Z"},
			"1 \"\"\nZ \"I\"\nE ERROR 08P01 bind message supplies 1 parameters, but prepared statement \"s\" requires 0\nZ \"I\"", 0},
		"each binding is bound": {script{parse("s", protected), bind("", "s"), bind("", "s"), sync_, "Z"}, "1 \"\"\n2 \"\"\n2 \"\"\nZ \"I\"", 2},
	} {
		t.Run(name, func(t *testing.T) {
			p.bound()
			got := dial(t, p.address).run(t, x.script)
			status := got[len(got)-1]
			compare(t, got, append(append(strings.Split(x.want, "\n"), inStep...), status))
			if status != `Z "I"` {
				t.Errorf("the session ends with %s", status)
			}
			if n := len(p.bound()); n != x.binds {
				t.Errorf("%d statements were bound, want %d", n, x.binds)
			}
		})
	}
	if !strings.Contains(p.log.String(), "a secret of the proxy") {
		t.Error("the log does not say what failed inside")
	}
}
