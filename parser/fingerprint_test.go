package parser

import (
	"strings"
	"testing"
)

// The values of literals and the spelling do not show in a fingerprint; the shape does.
func TestFingerprintKnowsNoLiterals(t *testing.T) {
	shapes := []string{
		"SELECT count(*) FROM adult WHERE s = '%'",
		"SELECT count(*) FROM adult WHERE s IN ('%', 'c') AND t LIKE '%x'",
		"SELECT count(*) FROM adult WHERE age > 4% LIMIT 1%",
		"SELECT count(*), sum(CASE WHEN s = '%' THEN 1.% END) FILTER (WHERE d > date '200%-01-01') FROM adult",
		"SELECT count(*)::numeric(1%, 2), interval '% day' FROM adult",
		"SELECT count(*) FROM adult TABLESAMPLE bernoulli(1%) REPEATABLE (1%)",
		"SELECT count(*) FROM adult WHERE json_value(j, '$.%' DEFAULT '%' ON EMPTY) = '%'",
		"SELECT count(*) FROM adult, json_table(j, '$.%' COLUMNS (x int PATH '$.%')) t",
		"SELECT count(*) FROM adult WHERE s = E'\\x3%' OR s = $q$%$q$ OR b = B'1' OR s = U&'\\003%'",
		"INSERT INTO t SELECT '%', count(*) FROM adult", "UPDATE t SET n = (SELECT count(*) FROM adult WHERE s = '%')",
		"DELETE FROM t WHERE n < (SELECT count(*) FROM adult WHERE s = '%')",
		"EXPLAIN (PRIVACY) SELECT count(*) FROM adult WHERE s = '%'",
		"PREPARE p AS SELECT count(*) FROM adult WHERE s = '%'", "EXECUTE p('%')",
		"DECLARE c CURSOR FOR SELECT count(*) FROM adult WHERE s = '%'",
		"CREATE TABLE n AS SELECT count(*) AS c FROM adult WHERE s = '%'",
		"COPY (SELECT count(*) FROM adult WHERE s = '%') TO STDOUT (FORMAT csv, NULL '%')",
		"COPY (SELECT count(*) FROM adult WHERE s = '%') TO '/tmp/%'",
		"SET fugu.epsilon = 0.%", "SET fugu.mechanism = '%'",
		"DO $$ BEGIN PERFORM count(*) FROM adult WHERE s = '%'; END $$",
		"CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM adult WHERE n = %'",
		"CREATE VIEW v AS SELECT count(*) FROM adult WHERE s = '%'",
		"BEGIN; SELECT count(*) FROM adult WHERE s = '%'; COMMIT",
	}
	seen := map[string]string{}
	for _, s := range shapes {
		a, b := Fingerprint(strings.ReplaceAll(s, "%", "1")), Fingerprint(strings.ReplaceAll(s, "%", "2")+" /* % */")
		if a != b || len(a) != 16 {
			t.Errorf("%s: %q and %q", s, a, b)
		}
		if other := seen[a]; other != "" && !strings.HasPrefix(s, "COPY") {
			t.Errorf("the same fingerprint:\n%s\n%s", s, other)
		}
		seen[a] = s
	}
	// None at all, rather than one with what was written in it.
	for _, s := range []string{
		"", "SELECT count(*) FROM adult WHERE s = '", "COMMENT ON TABLE adult IS 'x'", "NOTIFY adult, 'x'",
		"ALTER ROLE adult PASSWORD 'x'", "CREATE USER adult PASSWORD 'x'",
		"COPY adult TO '/tmp/x'", "SELECT count(*) FROM adult; COMMENT ON TABLE adult IS 'x'",
		"PREPARE TRANSACTION 'x'", "CREATE TYPE adult AS ENUM ('x')",
		"SELECT '\x00'", "SELECT " + strings.Repeat("(", maxTokens+1),
	} {
		if f := Fingerprint(s); f != "" && s != "" {
			t.Errorf("%.60s: %q", s, f)
		}
	}
}
