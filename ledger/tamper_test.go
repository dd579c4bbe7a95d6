package ledger

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// x64 is a key, or a digest, of nothing.
const x64 = "'0000000000000000000000000000000000000000000000000000000000000000'"

// tamperedOperations are changes of what operators did, and of refusals.
var tamperedOperations = []struct {
	name, statement string
	opens           bool // and does not only fail an audit
}{
	{"a refusal's code", `UPDATE audit SET entry = replace(entry, '"PV001"', '"PV002"')`, false},
	{"a refusal's statement", `UPDATE audit SET entry = replace(entry, '0000000000000001', '0000000000000002')`,
		false},
	{"a release's statement", `UPDATE audit SET entry = replace(entry, '00ff', '00fe') WHERE number = 1`, false},
	{"a refusal left out", `DELETE FROM audit WHERE entry LIKE '%PV001%'`, false},
	{"how many were lost", `UPDATE audit SET entry = replace(entry, '"times":3', '"times":2')`, false},
	{"a reset's reason", `UPDATE audit SET entry = replace(entry, 'published', 'old') WHERE number = 6`, false},
	{"a reset's operator", `UPDATE audit SET entry = replace(entry, '"carol"', '"alice"') WHERE number = 6`, false},
	{"a reset left out",
		`DELETE FROM periods; UPDATE charges SET period = 0; DELETE FROM totals WHERE dataset = 'adult'`, false},
	{"a reset that nobody made", `INSERT INTO periods VALUES ('adult', 2, 1, 1, 'reset')`, false},
	{"a renewal that nobody made", `INSERT INTO periods VALUES ('adult', 2, 1, 1, 'renewal')`, false},
	{"of another dataset", `INSERT INTO periods VALUES ('census', 1, 1, 1, 'reset')`, false},
	{"a reset's time", `UPDATE periods SET began = began + 1`, false},
	{"a reset that is called a renewal", `UPDATE periods SET reason = 'renewal'`, false},
	{"a total of before", `UPDATE totals SET pure = 0 WHERE period = 0 AND dataset = 'adult'`, false},
	{"a total moved to another period", `UPDATE totals SET period = 0 WHERE scope = 'bob'`, false},
	{"data that nobody replaced",
		`INSERT INTO epochs (dataset, number, label, independent, "user", reason, at)
			VALUES ('adult', 1, '', 0, 'eve', 'x', 1)`, false},
	{"what was compacted left out", `DELETE FROM compacted WHERE answer = 1`, false},
	{"a compacted answer's key", `UPDATE compacted SET key = ` + x64 + ` WHERE answer = 1`, false},
	{"a compacted answer's digest", `UPDATE compacted SET content = ` + x64 + ` WHERE answer = 1`, false},
	{"by which entry", `UPDATE compacted SET entry = 6 WHERE answer = 1`, false},
	{"a content that comes back",
		`UPDATE answers SET bytes = (SELECT bytes FROM answers WHERE id = 3) WHERE id = 1`, true},
	{"under its old key", `UPDATE answers SET key = ` + x64 + ` WHERE id = 1`, true},
	{"a compaction that nobody made", `INSERT INTO compacted SELECT 3, key, ` + x64 +
		`, 11 FROM answers WHERE id = 3;
	  UPDATE answers SET bytes = (SELECT bytes FROM answers WHERE id = 1), cells = '[]',
		key = ` + x64 + ` WHERE id = 3`, false},
	{"the content of an answer dropped",
		`UPDATE answers SET bytes = (SELECT bytes FROM answers WHERE id = 1), cells = '[]' WHERE id = 3`, true},
}

// What was changed past the ledger of what operators did, and of refusals, is found by an audit; a reset that nobody
// made, by opening it: the next charge would spend the budget twice.
func TestAuditFindsTamperingWithOperations(t *testing.T) {
	check := func(t *testing.T, p place, name string, opens bool) {
		t.Helper()
		l, err := Open(context.Background(), string(p), Options{ReadOnly: true})
		if err == nil {
			_, err = l.Audit(t.Context(), nil)
			closeLedger(t, l)
			if err != nil && !opens {
				t.Errorf("found by an audit alone: %s: %v", name, err)
			}
		}
		if err == nil {
			t.Errorf("not found: %s", name)
		}
	}
	t.Run("SQLite", func(t *testing.T) { tamperOperationsInFile(t, check) })
	t.Run("PostgreSQL", func(t *testing.T) { tamperOperationsInDatabase(t) })
}

