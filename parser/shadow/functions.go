package shadow

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/internal/hook"
	"fugu/parser/tree"
	"fugu/sqlstate"
)

// shadowKind says what becomes of a call of a function.
type shadowKind int

const (
	openFunction     shadowKind = iota // as it is
	relationFunction                   // its first argument is a relation; a masked one becomes NULL
	sizeFunction                       // likewise; a table with a twin becomes the twin
	oidFunction                        // likewise, by oid
	// Its argument is a database, by name or oid; this one, and any with protected rows, becomes NULL.
	databaseFunction
	databaseOIDFunction // likewise, by oid
	blindFunction       // its argument becomes NULL
	blankFunction       // it has no argument; its value becomes NULL
	dynamicFunction     // refused: it runs SQL text, or reads files
	internalFunction    // refused: it shows what lies below tables
)

// shadowFunctions are functions that everybody may call and whose values depend on rows, or on how many of them were
// read; and functions by which SQL could be run that Fugu does not see. Manual, chapters 9.26 to 9.28 and 28.2,
// appendix F.
var shadowFunctions = kinds(map[shadowKind]string{
	relationFunction: "currval pg_sequence_last_value",
	sizeFunction:     "pg_relation_size pg_table_size pg_indexes_size pg_total_relation_size",
	databaseFunction: "pg_database_size",
	blindFunction: "pg_tablespace_size pg_stat_get_function_calls pg_stat_get_function_total_time " +
		"pg_stat_get_function_self_time",
	blankFunction: "pg_current_wal_lsn pg_current_wal_insert_lsn pg_current_wal_flush_lsn pg_last_wal_receive_lsn " +
		"pg_last_wal_replay_lsn pg_stat_get_buf_alloc pg_stat_get_buf_fsync_backend pg_stat_get_buf_written_backend " +
		"pg_stat_get_checkpoint_sync_time pg_stat_get_checkpoint_write_time " +
		"pg_stat_get_bgwriter_buf_written_checkpoints pg_stat_get_bgwriter_buf_written_clean " +
		"pg_stat_get_bgwriter_maxwritten_clean pg_stat_get_bgwriter_requested_checkpoints " +
		"pg_stat_get_bgwriter_timed_checkpoints",
	dynamicFunction: "query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml cursor_to_xmlschema " +
		"table_to_xml table_to_xmlschema table_to_xml_and_xmlschema schema_to_xml schema_to_xmlschema " +
		"schema_to_xml_and_xmlschema database_to_xml database_to_xmlschema database_to_xml_and_xmlschema ts_stat " +
		"connectby xpath_table lo_import lo_export pg_read_file pg_read_file_old pg_read_binary_file pg_stat_file",
	internalFunction: "pg_logical_emit_message pg_lock_status pg_get_replication_slots pg_stat_statements " +
		"pg_relpages pg_freespace pg_prewarm pgrowlocks get_raw_page fsm_page_contents verify_heapam bt_index_check " +
		"bt_index_parent_check page_header pg_available_wal_summaries pg_wal_summary_contents",
})

// shadowPrefixes stand for families of functions, among them those of extensions that are not known by name.
var shadowPrefixes = []struct {
	prefix string
	kind   shadowKind
}{
	{"dblink", dynamicFunction}, {"crosstab", dynamicFunction}, {"pg_ls_", dynamicFunction},
	{"pg_logical_slot_", dynamicFunction},
	{"pgstat", internalFunction}, {"pg_visibility", internalFunction}, {"pg_buffercache", internalFunction},
	{"pg_control_", internalFunction},
	{"heap_page_", internalFunction}, {"heap_tuple_", internalFunction}, {"bt_page_", internalFunction},
	{"bt_multi_page_", internalFunction},
	{"brin_page_", internalFunction}, {"brin_revmap_", internalFunction}, {"gin_page_", internalFunction},
	{"gin_leafpage_", internalFunction}, {"gin_metapage_", internalFunction},
	{"gist_page_", internalFunction}, {"hash_page_", internalFunction}, {"hash_bitmap_", internalFunction},
	{"hash_metapage_", internalFunction},
	{"pg_get_wal_", internalFunction}, {"pg_check_", internalFunction},
}

