//go:build fuguhooks

package attack

import (
	"testing"

	"fugu/internal/hook"
)

// older are worlds on servers of other versions: with the views of extended statistics as they were before everybody's
// right on them was taken back, and with a view of statistics that no version of Fugu knows.
var older = [2]world{{"v400", 400}, {"v500", 500}}

var madeOlder making

const olderViews = `CREATE STATISTICS riches ON (income = 'high') FROM customer;
	SET allow_system_table_mods = on;
	DO $$ DECLARE view text; BEGIN
	  FOREACH view IN ARRAY ARRAY['pg_stats_ext', 'pg_stats_ext_exprs'] LOOP
	    EXECUTE format('CREATE OR REPLACE VIEW pg_catalog.%I AS %s', view, replace(pg_get_viewdef(view::regclass),
	      'pg_has_role(c.relowner, ''USAGE''::text)', 'true'));
	  END LOOP; END $$;
	CREATE VIEW pg_catalog.pg_stat_later AS SELECT relpages FROM pg_class WHERE relname = 'customer';
	GRANT SELECT ON pg_catalog.pg_stat_later TO PUBLIC`

// A server that was made by PostgreSQL 14.11, say, and updated since shows everybody the most common values of
// expressions in extended statistics. What a later version has is refused by its name, and a WITH query of the name,
// anywhere in the statement, made it pass.
func TestStatisticsOfOtherVersions(t *testing.T) {
	madeOlder.both(t, databases(t), older, olderViews)
	channel{off: []*bool{&hook.Unmasked}, worlds: older, tell: []string{
		"SELECT most_common_freqs::text FROM pg_stats_ext_exprs WHERE tablename = 'customer'",
		"SELECT to_json(s) FROM pg_catalog.pg_stats_ext_exprs AS s",
		"SELECT * FROM pg_stat_later",
		"WITH pg_stat_later AS (SELECT 1) SELECT * FROM pg_catalog.pg_stat_later",
		"SELECT y.* FROM (WITH pg_stat_later AS (SELECT 1) SELECT 1) AS x, pg_stat_later AS y",
	}, more: []string{"TABLE pg_stats_ext"}}.compare(t)
}
