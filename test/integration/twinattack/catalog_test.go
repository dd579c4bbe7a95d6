//go:build fuguhooks

package twinattack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
)

// relation is what a relation holds, by column: the values of all rows, in an order of their own.
type relation map[string]string

// columnsOf are what a statement returns, by column. Rows have no order of their own, so that each column is sorted:
// what stands in the catalog is then compared without the pairing of values, which a difference of any row would show
// as well.
func columnsOf(ctx context.Context, c *pgx.Conn, sql string) (relation, error) {
	rows, err := c.Query(ctx, sql, pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		return relation{"error": err.Error()}, ctx.Err()
	}
	values := map[string][]string{}
	for rows.Next() {
		for i, v := range rows.RawValues() {
			name := rows.FieldDescriptions()[i].Name
			text := session.ReplaceAllString(string(v), "pg_temp")
			if v == nil {
				text = "NULL"
			}
			values[name] = append(values[name], text)
		}
	}
	if err := rows.Err(); err != nil {
		return relation{"error": err.Error()}, ctx.Err()
	}
	out := relation{"rows": fmt.Sprint(rows.CommandTag().RowsAffected())}
	for name, list := range values {
		slices.Sort(list)
		out[name] = strings.Join(list, "\n")
	}
	return out, nil
}

// everything is all that the catalog tells, by what was asked: each relation there is, and each function of a
// relation or of nothing, which sizes, counters and positions are told by.
func everything(ctx context.Context, c *pgx.Conn) (map[string]relation, error) {
	// Two views of information_schema take minutes: what they are made of is in pg_attribute, pg_type and pg_proc.
	const relations = `SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c
	  JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'v', 'm', 'p', 'S') AND n.nspname !~ '^pg_(toast|temp)'
		AND c.relname <> ALL ('{element_types,data_type_privileges}') ORDER BY 1`
	const functions = `SELECT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
	  AND prokind = 'f' AND proname !~ '^(lo_|_|RI_)'
		AND prorettype <> 'trigger'::regtype AND prorettype <> 'event_trigger'::regtype AND proargtypes::text `
	ways := []struct{ names, as, sql string }{
		{relations, "%s", "SELECT * FROM %s"},
		{"VALUES ('fugu.twin'), ('fugu.budget'), ('fugu.releases'), ('public.adult'), ('public.visit')", "%s",
			"SELECT * FROM %s"},
		{"VALUES ('public.adult'), ('public.visit')", "%s (system columns)",
			"SELECT tableoid, ctid, xmin, xmax, cmin, cmax FROM %s"},
		{functions + "IN ('26', '2205') AND NOT proretset GROUP BY 1 ORDER BY 1", "%s(relation)",
			"SELECT c.oid, pg_catalog.%s(c.oid) FROM pg_class c " +
				"WHERE c.relnamespace >= 16384 OR c.relnamespace = 2200"},
		{functions + "= '' GROUP BY 1 ORDER BY 1", "%s()", "SELECT * FROM pg_catalog.%s()"},
	}
	out := map[string]relation{}
	for _, way := range ways {
		rows, _ := c.Query(ctx, way.names)
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if out[fmt.Sprintf(way.as, name)], err = columnsOf(ctx, c, fmt.Sprintf(way.sql, name)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// differing are the columns in which two worlds' catalogs differ.
func differing(a, b map[string]relation) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		all := maps.Clone(a[name])
		maps.Copy(all, b[name])
		for column := range all {
			if a[name][column] != b[name][column] {
				out = append(out, name+": "+column)
			}
		}
	}
	for name := range b {
		if a[name] == nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// byChance says what differs from server to server, whatever its tables hold, with the reason. Counters of protected
// tables and of the database are masked; those of system tables are not, and hang on what each backend has in its
// cache.
var byChance = map[string]*regexp.Regexp{
	"clocks": regexp.MustCompile(
		`timestamp|timeofday|^now\(|_time\b|_time$|: built$|_start$|state_change|stats_reset|last_analyze`),
	"processes, ports and keys": regexp.MustCompile(
		`pid$|_port$|_pid\(|virtual|uuid|random|pg_export_snapshot|client_port`),
	"settings: port and directory": regexp.MustCompile(
		`settings.*: (setting|reset_val)$|pg_current_logfile|shmem`),
	"scans and pruning of system tables": regexp.MustCompile(
		`^pg_catalog\.pg_stat(io)?_(xact_)?(all|sys)_(tables|indexes): ` +
			`((seq|idx)_(scan|tup_read|tup_fetch)|n_(dead|live)_tup|` +
			`t?(heap|idx|toast|idx)_blks_(hit|read))$|tidx_blks`),
	"the same, by functions": regexp.MustCompile(
		`^pg_stat_get_(xact_)?(blocks_(fetched|hit)|numscans|tuples_(fetched|returned))\(relation\)`),
	"counters of other databases": regexp.MustCompile(
		`^pg_catalog\.pg_stat_database: (blks_(hit|read)|tup_(returned|fetched)|` +
			`active_time|session_time|sessions|xact_commit)$`),
}

// chance is why a column may differ between equal worlds; empty: it may not.
func chance(column string) string {
	for why, of := range byChance {
		if of.MatchString(column) {
			return why
		}
	}
	return ""
}

// apart are the columns that tell two worlds apart, and how many were left out for which reason.
func apart(a, b map[string]relation) (found []string, left map[string]int) {
	left = map[string]int{}
	for _, column := range differing(a, b) {
		if why := chance(column); why != "" {
			left[why]++
		} else {
			found = append(found, column)
		}
	}
	return found, left
}

// catalogs asks several worlds at once.
func catalogs(t testing.TB, w ...*world) []map[string]relation {
	t.Helper()
	told, errs := make([]map[string]relation, len(w)), make([]error, len(w))
	var asking sync.WaitGroup
	for i := range w {
		c := connect(t, w[i].serve(t))
		asking.Go(func() { told[i], errs[i] = everything(t.Context(), c) })
	}
	asking.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return told
}

// catalogsAreEqual shows that nothing in the catalog tells the coupled worlds apart, and that a catalog as PostgreSQL
// has it does.
func catalogsAreEqual(t *testing.T, w [3]*world) {
	told := catalogs(t, w[:]...)
	readable, values := 0, 0
	for _, r := range told[first] {
		if _, failed := r["error"]; !failed {
			readable++
			values += len(r) - 1
		}
	}
	found, _ := apart(told[first], told[again])
	for _, column := range found {
		t.Errorf("%s differs between equal worlds: nothing can be seen there", column)
	}
	found, left := apart(told[first], told[second])
	t.Logf("%d of %d relations and functions can be read, %d columns in all, none of them tells; not compared: %v",
		readable, len(told[first]), values, left)
	for _, column := range found {
		t.Errorf("%s tells the worlds apart", column)
	}

	planted(t, &hook.Unmasked)
	told = catalogs(t, w[first], w[second])
	found, _ = apart(told[0], told[1])
	t.Logf("with sizes and statistics as PostgreSQL has them, %d columns tell the worlds apart: %.300q",
		len(found), found)
	for _, column := range []string{"pg_relation_size(relation)", "pg_catalog.pg_class: reltuples",
		"pg_catalog.pg_stat_all_tables: n_tup_ins"} {
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, column) }) {
			t.Errorf("%s does not: it is no test", column)
		}
	}
}
