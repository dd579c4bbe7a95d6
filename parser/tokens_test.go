package parser

import (
	"slices"
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
