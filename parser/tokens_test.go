package parser

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	got, err := Split(" SELECT 1;\n-- a ; comment\nSELECT ';', \";\"\n; ;\n/* ; */ SELECT $$;$$")
	want := []string{"SELECT 1", "-- a ; comment\nSELECT ';', \";\"", "/* ; */ SELECT $$;$$"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := Split("SELECT 'open"); err == nil {
		t.Errorf("got %q", got)
	}
}

// Values stand as literals in the places of their parameters, and nowhere else.
func TestInline(t *testing.T) {
	const sql = "COPY (SELECT $2, '$3', $3 /* $2 */) TO STDOUT"
	const want = `COPY (SELECT  E'a\'b\\c', '$3',  E'd' /* $2 */) TO STDOUT`
	got, err := Inline(sql, 2, [][]byte{[]byte(`a'b\c`), []byte("d")})
	if err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	for _, first := range []int{1, 3} { // a parameter without a value: the second, or one that is not Fugu's
		if got, err := Inline(sql, first, [][]byte{{}, {}}); err == nil {
			t.Errorf("from %d: %s", first, got)
		}
	}
	if got, err := Inline("SELECT 'open", 1, nil); err == nil {
		t.Errorf("got %s", got)
	}
}

// A statement has the last line of the comment before it for a title, if that is one.
func TestBeginning(t *testing.T) {
	const sql = "SELECT 1;\n-- Not this.\n-- By age\nSELECT 2; /* no title */ SELECT 3"
	for offset, want := range map[int]struct{ statement, title string }{
		0:                       {"SELECT 1", ""},
		len("SELECT 1;"):        {"SELECT 2", "By age"},
		len(sql) - len("ECT 3"): {"ECT 3", ""},
	} {
		at, title := Beginning(sql, offset)
		if title != want.title || sql[at:at+len(want.statement)] != want.statement {
			t.Errorf("behind %d: %q, titled %q", offset, sql[at:], title)
		}
	}
}

// Each piece stands where it stood, in characters, and has its own parameters.
func TestPieces(t *testing.T) {
	got := Pieces("SELECT $1, 'ä'; SELECT $3; PREPARE p AS SELECT $2")
	want := []Piece{{"SELECT $1, 'ä'", 1}, {strings.Repeat(" ", 15) + " SELECT $3", 3},
		{strings.Repeat(" ", 26) + " PREPARE p AS SELECT $2", 0}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	for _, sql := range []string{"SELECT 1", "SELECT (; SELECT 1"} {
		if got := Pieces(sql); got != nil {
			t.Errorf("%s: %+v", sql, got)
		}
	}
}

func TestEnclosed(t *testing.T) {
	if got, err := Enclosed("COPY (SELECT 1 AS a) TO STDOUT"); err != nil || got != "SELECT 1 AS a" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := Enclosed("COPY (SELECT 1) TO STDOUT; SELECT 2"); err == nil {
		t.Errorf("got %q", got)
	}
}
