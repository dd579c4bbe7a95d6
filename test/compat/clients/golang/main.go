// Command golang is the session through database/sql, over lib/pq, with text or binary parameters, and over pgx's
// stdlib.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/lib/pq"
)

const (
	insert = "INSERT INTO item (id, name, price, weight, ok, added, day, data, tags) " +
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
	bySex       = "SELECT sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex"
	byEducation = "SELECT education, count(*) FROM adult WHERE sex = $1 AND age > $2 GROUP BY education " +
		"ORDER BY education"
	totals = "SELECT sum(hours_per_week), avg(capital_gain)::float8 FROM adult WHERE education = $1"
)

// Drivers and connection strings, which take the rest from the environment.
var modes = []struct{ name, driver, dsn string }{
	{"lib/pq", "postgres", ""},
	{"lib/pq binary_parameters", "postgres", "binary_parameters=yes"},
	{"pgx", "pgx", ""},
	{"pgx exec", "pgx", "default_query_exec_mode=exec"},
	{"pgx simple_protocol", "pgx", "default_query_exec_mode=simple_protocol"},
}

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// run has as its first argument the driver's name, as the second what to do.
func run(ctx context.Context, driver, what string) error {
	if what == "version" {
		info, _ := debug.ReadBuildInfo()
		for _, d := range info.Deps {
			if d.Path == "github.com/lib/pq" && driver == "postgres" || d.Path == "github.com/jackc/pgx/v5" &&
				driver == "pgx" {
				fmt.Println(d.Path, d.Version)
			}
		}
		return nil
	}
	do, ok := map[string]func(context.Context, *sql.DB, string) error{"crud": crud, "dashboard": dashboard}[what]
	if !ok {
		return fmt.Errorf("cannot do %q", what)
	}
	for _, m := range modes {
		if m.driver != driver {
			continue
		}
		db, err := sql.Open(m.driver, m.dsn)
		if err != nil {
			return err
		}
		if err := errors.Join(do(ctx, db, m.name), db.Close()); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

func crud(ctx context.Context, db *sql.DB, mode string) error {
	fmt.Println("==", mode)
	if _, err := db.ExecContext(ctx, "TRUNCATE item"); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	added := time.Date(2024, 2, 29, 11, 0, 0, 0, time.UTC)
	if _, err := tx.ExecContext(ctx, insert, 1, `Käse "alt"`, "12.50", 0.1, true, added, "2024-02-29", []byte{0, 255},
		pq.Array([]string{"a", "b c"})); err != nil {
		return err
	}
	for i := 2; i < 6; i++ {
		if _, err := tx.ExecContext(ctx, insert, i, "more", nil, nil, nil, nil, nil, nil, nil); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for range 2 {
		if err := print(ctx, db, "", "SELECT id, name, price, weight, ok, added, day, data, tags FROM item "+
			"WHERE id <= $1 ORDER BY id", 2); err != nil {
			return err
		}
	}
	for _, bad := range []string{"INSERT INTO item (id, name) VALUES (1, 'again')", "SELECT nosuch FROM item",
		"SELECT 1/0"} {
		_, err := db.ExecContext(ctx, bad)
		fmt.Println(err)
	}
	if err := print(ctx, db, "", "UPDATE item SET price = price * 2 WHERE id = $1 RETURNING price", 1); err != nil {
		return err
	}
	r, err := db.ExecContext(ctx, "DELETE FROM item WHERE id > $1", 3)
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	fmt.Println(n, err)
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	_, err = db.ExecContext(short, "SELECT pg_sleep(60)")
	fmt.Println(err != nil)
	stmt, err := db.PrepareContext(ctx, "SELECT count(*) FROM item WHERE id < $1")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i := range 3 {
		if err := stmt.QueryRowContext(ctx, i+1).Scan(&n); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return nil
}

func dashboard(ctx context.Context, db *sql.DB, mode string) error {
	for range 2 {
		if err := errors.Join(print(ctx, db, "dashboard\t"+mode+"\tby_sex\t", bySex),
			print(ctx, db, "dashboard\t"+mode+"\tby_education\t", byEducation, "Female", 20),
			print(ctx, db, "dashboard\t"+mode+"\ttotals\t", totals, "Bachelors")); err != nil {
			return err
		}
	}
	return nil
}

// print writes the rows of a query, each behind a prefix, with tabs between the values.
func print(ctx context.Context, db *sql.DB, prefix, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		line := prefix
		for i, v := range slices.All(values) {
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			if t, ok := v.(time.Time); ok {
				v = t.UTC()
			}
			if i > 0 {
				line += "\t"
			}
			line += fmt.Sprint(v)
		}
		fmt.Println(line)
	}
	return rows.Err()
}
