package model_test

import (
	"fmt"
	"testing"

	"fugu/planner"
	"fugu/test/pgcluster"
)

// A key is a column in other words where each declared value has a value of the key to itself, and no other value has a
// group.
func TestKeysThatAreColumns(t *testing.T) {
	_, reader, table := people(t, 250)
	for y := range 40 {
		table.Domains["y"] = append(table.Domains["y"], planner.Value{Text: fmt.Sprint(y)})
	}
	for key, want := range map[string]bool{
		"g":                                 false, // it is one as it is
		"g || '.'":                          true,
		"upper(g)":                          true,
		"g = 'a'":                           true,
		"CASE g WHEN 'a' THEN 1 ELSE 2 END": true,
		"CASE g WHEN 'a' THEN 1 ELSE 1 END": false,
		"CASE g WHEN 'a' THEN 1 END":        false, // NULL is any value's
		"g || k":                            false, // two columns
		"y * 3":                             true,
		"-y":                                true,
		"y / 2":                             false,
		"y % 39":                            false,
		"y % 40":                            true,
	} {
		choice := chosen(t, reader, bind(t, reader, table, "SELECT "+key+", count(*) FROM people GROUP BY 1"),
			1200).Choices[0]
		if got := choice.Column != nil; got != want {
			t.Errorf("%s is a column in other words: %t", key, got)
		}
		if want && (choice.Column.Nats != 0 || !(choice.Nats > 1)) {
			t.Errorf("%s takes %g nats as a column, %g as it is", key, choice.Column.Nats, choice.Nats)
		}
	}

	table.Domains["g"] = append(table.Domains["g"], planner.Value{Null: true})
	upper := bind(t, reader, table, "SELECT upper(g), count(*) FROM people GROUP BY 1")
	if chosen(t, reader, upper, 1200).Choices[0].Column != nil {
		t.Error("NULL is declared, which is what a key has of other values, too")
	}
}

// chosen describes what can be chosen of a cut over a reference of so many rows.
func chosen(t *testing.T, q planner.Querier, b *planner.Bound, rows float64) planner.Chosen {
	t.Helper()
	c, err := b.Chosen(t.Context(), q, rows)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// As a column it is charged only where the reference has its declared values alone: elsewhere the text may say what
// becomes of others.
func TestKeysOfOtherValues(t *testing.T) {
	for name, c := range map[string]struct {
		change string
		domain []planner.Value
		alike  bool
	}{
		"declared": {"SELECT", []planner.Value{{Text: "a"}, {Text: "b"}}, true},
		"another":  {"SELECT", []planner.Value{{Text: "b"}}, false},
		"NULL":     {"UPDATE people SET g = NULL WHERE x = 7", []planner.Value{{Text: "a"}, {Text: "b"}}, false},
	} {
		_, reader, table := people(t, 250)
		if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", c.change); err != nil {
			t.Fatal(err)
		}
		table.Domains["g"] = c.domain
		moved := func(key string) float64 {
			b, m := measure(t, reader, table, "SELECT "+key+", count(*) FROM people WHERE x > 4 AND y > 2 GROUP BY 1")
			if plain := key == "g"; plain != (chosen(t, reader, b, 1200).Choices[0].Column == nil) {
				t.Fatalf("%s: %s is no column in other words", name, key)
			}
			s, err := m.Shifts(secretShare, psi, 0)
			if err != nil {
				t.Fatal(err)
			}
			most := 0.0
			for _, u := range s[0].Unseen {
				for _, v := range u.Size {
					most = max(most, v)
				}
			}

			return most
		}
		column, key := moved("g"), moved("CASE g WHEN 'b' THEN 2 ELSE 1 END")
		if got := key < 1.08*column; got != c.alike {
			t.Errorf("%s: unseen rows move it by %g, the column by %g", name, key, column)
		}
	}
}
