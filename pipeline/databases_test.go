package pipeline

import (
	"testing"

	"fugu/quote"
)

// All databases of a proxy have one room.
func TestDatabasesShareOneRoom(t *testing.T) {
	a, b := &Engine{searches: quote.NewSearches()}, &Engine{searches: quote.NewSearches()}
	d := NewDatabases(map[string]*Engine{"a": a, "b": b})
	if a.searches != b.searches {
		t.Error("two databases have two rooms")
	}
	c := &Engine{searches: quote.NewSearches()}
	d.Replace(map[string]*Engine{"a": a, "c": c})
	if c.searches != a.searches {
		t.Error("a database that came with a reload has a room of its own")
	}
}
