package doubt

import (
	"context"
	"fmt"
	"strings"

	"fugu/parser"
)

// numbered are the columns that a table $1 and its reference $2 both have and that stand for when or as which one a
// row came: dates and times, and whole numbers that are unique or come from a sequence. The last column says whether
// it is such a number.
const numbered = `
SELECT a.attname, format_type(a.atttypid, NULL), a.atttypid = ANY ('{int2,int4,int8}'::regtype[])
FROM pg_attribute a JOIN pg_attribute r ON r.attrelid = to_regclass($2) AND r.attname = a.attname
  AND NOT r.attisdropped AND r.atttypid = a.atttypid
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
  AND (a.atttypid = ANY ('{date,timestamp,timestamptz}'::regtype[])
    OR a.atttypid = ANY ('{int2,int4,int8}'::regtype[]) AND (a.attidentity <> ''
      OR EXISTS (SELECT FROM pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum
        AND pg_get_expr(d.adbin, d.adrelid) ~ '^nextval')
      OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indnkeyatts = 1
        AND i.indkey[0] = a.attnum)))
ORDER BY a.attnum`

// among says whether the values that PostgreSQL's statistics name of one column of a table, frequent ones and bounds of
// a histogram, lie between those of its reference, but for a tenth, and but for single ones far off there; false where
// nobody has analysed one of the two.
const among = `
WITH bounds AS (SELECT c.oid,
    unnest(s.most_common_vals::text::%[1]s[] || s.histogram_bounds::text::%[1]s[]) AS b
  FROM pg_stats s JOIN pg_class c ON c.relname = s.tablename AND c.relnamespace::regnamespace::name = s.schemaname
  WHERE c.oid IN (to_regclass($1), to_regclass($2)) AND s.attname = $3 AND NOT s.inherited)
SELECT coalesce(avg((b >= low AND b <= high)::int) >= 0.9, false)
FROM (SELECT b FROM bounds WHERE oid = to_regclass($1)) AS own,
  (SELECT percentile_disc(0.02) WITHIN GROUP (ORDER BY b) AS low,
     percentile_disc(0.98) WITHIN GROUP (ORDER BY b) AS high
   FROM bounds WHERE oid = to_regclass($2)) AS other`

// Apart says which columns may tell rows of a table from those of its reference, both quoted and with their schemas: a
// statement that selects by one of them finds other rows in the reference than in the table, or none, and its model is
// about those.
func Apart(ctx context.Context, ask Ask, table, reference string) ([]Doubt, error) {
	names := [][]byte{[]byte(table), []byte(reference)}
	columns, err := ask(ctx, numbered, names)
	if err != nil {
		return nil, fmt.Errorf("comparing the columns of %s and %s: %w", table, reference, err)
	}

	var out []Doubt
	for _, c := range columns {
		// What ANALYZE keeps of both is compared, and no row is read.
		near, err := ask(ctx, fmt.Sprintf(among, c[1].Text), append(names[:2:2], []byte(c[0].Text)))
		if err != nil {
			return nil, fmt.Errorf("comparing the column %s of %s and %s: %w", c[0].Text, table, reference, err)
		}
		if len(near) > 0 && near[0][0].Text == "t" {
			continue
		}

		what := "says when a row came"
		if c[2].Text == "t" {
			what = "numbers rows"
		}
		out = append(out, Doubt{Column: c[0].Text,
			What: fmt.Sprintf("column %s %s, and nothing shows that the rows of the table lie among those of its "+
				"reference by it", parser.QuoteIdent(c[0].Text), what),
			Why: "a statement that selects by it finds other rows in the reference than in the table, or none, and " +
				"its model is of those",
			Fix: "take the reference from the same times and numbers, shift its values to the table's, or leave the " +
				"column out of both; then ANALYZE both, for this comparison"})
	}
	return out, nil
}

