package sqlsupport

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write docs/sql-support.md anew")

const golden = "../../docs/sql-support.md"

func TestPageIsWhatTheProgramDoes(t *testing.T) {
	want, err := Markdown()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/sql-support.md is not what the rules say; run go test ./internal/sqlsupport -update")
	}
}
