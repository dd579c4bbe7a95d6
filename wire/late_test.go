package wire

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Statements whose text is decided when they are bound.
const (
	lateCopy   = "COPY (SELECT x FROM noisy ORDER BY x) TO STDOUT /*p*/ /*late*/"
	lateSelect = "SELECT x FROM noisy ORDER BY x /*p*/ /*late*/"
)

func bindBinary(portal, statement string) *pgproto3.Bind {
	return &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement, ResultFormatCodes: []int16{1}}
}

var lateScripts = map[string]script{
	"simple":                       {q(lateCopy), "Z", q(lateSelect), "Z"},
	"among statements":             {q("SELECT 1; " + lateCopy + "; " + lateSelect + "; SELECT 2; " + lateCopy), "Z"},
	"extended":                     {parse("", lateSelect), describeS(""), bind("", ""), describeP(""), exec(""), sync_, "Z"},
	"copy, extended":               {parse("", lateCopy), describeS(""), bind("", ""), describeP(""), exec(""), sync_, "Z"},
	"named, twice":                 {parse("s", lateSelect), sync_, "Z", bind("", "s"), exec(""), bind("", "s"), exec(""), sync_, "Z", bind("", "s"), exec(""), sync_, "Z"},
	"named and unnamed":            {parse("s", lateSelect), parse("", "SELECT 'unnamed'"), bind("", "s"), exec(""), bind("", ""), exec(""), sync_, "Z"},
	"in binary":                    {parse("", lateSelect), bindBinary("", ""), describeP(""), exec(""), sync_, "Z"},
	"flush between":                {parse("s", lateCopy), flush, "1", describeS("s"), flush, "n", bind("", "s"), flush, "2", exec(""), flush, "C", sync_, "Z"},
	"two portals at a time":        {q("BEGIN"), "Z", parse("s", lateSelect), bind("p", "s"), bind("q", "s"), execN("p", 1), execN("q", 2), exec("p"), sync_, "Z", closeS("s"), execN("q", 1), sync_, "Z", q("COMMIT"), "Z", exec("q"), sync_, "Z"},
	"copies in a pipeline":         {parse("s", lateCopy), bind("", "s"), exec(""), parse("", "SELECT 1"), bind("", ""), exec(""), bind("", "s"), exec(""), sync_, bind("", "s"), exec(""), sync_, "ZZ"},
	"error in the middle":          {parse("s", lateCopy), bind("", "s"), exec(""), parse("", "SELECT 1/0"), bind("", ""), exec(""), bind("", "s"), exec(""), sync_, bind("", "s"), exec(""), sync_, "ZZ"},
	"fails at its end":             {q("COPY (SELECT 1/(x-x) FROM noisy) TO STDOUT /*p*/ /*late*/"), "Z", parse("", "COPY (SELECT 1/(x-x) FROM noisy) TO STDOUT /*p*/ /*late*/"), bind("", ""), exec(""), parse("", "SELECT 1"), sync_, "Z"},
	"fails in a script":            {q("TRUNCATE kept"), "Z", q("INSERT INTO kept VALUES (1); COPY (SELECT 1/(x-x) FROM noisy) TO STDOUT /*p*/ /*late*/; SELECT 2"), "Z", q("SELECT count(*) FROM kept"), "Z"},
	"does not parse":               {q("SELECT nothing FROM noisy /*p*/ /*late ordinary*/"), "Z", parse("", "SELECT nothing FROM noisy /*p*/ /*late ordinary*/"), bind("", ""), sync_, "Z"},
	"in a failed transaction":      {parse("s", lateSelect), parse("c", lateCopy), sync_, "Z", q("BEGIN; SELECT 1/0"), "Z", bind("", "s"), sync_, "Z", q(lateSelect), "Z", q("ROLLBACK; " + lateSelect), "Z", bind("", "c"), exec(""), sync_, "Z"},
	"skipped":                      {parse("s", lateSelect), sync_, "Z", parse("", "nonsense"), bind("", "s"), exec(""), q(lateCopy), sync_, "Z"},
	"wrong number":                 {parse("s", lateSelect), sync_, "Z", bind("", "s", "1"), sync_, "Z"},
	"stays ordinary":               {q("SELECT 1 /*p*/ /*late ordinary*/"), "Z", parse("s", "SELECT 1 /*p*/ /*late ordinary*/"), describeS("s"), bind("", "s"), exec(""), sync_, "Z"},
	"ended by SQL":                 {parse("s", lateSelect), sync_, "Z", q("DEALLOCATE s"), "Z", bind("", "s"), exec(""), sync_, "Z"},
	"ended by SQL, then made anew": {parse("s", lateSelect), sync_, "Z", q("DEALLOCATE ALL"), "Z", parse("s", lateCopy), bind("", "s"), exec(""), sync_, "Z"},
	"all discarded":                {parse("s", lateSelect), sync_, "Z", bind("", "s"), exec(""), sync_, "Z", q("DISCARD ALL"), "Z", bind("", "s"), sync_, "Z", parse("s", lateSelect), bind("", "s"), exec(""), sync_, "Z"},
	"unnamed gone after a query":   {parse("", "SELECT 'ordinary'"), sync_, "Z", q(lateSelect), "Z", bind("", ""), sync_, "Z"},
}

func TestLateTextIsPostgreSQLs(t *testing.T) {
	p := serve(t, nil)
	for name, s := range lateScripts {
		t.Run(name, func(t *testing.T) { same(t, p, s) })
	}
}

// What SQL has ended is not answered: neither the statement nor a text that would be decided.
func TestEndedBySQLIsNotBound(t *testing.T) {
	p := serve(t, nil)
	for _, text := range []string{protected, lateCopy, lateSelect} {
		for _, end := range []string{"DEALLOCATE s", "DEALLOCATE ALL", "DISCARD ALL", "DO $$ BEGIN EXECUTE 'DEALLOCATE s'; END $$"} {
			c := dial(t, p.address)
			c.run(t, script{parse("s", text), sync_, "Z", q(end), "Z"})
			p.bound()
			got := c.run(t, script{bind("", "s"), exec(""), sync_, "Z"})
			if b := p.bound(); len(b) != 0 || !strings.HasPrefix(got[0], "E ERROR 26000") {
				t.Errorf("%s, %s: bound %q, got %q", text, end, b, got)
			}
		}
	}
}
