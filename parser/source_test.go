package parser

import (
	"strings"
	"testing"

	"fugu/parser/tree"
)

// Positions are those that are counted from the beginning, whatever block a character begins or ends in.
func TestPositions(t *testing.T) {
	for _, sql := range []string{
		"", "SELECT 1", strings.Repeat("a", blockBytes), strings.Repeat("é", 3*blockBytes), "x" +
			strings.Repeat("é", 3*blockBytes),
		strings.Repeat("ab€𝄞", 2*blockBytes), strings.Repeat("a", 5*blockBytes-1),
	} {
		s := newSource(sql)
		for offset := range sql { // beginnings of characters, where words begin
			if got, want := s.position(int32(offset)), tree.Position(sql, int32(offset)); got != want {
				t.Fatalf("%.10q: offset %d is position %d, want %d", sql, offset, got, want)
			}
		}
		end := int32(len(sql))
		if got, want := s.position(end), tree.Position(sql, end); got != want {
			t.Errorf("%.10q: its end is position %d, want %d", sql, got, want)
		}
		if s.position(-1) != 0 || s.position(end+1) != 0 {
			t.Errorf("%.10q: an offset outside of it has a position", sql)
		}
	}
}
