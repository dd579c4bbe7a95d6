package parser_test

import (
	"testing"

	"fugu/parser"
)

// Types of the catalog's names are written so that they read as themselves: of pg_catalog.bpchar the deparser makes a
// literal of char.
func TestTypesAreWrittenAsTheyAreRead(t *testing.T) {
	for typ, want := range map[string]string{
		"pg_catalog.bpchar": "bpchar", "character(2)": "char(2)", "pg_catalog.int4": "int",
		"numeric(7,3)": "numeric(7, 3)", "pg_catalog.timestamptz": "timestamp with time zone",
		"pg_catalog.varchar": "varchar", `"my type"`: `"my type"`,
	} {
		got, err := parser.TypeSQL(typ)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", typ, got, err, want)
		}
	}
	if got, err := parser.TypeSQL("int[]; SELECT 1"); err == nil {
		t.Errorf("a statement is no type: %q", got)
	}
}
