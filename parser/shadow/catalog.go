package shadow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/internal/hook"
	"fugu/parser/lex"
	"fugu/parser/tree"
)

// shadowRelation says how much of a catalog relation is shown. See the PostgreSQL manual, chapters 28.2 (statistics
// views), 53 (catalogs) and 54 (views).
type shadowRelation struct {
	key string // column with the oid of a relation: its masked relations' rows keep only the columns of keep
	// The same for a column with the oid of a database, of which this one and those with protected rows are masked.
	database  string
	keep      []string // neither key nor database: these columns are all that is shown of any row
	scans     bool     // with a key: columns of scanCounters are shown of no relation
	mask      []string // if set, the only columns that are masked, beside positions in the write-ahead log
	where     string   // the rows that are shown, whole
	extension bool     // an extension's, in any schema
}

var (
	tableKeys    = []string{"relid", "schemaname", "relname"}
	indexKeys    = []string{"relid", "indexrelid", "schemaname", "relname", "indexrelname"}
	here         = "(SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())"
	own          = "(SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = SESSION_USER)"
	tableView    = shadowRelation{key: "relid", keep: tableKeys, scans: true}
	indexView    = shadowRelation{key: "relid", keep: indexKeys, scans: true}
	xactView     = shadowRelation{key: "relid", keep: tableKeys} // of the client's own transaction
	ownSessions  = "s.pid = ANY (ARRAY(SELECT a.pid FROM pg_catalog.pg_stat_activity a WHERE a.usesysid = " + own + "))"
	ownProgress  = shadowRelation{where: ownSessions}
	countersView = shadowRelation{keep: []string{"stats_reset"}}

	positionsView = shadowRelation{mask: []string{}}

	ownStatistics = shadowRelation{where: "pg_catalog.pg_has_role(s.statistics_owner, 'USAGE')"}
)

// classMasks are the columns of pg_class that depend on rows, with what a masked relation shows: what it would before
// its first VACUUM. A protected table shows the policy's number of rows.
var classMasks = map[string]string{
	"reltuples": "'-1'", "relpages": "'0'", "relallvisible": "'0'", "relallfrozen": "'0'",
}

// scanCounters count how often and how far a relation was read. The reader reads ordinary tables beside protected rows,
// and where PostgreSQL joins by nested loops it reads them once for each protected row that a condition holds for. So
// these counters are shown of no relation; those of what was written stay.
var scanCounters = strings.Fields("seq_scan last_seq_scan seq_tup_read idx_scan last_idx_scan idx_tup_read " +
	"idx_tup_fetch heap_blks_read heap_blks_hit idx_blks_read idx_blks_hit toast_blks_read toast_blks_hit " +
	"tidx_blks_read tidx_blks_hit")

