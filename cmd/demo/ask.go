package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/beside"
)

// statement is one step of the demo. Its columns are group keys, then values in the order of the select list.
type statement struct {
	say    string
	twin   string // what to say when the twin is asked the same; empty: it is not
	before string // run first, in the same session, where noise answers
	sql    string
	truth  string // its text for PostgreSQL itself, where that is another
	args   []any  // any: through the extended protocol, by a driver; none: through psql
	keys   int    // group keys, or asText
}

// asText marks a statement that has no true values to be compared with.
const asText = -1

// answer is what Fugu gave for one statement.
type answer struct {
	table beside.Table        // through psql, without names of columns
	noise map[string][]string // group key to the noise of its columns
	left  string

	err, notice string // what the server says beside rows, or in place of them
}

// What Fugu tells a session of its last statement. The rows of last_release are in the order of the answer: groups,
// then aggregates as they are selected.
const (
	noiseSQL = "SELECT group_key, round(noise_sd::numeric, 3) FROM fugu.last_release"
	leftSQL  = "SELECT round(min(epsilon_left)::numeric, 3) FROM fugu.budget"
)

// alice is how she reaches a Fugu.
func alice(address, database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("alice"), Host: address, Path: database}).String()
}

// ask asks a statement, and Fugu about it, in one session.
func (d *demo) ask(ctx context.Context, dsn string, s statement) (answer, error) {
	if s.args != nil {
		return throughPgx(ctx, dsn, s)
	}

	// psql runs one command after the other and prints a mark between the results.
	const mark = "--"
	args := []string{"-XqAt", "-F", "\t", "-P", "null=NULL", "-v", "VERBOSITY=verbose", "-d", dsn}
	for _, c := range []string{s.before, s.sql, `\echo ` + mark, noiseSQL, `\echo ` + mark, leftSQL} {
		if c != "" {
			args = append(args, "-c", c)
		}
	}

	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, d.cluster.Tool("psql"), args...)
	cmd.Env = append(os.Environ(), "PGCONNECT_TIMEOUT=60")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()

	parts := strings.Split(stdout.String(), mark+"\n")
	if err != nil || len(parts) != 3 {
		return answer{}, fmt.Errorf("psql: %w\n%s", cmp.Or(err, errors.New("not what was expected")), stderr.String())
	}

	a := answer{
		table: beside.Table{Rows: printed(parts[0])},
		noise: byGroup(printed(parts[1])),
		left:  strings.TrimSpace(parts[2]),
	}
	if len(a.table.Rows) == 0 {
		a.err = stderr.String()
	} else { // a warning, as where noise is larger than a value
		a.notice = stderr.String()
	}
	return a, nil
}

// printed are the rows that psql printed.
func printed(text string) (rows [][]beside.Value) {
	for line := range strings.Lines(text) {
		var row []beside.Value
		for _, v := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			row = append(row, beside.Value{Text: v, Null: v == "NULL"})
		}
		rows = append(rows, row)
	}
	return rows
}

// throughPgx runs the statement with parameters: prepared, described, and bound in binary.
func throughPgx(ctx context.Context, dsn string, s statement) (a answer, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return a, err
	}
	defer conn.Close(context.WithoutCancel(ctx))

	// A refusal is a result here, and printed like one.
	var refused *pgconn.PgError
	if a.table, err = beside.Query(ctx, conn, s.sql, s.args...); errors.As(err, &refused) {
		a.err = refused.Error()
	} else if err != nil {
		return a, err
	}

	noise, err := beside.Query(ctx, conn, noiseSQL)
	if err != nil {
		return a, err
	}
	a.noise = byGroup(noise.Rows)

	left, err := beside.Query(ctx, conn, leftSQL)
	if err != nil {
		return a, err
	}
	a.left = left.Rows[0][0].Text
	return a, nil
}

func byGroup(rows [][]beside.Value) map[string][]string {
	noise := map[string][]string{}
	for _, r := range rows {
		noise[r[0].Text] = append(noise[r[0].Text], r[1].Text)
	}
	return noise
}

// truth asks PostgreSQL itself, as superuser.
func (d *demo) truth(ctx context.Context, s statement) (t beside.Table, err error) {
	conn, err := pgx.Connect(ctx, d.cluster.DSN("postgres", noiseDatabase))
	if err != nil {
		return t, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return beside.Query(ctx, conn, cmp.Or(s.truth, s.sql), s.args...)
}
