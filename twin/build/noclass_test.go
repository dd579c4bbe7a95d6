package build_test

import (
	"fmt"
	"testing"

	"fugu/test/patient"
	"fugu/twin/build"
)

// A row that is of no class, with a value that the policy does not list or one in a public cell that no count has,
// would be left out of a twin without a word: nothing is built, drawn or paid for.
func TestRowOfNoClass(t *testing.T) {
	patient.Test(t)
	for name, c := range map[string]struct {
		smallest               float64
		public, secrets, spoil string
	}{
		"categories": {.2, "", "  kind: {table: public.ten, categories: kind, values: {within: 0.1}}",
			"UPDATE ten SET kind = 'w' WHERE id = 10"},
		"cells": {.3, "public:\n  a: {statement: 'SELECT a, count(*) FROM ten GROUP BY a', " +
			"values: {count(*) at a=true: 6, count(*) at a=false: 4}}\n",
			"  b: {table: public.ten, proportion: b, values: {from: 0.4, to: 0.7, within: 0.1}}",
			"UPDATE ten SET a = NULL WHERE id = 10"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "noclass_"+name, ten, fmt.Sprintf(tenPolicy, c.smallest, c.public, c.secrets))
			w.column("ALTER TABLE ten ALTER a DROP NOT NULL")
			w.one("WITH spoilt AS (" + c.spoil + " RETURNING 1) SELECT count(*) FROM spoilt")
			w.refused(build.Options{}, "does not list as a category")
			if n, _ := w.spent(); n != 0 {
				t.Errorf("%d draws were paid for", n)
			}
		})
	}
}