func shadowPrefixNames() []string {
	var names []string
	for _, p := range shadowPrefixes {
		names = append(names, p.prefix)
	}
	return names
}

// openFunctions are those that a prefix would catch and that tell nothing: the manual limits what they show of other
// roles' sessions, or they concern the own transaction.
var openFunctions = []string{"pg_get_wal_replay_pause_state", "pg_get_wal_resource_managers",
	"pg_stat_get_snapshot_timestamp", "pg_stat_get_bgwriter_stat_reset_time",
	"pg_stat_get_db_numbackends", "pg_stat_get_db_stat_reset_time", "pg_stat_get_xact_function_calls",
	"pg_stat_get_xact_function_total_time", "pg_stat_get_xact_function_self_time"}

func kinds(lists map[shadowKind]string) map[string]shadowKind {
	out := map[string]shadowKind{}
	for k, list := range lists {
		for _, name := range strings.Fields(list) {
			out[name] = k
		}
	}
	return out
}

// functionKind classifies a function by its name, in whatever schema. A function for statistics that is not known is
// taken to show too much.
func functionKind(name string) shadowKind {
	if k, ok := shadowFunctions[name]; ok {
		return k
	}
	if slices.Contains(openFunctions, name) {
		return openFunction
	}
	for _, p := range shadowPrefixes {
		if strings.HasPrefix(name, p.prefix) {
			return p.kind
		}
	}

	// Of PostgreSQL's statistics those about a backend are of sessions, and the rest of tables or databases.
	rest, statistics := strings.CutPrefix(name, "pg_stat_get_")
	switch {
	case !statistics, strings.HasPrefix(rest, "backend_") && rest != "backend_io" && rest != "backend_wal":
		return openFunction
	case strings.HasPrefix(rest, "db_"):
		return databaseOIDFunction
	case slices.Contains(scanStatistics, rest) && !hook.ScansCounted:
		return blindFunction
	case slices.Contains(tableStatistics, strings.TrimPrefix(rest, "xact_")):
		return oidFunction
	}
	return internalFunction
}

// tableStatistics are what pg_stat_get_ and pg_stat_get_xact_ take the oid of a table or an index for.
var tableStatistics = strings.Fields("numscans lastscan tuples_returned tuples_fetched tuples_inserted " +
	"tuples_updated tuples_deleted tuples_hot_updated tuples_newpage_updated live_tuples dead_tuples " +
	"mod_since_analyze ins_since_vacuum blocks_fetched blocks_hit last_vacuum_time last_autovacuum_time " +
	"last_analyze_time last_autoanalyze_time vacuum_count autovacuum_count analyze_count autoanalyze_count " +
	"total_vacuum_time total_autovacuum_time total_analyze_time total_autoanalyze_time")

// scanStatistics are those of them that are shown of no relation: see scanCounters.
var scanStatistics = strings.Fields("numscans lastscan tuples_returned tuples_fetched blocks_fetched blocks_hit")

const dynamicHint = "Fugu has to see every statement: write the query itself, in plain SQL."