// shadowed are the relations that show values which depend on rows, or on how many of them were read.
var shadowed = map[string]shadowRelation{
	"pg_class":                 {key: "oid"},
	"pg_stat_all_tables":       tableView,
	"pg_stat_sys_tables":       tableView,
	"pg_stat_user_tables":      tableView,
	"pg_stat_xact_all_tables":  xactView,
	"pg_stat_xact_sys_tables":  xactView,
	"pg_stat_xact_user_tables": xactView,
	"pg_statio_all_tables":     tableView,
	"pg_statio_sys_tables":     tableView,
	"pg_statio_user_tables":    tableView,
	"pg_statio_all_sequences":  tableView,
	"pg_statio_sys_sequences":  tableView,
	"pg_statio_user_sequences": tableView,
	"pg_stat_all_indexes":      indexView,
	"pg_stat_sys_indexes":      indexView,
	"pg_stat_user_indexes":     indexView,
	"pg_statio_all_indexes":    indexView,
	"pg_statio_sys_indexes":    indexView,
	"pg_statio_user_indexes":   indexView,

	// Counters of the database and of the cluster move with every scan of the reader's.
	"pg_stat_database":          {database: "datid", keep: []string{"datid", "datname", "numbackends", "stats_reset"}},
	"pg_stat_bgwriter":          countersView,
	"pg_stat_checkpointer":      countersView,
	"pg_stat_wal":               countersView,
	"pg_stat_archiver":          countersView,
	"pg_stat_recovery_prefetch": countersView,
	"pg_stat_slru":              {keep: []string{"name", "stats_reset"}},
	"pg_stat_io":                {keep: []string{"backend_type", "object", "context", "stats_reset"}},
	"pg_stat_replication_slots": {keep: []string{"slot_name", "stats_reset"}},

	// Of rows that a subscription brings into a protected table it counts those that met another one there.
	"pg_stat_subscription_stats": {keep: []string{"subid", "subname", "stats_reset"}},

	// Positions in the write-ahead log count what is written: all columns of that type, and what is made of them.
	"pg_replication_slots": {mask: []string{"wal_status", "safe_wal_size"}},
	"pg_stat_subscription": positionsView,
	"pg_subscription_rel":  positionsView,
	"pg_stat_replication":  positionsView,
	"pg_stat_wal_receiver": positionsView,

	// Statements of the reader's have rows and times that depend on data.
	"pg_stat_activity":   {where: "s.usesysid = " + own},
	"pg_stat_statements": {where: "s.userid = " + own, extension: true},
	// An autovacuum comes after so many changed rows.
	"pg_stat_progress_analyze":      ownProgress,
	"pg_stat_progress_basebackup":   ownProgress,
	"pg_stat_progress_cluster":      ownProgress,
	"pg_stat_progress_copy":         ownProgress,
	"pg_stat_progress_create_index": ownProgress,
	"pg_stat_progress_vacuum":       ownProgress,
	// It has a row for each function that was called at least once, by a trigger too.
	"pg_stat_user_functions": {where: "false"},
	// Page and row locks are as many as the rows that are locked. Relations of another database have oids of its own,
	// so of one that holds protected rows no lock on a relation is shown. Advisory locks of other roles are the claims
	// of a ledger: who saw the number of one could wait for it, and keep a question from being answered.
	"pg_locks": {where: "s.relation IS NULL AND (s.locktype <> 'advisory' OR " + ownSessions + ") " +
		"OR NOT " + oidIn(maskedOIDs, "s.relation") + " AND (s.database = " + here +
		" OR NOT " + oidIn(databaseOIDs, "s.database") + ")"},
	// The guest may read pg_class, so it may read the statistics of its columns: a histogram of reltuples.
	"pg_stats": {where: "NOT (s.schemaname = 'pg_catalog' AND s.tablename = 'pg_class')"},
	// Servers that were made before 14.12, 15.7 or 16.3 show these of expressions to everybody, the most common values
	// of a protected table's too: a later version does not change views that are there. Later ones show them to whoever
	// has the rights of the table's owner, who is also the one that can make them.
	"pg_stats_ext":       ownStatistics,
	"pg_stats_ext_exprs": ownStatistics,
}

// openStatistics are statistics views that PostgreSQL itself limits by privilege, or that count nothing which protected
// rows move. Any other one, of a later version or an extension, is refused.
var openStatistics = []string{"pg_stat_ssl", "pg_stat_gssapi", "pg_stat_database_conflicts",
	"pg_stat_xact_user_functions", "pg_stat_statements_info"}

func unknownStatistics(relation string) bool {
	_, known := shadowed[relation]
	return !known && (strings.HasPrefix(relation, "pg_stat_") || strings.HasPrefix(relation, "pg_statio_")) &&
		!slices.Contains(openStatistics, relation)
}

// body writes the subselect that takes the relation's place: the same columns in the same order, with the same types.
func (r shadowRelation) body(name string, columns []Column, roots []Root) (string, error) {
	from := " FROM pg_catalog." + name + " AS s"
	if r.where != "" {
		return "SELECT s.*" + from + " WHERE " + r.where, nil
	}

	// Whose values are masked.
	condition := ""
	switch {
	case r.key != "":
		condition = oidIn(maskedOIDs, "s."+r.key)
	case r.database != "":
		condition = oidIn(databaseOIDs, "s."+r.database)
	}
	if len(columns) == 0 {
		return "", fmt.Errorf("the server shows no columns of pg_catalog.%s", name)
	}

	var list []string
	whole := wholeTwins(roots)
	for _, c := range columns {
		list = append(list, r.column(name, c, condition, whole, roots))
	}

	if name == "pg_class" && len(roots) > 0 {
		// The guest may read no sequence that numbers protected rows, and whoever dumps the rest stumbles over it.
		from += ` WHERE NOT (s.relkind = 'S'::"char" AND ` + condition + ")"
		if slices.ContainsFunc(roots, func(r Root) bool { return r.Twin }) {
			from += " AND s.relnamespace" + outside
		}
		if whole != "" {
			from += " AND NOT (s.relispartition AND pg_catalog.pg_partition_root(s.oid)::pg_catalog.oid = ANY (" +
				whole + "))"
		}
	}
	return "SELECT " + strings.Join(list, ", ") + from, nil
}

