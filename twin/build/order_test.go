package build_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fugu/test/patient"
	"fugu/twin/build"
)

// One order of drawing, for ever: by the same key and the same noise a table has the same twin, row by row, each in its
// place and with its key, whatever version of Fugu builds it. A digest that is another than these is of another order,
// and beside a twin of before that shows N.
func TestOrderStays(t *testing.T) {
	patient.Test(t)
	people := func(keys string) string {
		return "CREATE TABLE person (" + columns + keys + ");" + people + "GRANT SELECT ON person TO shop_keeper"
	}
	person := fmt.Sprintf(sourcePolicy, "")
	for name, c := range map[string]struct {
		sql, policy string
		digests     map[string]string // of the rows of each table, in their order
	}{
		"no key": {people(""), person, map[string]string{"person": "40dda2f831ae22bdc01e3e4828be73a0"}},
		"number": {people(", id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"), person,
			map[string]string{"person": "273438e87e43992f1aa9b0e9c6994213"}},
		"uuid": {people(", id uuid PRIMARY KEY GENERATED ALWAYS AS (md5(name)::uuid) STORED"), person,
			map[string]string{"person": "8f019e3c1c692da8abc4b4c4c014a156"}},
		"two": {people(", PRIMARY KEY (region, nr)"), person,
			map[string]string{"person": "6312944df7a83d683f9aa522a16f3570"}},
		"text": {people(", PRIMARY KEY (name)"), person,
			map[string]string{"person": "93da214f169b9f889a17d20109add254"}},
		"escaped": {strings.ReplaceAll(people(", PRIMARY KEY (name)"), "'p' ||", `'\"é, ' ||`), person,
			map[string]string{"person": "0cfd5d029f76c66b7fe4bc5416537155"}},
		"family": {shop, shopPolicy, map[string]string{"customer": "57bb99f4b12a5674634ffcbc91b8725e",
			"purchase": "36d454f3355dd5b97fc991c78cad29a1", "line": "d6d47d52c0eb3e9937e501c18ae6f24b"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "stays_"+strings.ReplaceAll(name, " ", "_"), c.sql, c.policy)
			w.keeper.Random = rand.NewChaCha8([32]byte{7})
			w.build(build.Options{})
			for table, want := range c.digests {
				const rows = "SELECT md5(string_agg(t::text, ' ' ORDER BY ctid)) FROM fugu_twin.%s t"
				if got := w.one(fmt.Sprintf(rows, table)); got != want {
					t.Errorf("%s: %s, want %s", table, got, want)
				}
			}
		})
	}
}