// call masks one call of a function. The argument is evaluated once, in a subselect that returns nothing for what is
// masked: a volatile argument cannot be one thing when it is checked and another when it is used.
func (s *shadowing) call(n *pg.Node, f *pg.FuncCall) error {
	name := tree.LastString(f.Funcname)
	kind := functionKind(name)
	switch {
	case name == "ts_rewrite" && len(f.Args) == 2, kind == dynamicFunction:
		return s.refuse(f.Location, dynamicHint, "%s runs or reads what Fugu cannot see", name)
	case kind == internalFunction:
		return s.refuse(f.Location, "Its values may depend on protected rows.", "%s cannot be called through Fugu",
			name)
	case kind == openFunction:
		return nil
	case kind == blankFunction:
		if len(f.Args) > 0 || s.from[f] {
			return s.refuse(f.Location, "Call it in the SELECT list.", "%s cannot be used here", name)
		}
		n.Node = &pg.Node_CaseExpr{CaseExpr: &pg.CaseExpr{
			Args: []*pg.Node{{Node: &pg.Node_CaseWhen{CaseWhen: &pg.CaseWhen{
				Expr:   pg.MakeAConstStrNode("t", -1),
				Result: &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Isnull: true}}}}}}},
			Defresult: &pg.Node{Node: &pg.Node_FuncCall{FuncCall: f}}}}
		s.changed = true
		return nil
	case s.bare[f] && name == "currval": // see bare.go
		return nil
	case s.bare[f]:
		return s.refuse(f.Location,
			"Its values may depend on protected rows. Ask for the value in a query, and store it.",
			"%s cannot be called in an expression that the database keeps or that takes no subquery", name)
	}

	// What is left takes what it tells of as its first argument, which is masked.
	if len(f.Args) == 0 || f.FuncVariadic || slices.ContainsFunc(f.Args,
		func(a *pg.Node) bool { return a.GetNamedArgExpr() != nil }) {
		return s.refuse(f.Location, "Call it with its arguments in order.", "%s cannot be called in this way", name)
	}

	masked, err := s.argument(kind, f.Args[0])
	if err != nil {
		return err
	}
	f.Args[0] = masked
	s.changed = true
	return nil
}

// argumentShapes hold NULL in the place of the argument, alone in the target list of the innermost FROM: its columns
// cannot be taken for those of the catalog there.
var argumentShapes = map[shadowKind]string{
	relationFunction: "SELECT o.oid::pg_catalog.regclass FROM (SELECT NULL::pg_catalog.regclass AS v) AS a, " +
		"pg_catalog.pg_class AS o WHERE o.oid = a.v::pg_catalog.oid AND NOT " + oidIn(maskedOIDs, "o.oid"),
	oidFunction: "SELECT o.oid FROM (SELECT NULL::pg_catalog.oid AS v) AS a, pg_catalog.pg_class AS o WHERE " +
		"o.oid = a.v AND NOT " + oidIn(maskedOIDs, "o.oid"),
	databaseFunction: "SELECT o.oid FROM (SELECT NULL::pg_catalog.text AS v) AS a, pg_catalog.pg_database AS o " +
		"WHERE (o.datname::pg_catalog.text = a.v OR o.oid::pg_catalog.text = a.v) AND NOT " +
		oidIn(databaseOIDs, "o.oid") + " LIMIT 1",
	databaseOIDFunction: "SELECT o.oid FROM (SELECT NULL::pg_catalog.oid AS v) AS a, pg_catalog.pg_database AS o " +
		"WHERE o.oid = a.v AND NOT " + oidIn(databaseOIDs, "o.oid"),
	blindFunction: "SELECT o.oid FROM (SELECT NULL::pg_catalog.text AS v) AS a, pg_catalog.pg_class AS o WHERE " +
		"false AND a.v IS NULL",
}

var argumentTemplates = func() map[shadowKind]*pg.SelectStmt {
	out := map[shadowKind]*pg.SelectStmt{}
	for k, sql := range argumentShapes {
		node, err := template(sql)
		if err != nil {
			panic(err)
		}
		out[k] = node.GetSelectStmt()
	}
	return out
}()

// argument masks the argument of a function of that kind.
func (s *shadowing) argument(kind shadowKind, arg *pg.Node) (*pg.Node, error) {
	shape := argumentTemplates[kind]
	if kind == sizeFunction {
		shape = s.shadows.sized
	}

	// The template has NULL in the place of the argument.
	sel := tree.Clone(shape)
	innermost := sel.FromClause[0].GetRangeSubselect().GetSubquery().GetSelectStmt()
	cast := innermost.GetTargetList()[0].GetResTarget().GetVal().GetTypeCast()
	if cast == nil {
		return nil, sqlstate.New(sqlstate.InternalError, "masking an argument: unexpected shape")
	}

	cast.Arg = arg
	return &pg.Node{Node: &pg.Node_SubLink{SubLink: &pg.SubLink{SubLinkType: pg.SubLinkType_EXPR_SUBLINK,
		Subselect: &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: sel}}}}}, nil
}