// column writes what is shown of a column. condition holds for rows whose values are masked, empty: for all; whole are
// the partitioned tables whose twin is one table.
func (r shadowRelation) column(name string, c Column, condition, whole string, roots []Root) string {
	column := "s." + lex.QuoteIdent(c.Name)
	public := "NULL"
	hidden := !slices.Contains(r.keep, c.Name)
	if r.mask != nil {
		hidden = slices.Contains(r.mask, c.Name) || c.Type == "pg_lsn"
	}
	if name == "pg_class" {
		public, hidden = classMasks[c.Name]
	}

	// How often a relation was read is shown of none, see scanCounters.
	everywhere := condition == "" || r.scans && slices.Contains(scanCounters, c.Name) && !hook.ScansCounted
	switch public += "::" + c.Type; {
	case name == "pg_class" && whole != "" && asWhole[c.Name] != "":
		column = "CASE WHEN s.oid = ANY (" + whole + ") THEN " + asWhole[c.Name] + " ELSE " + column + " END AS " +
			lex.QuoteIdent(c.Name)
	case !hidden:
	case everywhere:
		column = public + " AS " + lex.QuoteIdent(c.Name)
	case c.Name == "reltuples" && name == "pg_class" && len(roots) > 0:
		column = "CASE WHEN " + condition + " THEN " + publicRows(roots) + "ELSE " + public + " END ELSE " +
			column + " END AS reltuples"
	default:
		column = "CASE WHEN " + condition + " THEN " + public + " ELSE " + column + " END AS " + lex.QuoteIdent(c.Name)
	}
	return column
}

// asWhole is what pg_class shows of a partitioned table, and of its indexes, whose twin is one table: who dumps its
// partitions in the place of it has no row of it.
var asWhole = map[string]string{
	"relkind": `CASE s.relkind WHEN 'p'::"char" THEN 'r'::"char" WHEN 'I'::"char" THEN 'i'::"char" ELSE s.relkind END`,

	"relhassubclass": "false",
}

// wholeTwins writes an array of the oids of the tables whose partitions their twins do not have, and of their indexes;
// empty where there is none.
func wholeTwins(roots []Root) string {
	var oids []string
	for _, r := range roots {
		if r.Whole {
			oids = append(oids, strconv.FormatUint(uint64(r.OID), 10))
		}
	}
	if len(oids) == 0 {
		return ""
	}
	list := "'{" + strings.Join(oids, ",") + "}'::pg_catalog.oid[]"
	return "ARRAY(SELECT r FROM pg_catalog.unnest(" + list + ") AS r UNION ALL SELECT x.indexrelid FROM " +
		"pg_catalog.pg_index AS x WHERE x.indrelid = ANY (" + list + "))"
}

// publicRows writes the beginning of a CASE: the policy's number of rows for each protected table.
func publicRows(roots []Root) string {
	var b strings.Builder
	b.WriteString("CASE ")
	for _, r := range roots {
		b.WriteString("WHEN s.oid = '" + strconv.FormatUint(uint64(r.OID), 10) + "'::pg_catalog.oid OR " +
			named("s.relname", r.Name) +
			" AND s.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE " + named("n.nspname", r.Schema) +
			")" +
			" THEN '" + strconv.FormatInt(r.Rows, 10) + "'::pg_catalog.float4 ")
	}
	return b.String()
}

// systemColumns are those that the statement names. A subselect has none by itself.
func (p *pass) systemColumns() []*pg.Node {
	var out []*pg.Node
	seen := map[string]bool{"tableoid": false, "ctid": false, "xmin": false, "xmax": false, "cmin": false,
		"cmax": false}
	tree.Inspect(p.Root, func(m proto.Message) bool {
		if c, ok := m.(*pg.ColumnRef); ok {
			name := tree.LastString(c.Fields)
			if done, system := seen[name]; system && !done {
				seen[name] = true
				out = append(out, &pg.Node{
					Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: &pg.Node{Node: tree.Qualified("s", name)}}}})
			}
		}
		return true
	})
	return out
}