// wholeKey are the columns of a table $1 that its reference $2 has, too, those of a unique key first, where that key
// is in the reference as a whole; one that comes from no sequence is taken before one that does, and the last column
// says whether it does: each table has numbers of its own then, and equal ones say little.
const wholeKey = `
WITH shared AS (SELECT a.attname, a.attnum, a.attidentity <> '' OR EXISTS (SELECT FROM pg_attrdef d
      WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND pg_get_expr(d.adbin, d.adrelid) ~ '^nextval') AS counted
    FROM pg_attribute a JOIN pg_attribute r ON r.attrelid = to_regclass($2) AND r.attname = a.attname
      AND NOT r.attisdropped AND r.atttypid = a.atttypid
    WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped),
  key AS (SELECT i.indkey::int2[] AS columns,
      EXISTS (SELECT FROM shared WHERE counted AND attnum = ANY (i.indkey)) AS counted FROM pg_index i
    WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indpred IS NULL AND NOT 0 = ANY (i.indkey)
      AND NOT EXISTS (SELECT FROM unnest(i.indkey::int2[]) AS k(n)
        WHERE NOT EXISTS (SELECT FROM shared WHERE attnum = k.n))
    ORDER BY counted, i.indisprimary DESC, i.indexrelid LIMIT 1)
SELECT attname, attnum = ANY (columns), key.counted FROM shared, key ORDER BY 2 DESC, attnum`

// Overlap says whether rows of a table stand in its reference as well, both quoted and with their schemas: whether a
// row of each has the same unique key, and is the same in every other column that both have; or, where the key comes
// from a sequence, whether most rows of the reference whose key the table has are the same, as equal numbers with equal
// rows happen by chance. It reads protected rows, and tells one bit of them: that is for who owns both. Tables without
// such a key have equal rows by chance.
func Overlap(ctx context.Context, ask Ask, table, reference string) ([]Doubt, error) {
	columns, err := ask(ctx, wholeKey, [][]byte{[]byte(table), []byte(reference)})
	if err != nil {
		return nil, fmt.Errorf("looking for a key of %s and %s: %w", table, reference, err)
	}

	// Columns are compared as texts, since not every type has an equality: json has none.
	var key, same, names []string
	counted := false
	for _, c := range columns {
		name := parser.QuoteIdent(c[0].Text)
		if c[1].Text == "t" {
			key, names = append(key, fmt.Sprintf("t.%s = r.%[1]s", name)), append(names, name)
			counted = c[2].Text == "t"
		} else {
			same = append(same, fmt.Sprintf("t.%s::pg_catalog.text IS NOT DISTINCT FROM r.%[1]s::pg_catalog.text",
				name))
		}
	}

	if len(key) == 0 || counted && len(same) == 0 {
		return nil, nil
	}

	// Whether there is one such row, or most are such, is all that leaves the database.
	what := "rows of the table stand in its reference as well, by %s and all other columns"
	sql := fmt.Sprintf("SELECT EXISTS (SELECT FROM %s AS t JOIN %s AS r ON %s)", table, reference,
		strings.Join(append(key, same...), " AND "))
	if counted {
		what = "rows of the table stand in its reference as well: most of those with the same number (%s) are the " +
			"same in all other columns"
		sql = fmt.Sprintf("SELECT coalesce(avg((%s)::int) > 0.5, false) FROM %s AS t JOIN %s AS r ON %s",
			strings.Join(same, " AND "), table, reference, strings.Join(key, " AND "))
	}
	rows, err := ask(ctx, sql, nil)
	if err != nil {
		return nil, fmt.Errorf("comparing the rows of %s and %s: %w", table, reference, err)
	}
	if rows[0][0].Text != "t" {
		return nil, nil
	}

	return []Doubt{{
		What: fmt.Sprintf(what, strings.Join(names, ", ")),
		Why:  "who may read the reference knows these rows, and the model takes the two for drawn independently",
		Fix: "take them out of the reference, or write drawn: from-reference where all rows are some of the " +
			"reference's",
	}}, nil
}
