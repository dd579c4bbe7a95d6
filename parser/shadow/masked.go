package shadow

import (
	"strconv"
	"strings"
)

// TwinSchema is the schema that twins are in, each under its table's name.
const TwinSchema = "fugu_twin"

// outside is a condition on a column with the oid of a schema that is not the one of twins, of which there may be none.
const outside = " <> COALESCE((SELECT n.oid FROM pg_catalog.pg_namespace AS n WHERE n.nspname = '" + TwinSchema +
	"'), '0'::pg_catalog.oid)"

// Root is a protected table: its name, its oid when the catalog was read, and the number of rows it has in public.
type Root struct {
	Schema, Name string
	OID          uint32
	Rows         int64
	Twin         bool // it is answered from one
	Whole        bool // it has partitions, and a twin whose rows are listed, which has none
}

// Database is a database of the server that holds protected tables: its name, and its oid when the catalog was read.
type Database struct {
	Name string
	OID  uint32
}

// Column is a column of a catalog relation, with its type as SQL.
type Column struct{ Name, Type string }

// named writes a condition on a column of type name.
func named(column, name string) string { return column + " = ANY (" + nameArray(name) + ")" }

// nameArray writes names as an array, in which nothing takes them for references to tables, and which has no spaces:
// qualifiedOperators looks for these.
func nameArray(names ...string) string {
	escaped := strings.NewReplacer(`\`, `\\\\`, `"`, `\\"`, `'`, `\'`, " ", `\x20`)
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, `"`+escaped.Replace(name)+`"`)
	}
	return "E'{" + strings.Join(quoted, ",") + "}'::pg_catalog.name[]"
}

// rootList writes a query of the oids of relations, and of others. A relation that was renamed since it was looked up
// is known by its oid, one that took its name by the name.
func rootList(roots []Root, oids ...string) string {
	var schemas, names []string
	for _, r := range roots {
		oids = append(oids, strconv.FormatUint(uint64(r.OID), 10))
		schemas, names = append(schemas, r.Schema), append(names, r.Name)
	}
	return "SELECT pg_catalog.unnest('{" + strings.Join(oids, ",") + "}'::pg_catalog.oid[]) UNION ALL " +
		"SELECT c.oid FROM ROWS FROM (pg_catalog.unnest(" + nameArray(schemas...) + "), pg_catalog.unnest(" +
		nameArray(names...) + ")) AS r(nspname, relname) JOIN pg_catalog.pg_namespace AS n ON n.nspname = r.nspname " +
		"JOIN pg_catalog.pg_class AS c ON c.relname = r.relname AND c.relnamespace = n.oid"
}

// maskedList writes a query of the oids of protected tables and of all that hangs on them: inheritance parents and
// children, partitions, indexes, TOAST tables, owned sequences, and materialized views over them. It is worked out
// in the client's own transaction, so that what is created after the policies were loaded is masked too.
//
// PostgreSQL expects ten rows of an array, and of a recursive query many times what it begins with. What it takes for
// long to run it compiles first, which takes half a second: so both ends of the recursion are arrays.
func maskedList(roots []Root) string {
	// The rows of pg_statistic, pg_statistic_ext_data and pg_largeobject are made of others' rows.
	seeds := rootList(roots, "2619", "3429", "2613")

	return `SELECT c.oid FROM pg_catalog.unnest(ARRAY(WITH RECURSIVE m(oid) AS (
	  SELECT pg_catalog.unnest(ARRAY(` + seeds + `))
	  UNION SELECT x.oid FROM m, LATERAL (
	    SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = m.oid
	    UNION ALL SELECT i.inhparent FROM pg_catalog.pg_inherits i WHERE i.inhrelid = m.oid
	    UNION ALL SELECT i.indexrelid FROM pg_catalog.pg_index i WHERE i.indrelid = m.oid
	    UNION ALL SELECT c.reltoastrelid FROM pg_catalog.pg_class c WHERE c.oid = m.oid
	    UNION ALL SELECT COALESCE(r.ev_class, d.objid) FROM pg_catalog.pg_depend d LEFT JOIN pg_catalog.pg_rewrite r
	        ON r.oid = d.objid AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
	      WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = m.oid
	      AND (d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
	        OR d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.deptype = ANY ('{a,i}'::"char"[]))
	  ) x(oid))
	SELECT m.oid FROM m)) AS u(oid) JOIN pg_catalog.pg_class c ON c.oid = u.oid WHERE c.relkind <> 'v'`
}

// databaseList writes a query of the oids of the session's own database and of those beside it. They are known by
// oid and by name, like tables: one can be renamed, and another can get its name.
func databaseList(beside []Database) string {
	conditions := []string{"d.datname = pg_catalog.current_database()"}
	var oids []string
	for _, b := range beside {
		oids = append(oids, strconv.FormatUint(uint64(b.OID), 10))
		conditions = append(conditions, named("d.datname", b.Name))
	}
	if len(oids) > 0 {
		conditions = append(conditions, "d.oid = ANY ('{"+strings.Join(oids, ",")+"}'::pg_catalog.oid[])")
	}
	return "SELECT d.oid FROM pg_catalog.pg_database d WHERE " + strings.Join(conditions, " OR ")
}

// sizedShape is the shape of an argument, like argumentShapes, for functions that ask for its size: a table with a twin
// has the size of the twin, which everybody may know.
func sizedShape(roots []Root) string {
	relation := "a.v::pg_catalog.oid"
	var oids []string
	for _, r := range roots {
		if r.Twin {
			oids = append(oids, strconv.FormatUint(uint64(r.OID), 10))
		}
	}
	if len(oids) > 0 {
		relation = "COALESCE((SELECT t.oid FROM pg_catalog.pg_class AS p, pg_catalog.pg_class AS t, " +
			"pg_catalog.pg_namespace AS n WHERE p.oid = a.v::pg_catalog.oid AND p.oid = ANY ('{" +
			strings.Join(oids, ",") +
			"}'::pg_catalog.oid[]) AND t.relname = p.relname AND n.oid = t.relnamespace AND n.nspname = '" +
			TwinSchema + "'), " + relation + ")"
	}
	return "SELECT o.oid::pg_catalog.regclass FROM (SELECT NULL::pg_catalog.regclass AS v) AS a, pg_catalog.pg_class " +
		"AS o WHERE o.oid = " + relation + " AND NOT " + oidIn(maskedOIDs, "o.oid")
}
