package pipeline

import (
	"testing"

	"fugu/answer"
	"fugu/quote"
	"fugu/test/patient"
)

// All databases of a proxy have one room.
func TestDatabasesShareOneRoom(t *testing.T) {
	patient.Test(t)
	engine := func() *Engine { return &Engine{desk: &answer.Desk{Searches: quote.NewSearches()}} }
	a, b := engine(), engine()
	d := NewDatabases(map[string]*Engine{"a": a, "b": b})
	if a.desk.Searches != b.desk.Searches {
		t.Error("two databases have two rooms")
	}
	c := engine()
	d.Replace(map[string]*Engine{"a": a, "c": c})
	if c.desk.Searches != a.desk.Searches {
		t.Error("a database that came with a reload has a room of its own")
	}
}
