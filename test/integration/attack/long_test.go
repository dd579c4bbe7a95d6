//go:build fuguhooks

package attack

import "testing"

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
	madeLettered.both(t, databases(t), lettered, letters)
	for _, sql := range readLetters {
		readAlike(t, lettered, sql, func(w world) []string {
			f, root := serve(t, w, options{}), w.as(t, "postgres")
			return f.readings(t, root, sql, "SELECT sum(toast_blks_read + toast_blks_hit) FROM pg_statio_user_tables "+
				"WHERE relname IN ('customer', 'written')")
		})
	}
}
