// Package edited loads the Adult example into a cluster, and its policy with edits, for tests of what is made of one.
package edited

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	example "fugu/examples/adult"
	"fugu/policy"
	"fugu/test/adult"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

// Adult is the example as it stands in the shared cluster.
type Adult struct {
	Policies []*policy.Policy
	Reader   *upstream.Reader // until the test ends
	Rows     int64            // of the protected table
}

var (
	loading sync.Mutex
	rows    int64 // of the protected table, once it is loaded
)

// Load loads the example, the first time a test of the process needs it, and the policy with edits: texts, each of
// which must be there, and what stands in the place of its first occurrence.
func Load(t testing.TB, edits ...string) Adult {
	t.Helper()
	c := pgcluster.Shared(t)
	out := Adult{Rows: loadRows(t, c)}

	text := example.Policy
	edits = append([]string{"rows: 35222", fmt.Sprintf("rows: %d", out.Rows)}, edits...)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the example has no %q", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}

	// A policy is read from a file, as findings name it.
	file := filepath.Join(t.TempDir(), "adult.policy.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if out.Policies, err = policy.Load(file); err != nil {
		t.Fatal(err)
	}
	if out.Reader, err = upstream.OpenReader(c.DSN("fugu_reader", "adult"), time.Minute); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Reader.Close)
	return out
}

func loadRows(t testing.TB, c *pgcluster.Cluster) int64 {
	loading.Lock()
	defer loading.Unlock()
	if rows == 0 {
		loaded, err := adult.Load(t.Context(), c, "adult", adult.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows = loaded.Rows
	}
	return rows
}

// DeclaredAges declares a model of one statement, in the place of "analysts:".
const DeclaredAges = `declared:
  ages:
    statement: SELECT sex, avg(age) AS a, count(*) FROM adult GROUP BY sex
    components: [count(*) at sex=Male, avg(age) at sex=Female, avg(age) at sex=Male, count(*) at sex=Female]
    secrets:
      high_income:
        values: [0.10, 0.60]
        means: [[20000, 36, 38, 15000], [26000, 41, 43.5, 9000]]
        covariances:
          - [[6000, 0, 0, -6000], [0, 0.016, 0, 0], [0, 0, 0.007, 0], [-6000, 0, 0, 6000]]
          - [[5000, 0, 0, -5000], [0, 0.014, 0, 0], [0, 0, 0.006, 0], [-5000, 0, 0, 5000]]
      private_sector:
        values: [0.68, 0.70, 0.72]
        means: [[24000, 37, 39, 12000], [24000, 37, 39, 12000], [24100, 37, 39.4, 11900]]
        covariances:
          - [[6000, 0, 0, 0], [0, 0.02, 0, 0], [0, 0, 0.01, 0], [0, 0, 0, 6000]]
          - [[6000, 0, 0, 0], [0, 0.02, 0, 0], [0, 0, 0.01, 0], [0, 0, 0, 6000]]
          - [[6000, 0, 0, 0], [0, 0.02, 0, 0], [0, 0, 0.01, 0], [0, 0, 0, 6000]]
analysts:`
