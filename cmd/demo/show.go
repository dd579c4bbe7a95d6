package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/pgcluster"
)

// statement is one step of the demo. Its columns are group keys, then aggregates in the order of the select list.
type statement struct {
	say    string
	before string // run first, in the same session
	sql    string
	truth  string // its text for PostgreSQL itself, where that is another
	args   []any  // any: through the extended protocol, by a driver; none: through psql
	keys   int    // group keys, or asText
}

// asText marks a statement that has no true values to be compared with.
const asText = -1

var statements = []statement{
	{say: "What it would cost, and how far off the answer would be. Explaining spends nothing.",
		sql: "EXPLAIN (PRIVACY) SELECT count(*) FROM adult WHERE income = '>50K'", keys: asText},
	{say: "The same, asked.", sql: "SELECT count(*) FROM adult WHERE income = '>50K'"},
	{say: "And again: the stored answer, at no cost.", sql: "SELECT count(*) FROM adult WHERE income = '>50K'"},
	{say: "Grouped: every public key comes back.", sql: "SELECT sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex", keys: 1},
	{say: "Sixteen groups.", sql: "SELECT education, count(*) FROM adult GROUP BY education ORDER BY count(*) DESC", keys: 1},
	{say: "Any SQL may stand above the aggregates. These are the counts of the last statement again, so they cost nothing.",
		sql:   "SELECT education, count(*) FROM adult GROUP BY education HAVING count(*) > 1000 ORDER BY education LIMIT 3",
		truth: "SELECT education, count(*) FROM adult GROUP BY education", keys: 1},
	{say: "With parameters, through the extended protocol.",
		sql: "SELECT avg(hours_per_week), count(*) FROM adult WHERE sex = $1 AND age BETWEEN $2 AND $3", args: []any{"Female", 25, 40}},
	{say: "A sum.", sql: "SELECT sum(capital_gain) FROM adult WHERE workclass = 'Private'"},
	{say: "Less epsilon: more noise, less cost.", before: "SET fugu.epsilon = 0.1", sql: "SELECT avg(age) FROM adult WHERE sex = 'Male'"},
	{say: "Refused: a maximum shows a single row.", sql: "SELECT max(age) FROM adult", keys: asText},
}

// answer is what Fugu gave for one statement.
type answer struct {
	rows  [][]string
	noise map[string][]string // group key to the noise of its columns
	left  string

	err, notice string // what the server says beside rows, or in place of them
}

// What Fugu tells a session of its last statement. The rows of last_release are in the order of the answer: groups, then aggregates as they are selected.
const (
	noiseSQL = "SELECT group_key, round(noise_sd::numeric, 3) FROM fugu.last_release"
	leftSQL  = "SELECT round(min(epsilon_left)::numeric, 3) FROM fugu.budget"
)

// show runs the statements, and prints for each what Fugu and what PostgreSQL itself say.
func show(ctx context.Context, cluster *pgcluster.Cluster, address string) error {
	truth, err := pgx.Connect(ctx, cluster.DSN("postgres", "adult"))
	if err != nil {
		return err
	}
	defer truth.Close(context.WithoutCancel(ctx))
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	dsn := (&url.URL{Scheme: "postgres", User: url.User("alice"), Host: net.JoinHostPort(host, port), Path: "adult"}).String()
	for i, s := range statements {
		fmt.Printf("\n%d. %s\n", i+1, s.say)
		if s.before != "" {
			fmt.Printf("   %s;\n", s.before)
		}
		fmt.Printf("   %s;", s.sql)
		for i, arg := range s.args {
			fmt.Printf("  $%d = %v", i+1, arg)
		}
		fmt.Println()
		var a answer
		if s.args == nil {
			a, err = throughPsql(ctx, cluster.Tool("psql"), dsn, s)
		} else {
			a, err = throughPgx(ctx, dsn, s)
		}
		if err != nil {
			return err
		}
		switch {
		case a.err != "":
			fmt.Println(indent(a.err))
		case s.keys == asText:
			for _, r := range a.rows {
				fmt.Println(indent(strings.Join(r, " ")))
			}
		default:
			columns, exact, err := query(ctx, truth, cmp.Or(s.truth, s.sql), s.args)
			if err != nil {
				return err
			}
			if err := compare(s, columns, exact, a); err != nil {
				return err
			}
		}
		if a.notice != "" {
			fmt.Println(indent(a.notice))
		}
		if a.left != "" {
			fmt.Printf("   epsilon left: %s\n", a.left)
		}
	}
	return nil
}

