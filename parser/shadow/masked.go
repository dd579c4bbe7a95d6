package shadow

import (
	"strconv"
	"strings"
)

// TwinSchema is the schema that twins are in, each under its table's name.
const TwinSchema = "fugu_twin"

// outside is a condition on a column with the oid of a schema that is not the one of twins.
const outside = " <> ALL (ARRAY(SELECT n.oid FROM pg_catalog.pg_namespace AS n WHERE n.nspname = '" + TwinSchema + "'))"

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

// named writes a condition on a column of type name. The name stands in an array, where nothing takes it for a
// reference to the table, and has no spaces, which qualifiedOperators looks for.
func named(column, name string) string {
	return column + ` = ANY (E'{"` + strings.NewReplacer(`\`, `\\\\`, `"`, `\\"`, `'`, `\'`, " ", `\x20`).
		Replace(name) + `"}'::pg_catalog.name[])`
}

// maskedArray writes an array of the oids of protected tables and of all that hangs on them: inheritance parents and
// children, partitions, indexes, TOAST tables, owned sequences, and materialized views over them. It is worked out
// in the client's own transaction, so that what is created after the policies were loaded is masked too. A table
// that was renamed since is known by its oid, one that took its name by the name.
func maskedArray(roots []Root) string {
	// The rows of pg_statistic, pg_statistic_ext_data and pg_largeobject are made of others' rows.
	oids := []string{"2619", "3429", "2613"}
	var names []string
	for _, r := range roots {
		oids = append(oids, strconv.FormatUint(uint64(r.OID), 10))
		names = append(names, named("n.nspname", r.Schema)+" AND "+named("c.relname", r.Name))
	}

	seeds := append([]string{"c.oid = ANY ('{" + strings.Join(oids, ",") + "}'::pg_catalog.oid[])"}, names...)

	return `ARRAY(WITH RECURSIVE m(oid) AS (
	  SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	  WHERE ` + strings.Join(seeds, " OR ") + `
	  UNION SELECT x.oid FROM m, LATERAL (
	    SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = m.oid
	    UNION ALL SELECT i.inhparent FROM pg_catalog.pg_inherits i WHERE i.inhrelid = m.oid
	    UNION ALL SELECT i.indexrelid FROM pg_catalog.pg_index i WHERE i.indrelid = m.oid
	    UNION ALL SELECT c.reltoastrelid FROM pg_catalog.pg_class c WHERE c.oid = m.oid
	    UNION ALL SELECT d.objid FROM pg_catalog.pg_depend d
	      WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
	      AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = m.oid
	      AND d.deptype = ANY ('{a,i}'::"char"[])
	    UNION ALL SELECT r.ev_class FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
	      WHERE d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
	      AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = m.oid
	  ) x(oid))
	SELECT m.oid FROM m JOIN pg_catalog.pg_class c ON c.oid = m.oid WHERE c.relkind <> 'v')`
}

// maskedDatabases writes an array of the oids of the session's own database and of those beside it. They are known by
// oid and by name, like tables: one can be renamed, and another can get its name.
func maskedDatabases(beside []Database) string {
	conditions := []string{"d.datname = pg_catalog.current_database()"}
	var oids []string
	for _, b := range beside {
		oids = append(oids, strconv.FormatUint(uint64(b.OID), 10))
		conditions = append(conditions, named("d.datname", b.Name))
	}
	if len(oids) > 0 {
		conditions = append(conditions, "d.oid = ANY ('{"+strings.Join(oids, ",")+"}'::pg_catalog.oid[])")
	}
	return "ARRAY(SELECT d.oid FROM pg_catalog.pg_database d WHERE " + strings.Join(conditions, " OR ") + ")"
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
		"AS o WHERE o.oid = " + relation + " AND o.oid <> ALL (NULL)"
}
