//go:build fuguhooks

package attack

import (
	"fmt"
	"testing"

	"fugu/internal/hook"
)

// lettered are worlds in which each customer has a letter, and each region one as well, of two pieces that PostgreSQL
// stores beside their tables. The letters are the same in both.
var lettered = [2]world{{"t400", 400}, {"t500", 500}}

var madeLettered making

const letters = `
	CREATE FUNCTION letter(of text) RETURNS text LANGUAGE sql AS
	  $$ SELECT string_agg(md5(of || i), '') FROM generate_series(1, 100) i $$;
	ALTER TABLE customer ADD letter text; ALTER TABLE customer ALTER letter SET STORAGE EXTERNAL;
	ALTER TABLE customer_reference ADD letter text;
	UPDATE customer SET letter = letter(id::text);
	UPDATE customer_reference SET letter = letter('reference' || id);
	CREATE TABLE written (region text, letter text); ALTER TABLE written ALTER letter SET STORAGE EXTERNAL;
	INSERT INTO written SELECT region, letter(region) FROM plain;
	GRANT SELECT ON written TO PUBLIC`

// readLetters are statements for which letters are read where customers have a high income.
var readLetters = []string{
	"SELECT count(*) FROM customer WHERE income = 'high' AND length(letter) > 7",
	"SELECT sum(visits) FILTER (WHERE starts_with(letter, 'a')) FROM customer WHERE income = 'high'",
	"SELECT count(CASE WHEN income = 'high' THEN nullif(left(letter, 1), 'x') END) FROM customer",
	"SELECT count(*) FROM customer c JOIN written w ON w.region = c.region WHERE c.income = 'high' " +
		"AND length(w.letter) > c.visits",
	"SELECT count(*) FROM customer c WHERE c.income = 'high' AND EXISTS (SELECT FROM written w " +
		"WHERE w.region = c.region AND length(w.letter) > c.visits)",
}

// A long value stands in blocks of its own, which the server takes into its memory, in the place of others: whoever has
// filled that sees, by EXPLAIN (ANALYZE, BUFFERS) of their own table, how many have gone. PostgreSQL's own counters say
// how many were read.
func TestLongValuesAreReadWhole(t *testing.T) {
	c := databases(t)
	madeLettered.Do(func() {
		for _, w := range lettered {
			madeLettered.world(c, w, letters)
		}
	})
	if madeLettered.err != nil {
		t.Fatal(madeLettered.err)
	}
	for _, sql := range readLetters {
		read := func(w world) string {
			f, root := serve(t, w, options{}), w.as(t, "postgres")
			run(t, root, "SELECT pg_stat_reset()")
			number(t, f.connect(t, ""), sql)
			f.counted(t, root, "seq_scan")
			x, err := value(t, root, "SELECT sum(toast_blks_read + toast_blks_hit) FROM pg_statio_user_tables WHERE "+
				"relname IN ('customer', 'written')")
			return fmt.Sprint(x, " ", err)
		}
		t.Run("defence off", func(t *testing.T) {
			off(t, &hook.ReadLazily)
			if a, b := read(lettered[0]), read(lettered[1]); a == b {
				t.Errorf("%s: %s in both worlds: it is no test of the defence", sql, a)
			}
		})
		t.Run("defence on", func(t *testing.T) {
			if a, b := read(lettered[0]), read(lettered[1]); a != b {
				t.Errorf("%s: %s and %s", sql, a, b)
			}
		})
	}
}
