package integration

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fugu/pipeline"
	"fugu/policy"
	"fugu/test/patient"
	"fugu/upstream"
)

// A policy whose secrets are one, or one and its opposite, is not loaded; of others that are tied fugu check tells.
func TestTiedSecrets(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	reader, err := upstream.OpenReader(db.cluster.DSN("fugu_reader", "adult"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	const other = "proportion: workclass = 'Private'"
	const share, pairs, mean = "proportion: ", "[[0.22, 0.26]]", "mean: "
	for _, c := range []struct{ kind, predicate, pairs, refused, told string }{
		{share, "income = '<=50K'", pairs, "adult.policy.yaml:20:3: the secrets high_income and private_sector of " +
			"public.adult are one", ""},
		{share, "NOT (income <> '>50K')", pairs, "are one", ""},
		{share, "income = '>50K' AND age > 30", pairs, "", "adult.policy.yaml:20:3: dataset adult: the secrets " +
			"high_income and private_sector of public.adult are tied"},
		{share, "workclass = 'Private'", pairs, "", ""},
		// A mean is a share, if it is that of an indicator.
		{mean, "CASE WHEN income = '>50K' THEN 3 ELSE 1 END", "[[1.4, 1.5]]", "private_sector of public.adult are " +
			"one: over the reference one is a linear", ""},
		{mean, "CASE WHEN income = '>50K' THEN age + 1000 ELSE age END", "[[270, 280]]", "", "correlation is 1.00"},
		{mean, "age", "[[38, 39]]", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "adult.policy.yaml")
		if err := writePolicy(path, db.rows, other, c.kind+c.predicate, "[[0.68, 0.72]]", c.pairs); err != nil {
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
		if told := snapshot.Ties().Error(); !strings.Contains(told, c.told) || c.told == "" && told != "" {
			t.Errorf("%s: told %q, want %q", c.predicate, told, c.told)
		}
	}
}
