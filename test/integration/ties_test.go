package integration

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fugu/pipeline"
	"fugu/policy"
	"fugu/upstream"
)

// A policy whose secrets are one, or one and its opposite, is not loaded; of others that are tied fugu check tells.
func TestTiedSecrets(t *testing.T) {
	db := adultDatabase(t)
	reader, err := upstream.OpenReader(db.cluster.DSN("fugu_reader", "adult"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	const other = "proportion: workclass = 'Private'"
	for _, c := range []struct{ predicate, refused, told string }{
		{"income = '<=50K'", "the secrets high_income and private_sector are one", ""},
		{"NOT (income <> '>50K')", "are one", ""},
		{"income = '>50K' AND age > 30", "", "high_income and private_sector of public.adult are tied"},
		{"workclass = 'Private'", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "adult.policy.yaml")
		if err := writePolicy(path, db.rows, other, "proportion: "+c.predicate, "[[0.68, 0.72]]", "[[0.22, 0.26]]"); err != nil {
			t.Fatal(err)
		}
		policies, err := policy.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := pipeline.Load(t.Context(), policies, reader)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v, want %q", c.predicate, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.predicate, err)
			continue
		}
		if told := strings.Join(snapshot.Ties(), "\n"); !strings.Contains(told, c.told) || c.told == "" && told != "" {
			t.Errorf("%s: told %q, want %q", c.predicate, told, c.told)
		}
	}
}
