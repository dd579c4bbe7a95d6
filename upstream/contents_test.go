package upstream

import (
	"testing"
	"time"

	"fugu/test/pgcluster"
)

// What a table holds decides its hash, and nothing else does.
func TestContents(t *testing.T) {
	run(t, "postgres", "CREATE DATABASE contents")
	run(t, "contents", "CREATE ROLE contents_reader LOGIN")
	exec := func(sql string) { t.Helper(); run(t, "contents", sql) }
	r, err := OpenReader(pgcluster.Shared(t).DSN("contents_reader", "contents"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	look := func() (int64, string) {
		t.Helper()
		n, hash, err := r.Contents(t.Context(), "public.contents")
		if err != nil {
			t.Fatal(err)
		}
		return n, hash
	}
	exec("CREATE TABLE contents (a int, b text); GRANT SELECT ON contents TO contents_reader")
	n, hash := look()
	if n != 0 || len(hash) != 64 {
		t.Errorf("empty: %d rows, %q", n, hash)
	}
	seen := map[string]string{hash: "empty"}
	differs := func(sql string, rows int64) {
		t.Helper()
		exec(sql)
		n, hash := look()
		if n != rows || seen[hash] != "" {
			t.Errorf("after %s: %d rows, the hash is that after %s", sql, n, seen[hash])
		}
		seen[hash] = sql
	}
	differs("INSERT INTO contents SELECT i, i::text FROM generate_series(1, 1000) i", 1000)
	differs("UPDATE contents SET b = 'x' WHERE a = 500", 1000)
	differs("INSERT INTO contents SELECT * FROM contents WHERE a = 7", 1001)
	differs("DELETE FROM contents WHERE a = 7", 999)
	differs("UPDATE contents SET b = NULL WHERE a = 8", 999)
	differs("UPDATE contents SET b = '' WHERE a = 8", 999)
	differs("ALTER TABLE contents RENAME b TO c", 999)
	differs("ALTER TABLE contents ALTER a TYPE int8", 999)
	differs("INSERT INTO contents VALUES (NULL, NULL)", 1000)
	_, before := look()
	exec("CREATE TABLE sorted AS SELECT * FROM contents ORDER BY c DESC; TRUNCATE contents; INSERT INTO contents " +
		"SELECT * FROM sorted; DROP TABLE sorted")
	if _, after := look(); after != before {
		t.Error("the order of the rows matters")
	}
	if _, _, err := r.Contents(t.Context(), "public.nosuch"); err == nil {
		t.Error("a table that is not there has contents")
	}
}
