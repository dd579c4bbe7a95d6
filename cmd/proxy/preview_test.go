package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	previewing "fugu/preview"
	"fugu/test/golden"
	"fugu/test/patient"
)

const shipboard = `-- What kinds there are
SELECT kind, count(*) FROM ship GROUP BY kind;
-- Nothing of ours
SELECT current_date;

SELECT kind, count(*) FILTER (WHERE big) AS big FROM ship GROUP BY kind;
-- The latest ones
SELECT kind,
       max(came) FROM ship GROUP BY kind;
`

// A workload is a table of its statements, in which what is refused says where and why; with plots, what a statement's
// noise is there to hide. Neither leaves a ledger behind.
func TestPreviewOfWorkload(t *testing.T) {
	patient.Test(t)
	_, path := harbouring(t)
	file := filepath.Join(filepath.Dir(path), "ships.sql")
	if err := os.WriteFile(file, []byte(shipboard), 0o600); err != nil {
		t.Fatal(err)
	}
	workload := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := invoke(t, append([]string{"preview", "-c", path}, args...)...)
		if code != 0 || stderr != "" {
			t.Fatalf("fugu preview %v: exit %d\n%s", args, code, stderr)
		}
		return strings.ReplaceAll(stdout, file, "ships.sql")
	}
	golden.Check(t, "testdata/workload.txt", workload("-workload", file, "-plot"))
	golden.Check(t, "testdata/preview.txt",
		workload("-plot", "-epsilon", "0.5,1,2", "SELECT count(*) FILTER (WHERE big) FROM ship"))

	// Programs read the same, and a smaller ε has more noise and a lower price.
	read := func(args ...string) (w previewing.Workload) {
		t.Helper()
		err := json.Unmarshal([]byte(workload(append(args, "-json", "-workload", file)...)), &w)
		if err != nil || len(w.Statements) != 4 || len(w.Totals) != 1 {
			t.Fatalf("%v: %d statements of %d datasets, want 4 of 1", err, len(w.Statements), len(w.Totals))
		}
		return w
	}
	one, tenth := read(), read("-epsilon", "0.1")
	if a, b := one.Statements[0], tenth.Statements[0]; a.Noise.SD >= b.Noise.SD || a.Price <= b.Price ||
		a.Twin.SD >= b.Twin.SD || one.Totals[0].Runs >= tenth.Totals[0].Runs {
		t.Errorf("at epsilon 1 %+v of %+v, at a tenth of it %+v of %+v", a, one.Totals[0], b, tenth.Totals[0])
	}
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "fugu.db*")); err != nil || len(files) > 0 {
		t.Errorf("a preview made %v, %v", files, err)
	}

	// What goes together with no workload is said.
	empty := filepath.Join(filepath.Dir(path), "empty.sql")
	if err := errors.Join(os.WriteFile(empty, []byte("-- none\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	expect(t, exitFailure, "has no statement", "preview", "-c", path, "-workload", empty)
	expect(t, exitFailure, "no such file", "preview", "-c", path, "-workload", file+".gone")
	expect(t, exitUsage, "give no other", "preview", "-c", path, "-workload", file, "SELECT 1")
	expect(t, exitUsage, "at one epsilon", "preview", "-c", path, "-workload", file, "-epsilon", "1,2")
}
