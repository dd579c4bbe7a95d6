package shadow

import (
	"testing"
)

// Every shadow can be read, also those that no statement of the other tests asks for: a statement finds out when it is
// the first to name one.
func TestEveryShadowIsRead(t *testing.T) {
	columns := map[string][]Column{}
	for _, name := range Relations() {
		r := shadowed[name]
		for _, column := range append([]string{r.key, r.database, "masked column"}, append(r.keep, r.mask...)...) {
			if column != "" {
				columns[name] = append(columns[name], Column{column, "timestamp with time zone"})
			}
		}
	}
	s, err := New([]Root{{Schema: "public", Name: "adult", OID: 16400, Rows: 35222, Twin: true}}, columns,
		Database{Name: "beside", OID: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.relations) != len(shadowed) {
		t.Errorf("%d shadows of %d relations", len(s.relations), len(shadowed))
	}
	for name, read := range s.relations {
		if item, err := read(); err != nil || item.GetRangeSubselect() == nil {
			t.Errorf("%s: %v, %v", name, item, err)
		}
	}
}

// Of replication names are shown and no positions, in whatever columns a version has them, nor how many of a
// subscription's rows met others.
func TestReplicationIsMasked(t *testing.T) {
	for name, want := range map[string]string{
		"pg_replication_slots": `SELECT s."slot_name", NULL::pg_lsn AS "two_phase_at", NULL::text AS "wal_status" ` +
			`FROM pg_catalog.pg_replication_slots AS s`,
		"pg_subscription_rel": `SELECT s."srrelid", NULL::pg_lsn AS "srsublsn" FROM ` +
			`pg_catalog.pg_subscription_rel AS s`,
		"pg_stat_subscription_stats": `SELECT s."subname", NULL::bigint AS "confl_update_missing" FROM ` +
			`pg_catalog.pg_stat_subscription_stats AS s`,
	} {
		columns := map[string][]Column{
			"pg_replication_slots":       {{"slot_name", "name"}, {"two_phase_at", "pg_lsn"}, {"wal_status", "text"}},
			"pg_subscription_rel":        {{"srrelid", "oid"}, {"srsublsn", "pg_lsn"}},
			"pg_stat_subscription_stats": {{"subname", "name"}, {"confl_update_missing", "bigint"}},
		}[name]
		if got, err := shadowed[name].body(name, columns, nil); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	if functionKind("pg_stat_get_subscription_stats") != internalFunction {
		t.Error("the function behind pg_stat_subscription_stats is open")
	}
}