// throughPsql runs the statement, and asks Fugu about it, in one session of psql's.
func throughPsql(ctx context.Context, psql, dsn string, s statement) (answer, error) {
	const mark = "--"
	args := []string{"-XqAt", "-F", "\t", "-v", "VERBOSITY=verbose", "-d", dsn}
	for _, c := range []string{s.before, s.sql, `\echo ` + mark, noiseSQL, `\echo ` + mark, leftSQL} {
		if c != "" {
			args = append(args, "-c", c)
		}
	}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, psql, args...)
	cmd.Env = append(os.Environ(), "PGCONNECT_TIMEOUT=10")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	parts := strings.Split(stdout.String(), mark+"\n")
	if err != nil || len(parts) != 3 {
		return answer{}, fmt.Errorf("psql: %w\n%s", cmp.Or(err, errors.New("not what was expected")), stderr.String())
	}
	a := answer{rows: lines(parts[0]), noise: byGroup(lines(parts[1])), left: strings.TrimSpace(parts[2])}
	if len(a.rows) == 0 {
		a.err = stderr.String()
	} else { // a warning, as where noise is larger than a value
		a.notice = stderr.String()
	}
	return a, nil
}

// lines are the rows that psql printed.
func lines(text string) [][]string {
	var rows [][]string
	for line := range strings.Lines(text) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// throughPgx runs the statement with parameters: prepared, described, and bound in binary.
func throughPgx(ctx context.Context, dsn string, s statement) (answer, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return answer{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var a answer
	var refused *pgconn.PgError
	if _, a.rows, err = query(ctx, conn, s.sql, s.args); errors.As(err, &refused) {
		a.err = refused.Error()
	} else if err != nil {
		return a, err
	}
	_, noise, err := query(ctx, conn, noiseSQL, nil)
	if err != nil {
		return a, err
	}
	a.noise = byGroup(noise)
	_, left, err := query(ctx, conn, leftSQL, nil)
	if err != nil {
		return a, err
	}
	a.left = left[0][0]
	return a, nil
}

func byGroup(rows [][]string) map[string][]string {
	noise := map[string][]string{}
	for _, r := range rows {
		noise[r[0]] = append(noise[r[0]], r[1])
	}
	return noise
}

// query returns column names, and rows as text.
func query(ctx context.Context, conn *pgx.Conn, sql string, args []any) ([]string, [][]string, error) {
	rows, err := conn.Query(ctx, sql, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var names []string
	for _, f := range rows.FieldDescriptions() {
		names = append(names, f.Name)
	}
	var out [][]string
	for rows.Next() {
		var row []string
		for _, v := range rows.RawValues() {
			row = append(row, string(v))
		}
		out = append(out, row)
	}
	return names, out, rows.Err()
}

// compare prints true and noisy values side by side, matched by their group keys.
func compare(s statement, columns []string, exact [][]string, a answer) error {
	truth := map[string][]string{}
	for _, r := range exact {
		truth[strings.Join(r[:s.keys], ", ")] = r
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, strings.Join(columns[:s.keys], ", ")+"\t\ttrue\tFugu\tnoise sd\t")
	for _, row := range a.rows {
		var group []string
		for i := range s.keys {
			group = append(group, columns[i]+"="+row[i])
		}
		key := strings.Join(row[:s.keys], ", ")
		noise := a.noise[strings.Join(group, ", ")]
		for i := s.keys; i < len(row); i++ {
			if len(truth[key]) != len(row) || len(noise) != len(row)-s.keys {
				return fmt.Errorf("the answer does not fit: %v, truly %v, noise %v", row, truth[key], noise)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t\n", key, columns[i], short(truth[key][i]), short(row[i]), noise[i-s.keys])
		}
	}
	return w.Flush()
}

// short cuts PostgreSQL's sixteen decimals of an average down to what can be read.
func short(number string) string {
	if i := strings.IndexByte(number, '.'); i >= 0 && len(number) > i+4 {
		return number[:i+4]
	}
	return number
}

func indent(text string) string {
	return "   " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n   ")
}
