package integration

import (
	"crypto/rand"
	"path/filepath"
	"testing"

	"fugu/ledger"
	"fugu/test/policies"
	"fugu/twin/build"
)

// buildTwins builds what the text of a policy asks for, as fugu twin build does: a report for each family of twins, in
// the policy's order. k says whom they are for, which ledger has their price (without one it is a new one) and, where a
// test needs the same twin each time, where random bytes come from.
func buildTwins(t testing.TB, keeperDSN, text string, k build.Keeper, o build.Options) (reports []build.Report) {
	t.Helper()
	p := policies.Load(t, text)
	conn, err := build.Connect(t.Context(), keeperDSN)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()

	k.Conn, k.Operator = conn, "dba"
	if k.Random == nil {
		k.Random = rand.Reader
	}
	if k.Ledger == nil {
		l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"), ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		k.Ledger = l
	}

	// Linked tables go with their root.
	for _, table := range p.Tables {
		if table.Twin == nil || table.Link != nil {
			continue
		}
		r, err := k.Build(t.Context(), p, table, o)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	return reports
}