// tamperOperationsInFile changes each in a file of its own; check says whether that is found.
func tamperOperationsInFile(t *testing.T, check func(t *testing.T, p place, name string, opens bool)) {
	t.Helper()
	p := inFile(t)
	closeLedger(t, busy(t, p, Options{}))
	sound, err := os.ReadFile(strings.TrimPrefix(string(p), "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	free := `PRAGMA foreign_keys = 0;`
	for _, name := range []string{"audit_stays", "audit_fixed", "totals_stay", "totals_grow", "answers_stay",
		"answers_fixed", "periods_stay", "periods_fixed", "charges_stay", "charges_fixed", "compacted_stay",
		"compacted_fixed"} {
		free += `DROP TRIGGER ` + name + `;`
	}
	for _, tt := range tamperedOperations {
		p := inFile(t)
		path := strings.TrimPrefix(string(p), "sqlite:")
		if err := os.WriteFile(path, sound, 0o600); err != nil {
			t.Fatal(err)
		}
		raw(t, path, free+tt.statement)
		check(t, p, tt.name, tt.opens)
	}
	links(t, p.open(t, Options{ReadOnly: true}))
}

// tamperOperationsInDatabase changes each in a transaction that is undone: a copy of the database takes longer.
func tamperOperationsInDatabase(t *testing.T) {
	t.Helper()
	p := inDatabase(t)
	closeLedger(t, busy(t, p, Options{}))
	config, err := pgx.ParseConfig(string(p))
	if err != nil {
		t.Fatal(err)
	}
	config.User, config.RuntimeParams["search_path"] = "postgres", postgresSchema
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	for _, tt := range tamperedOperations {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{`SET LOCAL session_replication_role = replica`, tt.statement} {
			if _, err := tx.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		if _, err := (seal{}).audit(t.Context(), tx, nil); err == nil {
			t.Errorf("not found: %s", tt.name)
		}
		_ = tx.Rollback()
	}
	links(t, p.open(t, Options{ReadOnly: true}))
}

// The database lets nobody do by hand what only an operation may.
func TestDatabaseRefusesToForgetOperations(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := busy(t, p, Options{})
		for _, s := range []string{
			`DELETE FROM compacted`, `UPDATE compacted SET content = key`,
			`DELETE FROM totals WHERE period = 0`, `DELETE FROM periods`, `UPDATE periods SET began = 0`,
			`UPDATE answers SET bytes = bytes WHERE id = 3`, `UPDATE answers SET key = key WHERE id = 1`,
			`INSERT INTO compacted SELECT 77, key, key, 1 FROM answers WHERE id = 3`,
		} {
			if _, err := l.write.Exec(s); err == nil {
				t.Errorf("done: %s", s)
			}
		}
		// An answer that is noted as compacted can lose its content, and nothing else of it can change.
		if _, err := l.write.Exec(`INSERT INTO compacted SELECT id, key, key, 1 FROM answers
			WHERE id = 3`); err != nil {
			t.Fatal(err)
		}
		zero := `x'00'`
		if p.remote() {
			zero = `'\x00'`
		}
		drop := `UPDATE answers SET bytes = ` + zero + `, cells = '[]', sealed = 0, key = '` +
			strings.Repeat("ab", 32) + `'`
		for _, also := range []string{`, scope = 'eve'`, `, at = 1`, `, epsilon = 9`, `, mechanism = 'x'`,
			`, certificates = '[1]'`, `, dataset = 'x'`, `, cells = '[1]'`, `, failed = 1`, `, epoch = 1`} {
			if _, err := l.write.Exec(drop + also + ` WHERE id = 3`); err == nil {
				t.Errorf("changed besides: %s", also)
			}
		}
		if _, err := l.write.Exec(drop + ` WHERE id = 3`); err != nil {
			t.Error(err)
		}
	})
}

// An export holds every column of every table; and the two stores have the same.
func TestExportHasAllTables(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		query := `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'
			AND m.name NOT LIKE 'sqlite_%' ORDER BY 1, 2`
		if p.remote() {
			query = `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'fugu_ledger'
				AND table_name <> 'version' ORDER BY table_name COLLATE "C", column_name COLLATE "C"`
		}
		found, err := l.read.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = found.Close() }()
		var got, want []string
		for found.Next() {
			var table, column string
			if err := found.Scan(&table, &column); err != nil {
				t.Fatal(err)
			}
			got = append(got, table+"."+column)
		}
		for _, t := range tables {
			for _, c := range t.columns {
				want = append(want, t.name+"."+c.name)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("the schema has %q, an export has %q", got, want)
		}
	})
}
