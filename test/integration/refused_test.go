package integration

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// refusedCorpus is the parser's own corpus of statements that it refuses with PV001.
func refusedCorpus(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../parser/testdata/reject")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(string(text), "parse\n")[1:] {
		sql, result, _ := strings.Cut(block, "\n----\n")
		if strings.HasPrefix(result, "PV001") {
			out = append(out, sql)
		}
	}
	return out
}

// No refused statement makes the reader's connections send a byte, through either protocol; each error has its code,
// a position and a hint, and the session goes on.
func TestRefusedNeverReachesTheReader(t *testing.T) {
	patient.Test(t)
	d := &countingDialer{}
	f := serve(t, options{dialReader: d.dial})
	c := f.connect(t)
	corpus := refusedCorpus(t)
	if len(corpus) < 60 {
		t.Fatalf("the corpus has %d statements", len(corpus))
	}
	// The first text with a protected name has the reader look, once a minute, which other relations have that name
	// too.
	if _, err := c.Exec(t.Context(), corpus[0], pgx.QueryExecModeSimpleProtocol); code(err) != "PV001" {
		t.Fatal(err)
	}
	before := d.sent.Load()
	for _, sql := range corpus {
		for name, mode := range map[string]pgx.QueryExecMode{"simple": pgx.QueryExecModeSimpleProtocol,
			"extended": pgx.QueryExecModeDescribeExec} {
			if name == "extended" && strings.Contains(sql, ";") {
				continue // two statements: PostgreSQL's own refusal
			}
			_, err := c.Exec(t.Context(), sql, mode)
			pe := pgError(err)
			if pe == nil || pe.Code != "PV001" || pe.Position == 0 || pe.Hint == "" {
				t.Errorf("%s (%s): %v", sql, name, err)
			}
		}
	}
	if sent := d.sent.Load() - before; sent != 0 {
		t.Errorf("the reader sent %d bytes", sent)
	}
	// The counter does count: an answered statement makes the reader speak.
	if _, err := c.Exec(t.Context(), "SELECT count(*) FROM adult WHERE age > 30"); err != nil {
		t.Fatal(err)
	}
	if d.sent.Load() == before {
		t.Error("an answered statement was not counted either")
	}
}
