package build

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"fugu/channel"
	"fugu/parser"
)

// about is the view fugu.twin of a database of twins, where Fugu looks at no statement and has no tables of its own:
// what fugu.twin is elsewhere, with the same columns. The error of a count is worked out as package pipeline does it.
const about = `CREATE OR REPLACE VIEW fugu.twin AS
	SELECT t.dataset, t.table_schema || '.' || t.table_name AS table_name,
	t.built, t.rows, CASE WHEN c.i IS NOT NULL THEN t.sampled END AS sampled, c.class, c.told, c.taken,
	CASE WHEN c.taken > 0
		THEN sqrt(greatest(0, w - 1) + (w - floor(w)) * (1 - w + floor(w)) / greatest(1, w))
		ELSE 0 END AS count_error, t.epsilon, t.delta, t.assumption, NULL::bigint AS at_least,
	t.noise[c.i] AS told_error
	FROM ` + registry + ` AS t LEFT JOIN LATERAL ROWS FROM (unnest(t.classes), unnest(t.told), unnest(t.taken))
		WITH ORDINALITY AS c(class, told, taken, i) ON true
	LEFT JOIN LATERAL (SELECT c.told::float8 / nullif(c.taken, 0)) AS often(w) ON true
	ORDER BY t.table_schema, t.table_name, c.i`

// aboutChannels is the view fugu.channel there, likewise.
var aboutChannels = `CREATE OR REPLACE VIEW fugu.channel AS
	SELECT t.dataset, c.table_schema || '.' || c.table_name AS table_name, c.column_name, x.outcome,
	x."from" AS from_value, x."to" AS to_value, x.weight / ` + strconv.Itoa(channel.Whole) + `::float8 AS probability
	FROM ` + channelsTable + ` AS c JOIN ` + registry + ` AS t USING (table_schema, table_name),
	LATERAL jsonb_to_recordset(c.channel) AS x(outcome text, "from" text, "to" text, weight int8)`

// makeAbout makes these views, where the name is free and schemas may be made, and lets guests read what is the
// keeper's.
func makeAbout(ctx context.Context, db pgx.Tx, guests []string) error {
	var free, mine bool
	const whose = `SELECT to_regnamespace('fugu') IS NULL AND has_database_privilege(current_database(), 'CREATE'),
		EXISTS (SELECT FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner
			WHERE n.nspname = 'fugu' AND r.rolname = current_user)`
	if err := db.QueryRow(ctx, whose).Scan(&free, &mine); err != nil {
		return fmt.Errorf("looking for the schema fugu: %w", err)
	}

	// Who made the schema of that name is asked, and not whether it is there: somebody else's is left alone.
	var statements []string
	if free {
		statements = []string{`CREATE SCHEMA fugu`, about, aboutChannels}
	}
	if mine {
		statements = []string{about, aboutChannels} // it may have got a column
	}
	if free || mine {
		for _, g := range guests {
			statements = append(statements, `GRANT USAGE ON SCHEMA fugu TO `+parser.QuoteIdent(g),
				`GRANT SELECT ON fugu.twin, fugu.channel TO `+parser.QuoteIdent(g))
		}
	}

	for _, sql := range statements {
		if _, err := db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("making the views of the schema fugu: %w", err)
		}
	}
	return nil
}
