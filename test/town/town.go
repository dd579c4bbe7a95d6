// Package town is a protected table of a few thousand people with its reference and a policy, loaded as a dataset, for
// tests of what is made of one. There is no engine before it: whoever wants answers has test/adult.
package town

import (
	"context"
	"strings"
	"testing"
	"time"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/test/pgcluster"
	"fugu/test/policies"
	"fugu/upstream"
)

// schema makes the town, in which more of the rich live in Rome. Roles are the cluster's: another town may have made
// them.
const schema = `
DO $$ BEGIN CREATE ROLE town_reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE TABLE people AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
  CASE WHEN i % 10 < 3 AND i % 7 < 4 THEN 'Rome' ELSE (ARRAY['Rome', 'Oslo', 'Bern'])[1 + i % 3] END AS city,
  18 + i * 7 % 60 AS age, i % 10 < 3 AS rich
  FROM generate_series(1, 6000) AS i;
CREATE TABLE reference AS SELECT * FROM people WHERE id % 1000 < 400;
GRANT SELECT ON people, reference TO town_reader;`

// Policy protects how many of the people are rich.
const Policy = `version: 1
dataset: town
tables:
  public.people: {rows: 6000, reference: public.reference, group_by: {city: [Rome, Oslo, Bern], sex: [f, m]}}
secrets:
  rich: {table: public.people, proportion: rich, values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [translation, gaussian]
privacy:
  epsilon: 1
  delta: 0.001
  mechanism: auto
  error: 100000%
  budget: {epsilon: 50, delta: 0.05, per: dataset}
`

// Town is the dataset, until the test ends.
type Town struct {
	Cluster *pgcluster.Cluster
	Name    string // of the database
	Dataset *dataset.Snapshot
	Policy  *policy.Policy
	Reader  *upstream.Reader

	searches *quote.Searches
}

// Build makes a database of this name in the shared cluster, and loads the policy with edits: texts, each of which must
// be there, and what stands in its place.
func Build(t testing.TB, name string, edits ...string) *Town {
	t.Helper()
	w := &Town{Cluster: pgcluster.Shared(t), Name: name, searches: quote.NewSearches()}
	if err := w.Cluster.CreateDatabase(t.Context(), name, ""); err != nil {
		t.Fatal(err)
	}
	w.Exec(t, schema)
	var err error
	if w.Reader, err = upstream.OpenReader(w.Cluster.DSN("town_reader", name), time.Minute); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Reader.Close)
	w.Load(t, edits...)
	return w
}

// Exec runs statements in the town's database as a superuser.
func (w *Town) Exec(t testing.TB, sql string) {
	t.Helper()
	if err := w.Cluster.Exec(t.Context(), w.Name, sql); err != nil {
		t.Fatal(err)
	}
}

// Load loads the policy anew, with edits as Build has them.
func (w *Town) Load(t testing.TB, edits ...string) {
	t.Helper()
	text := Policy
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the policy has no %q", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	w.Policy = policies.Load(t, text)
	var err error
	if w.Dataset, err = dataset.Load(t.Context(), []*policy.Policy{w.Policy}, w.Reader); err != nil {
		t.Fatal(err)
	}
}

// Request is what a statement asks for at an ε, 0: the policy's. Models are made of what reference says; nil: the
// database.
func (w *Town) Request(ctx context.Context, sql string, epsilon privacy.Epsilon,
	reference planner.Querier) (*quote.Request, error) {
	asked, err := w.Dataset.Ask(ctx, w.Reader, w.Policy, sql)
	if err != nil {
		return nil, err
	}
	p := w.Policy.Privacy
	r := &quote.Request{Dataset: w.Dataset, Policy: w.Policy, Cuts: asked.Cuts,
		Budget: privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}, Mechanism: mechanism.Kind(p.Mechanism),
		Database: w.Reader, Reference: w.Reader, Timeout: w.Reader.Timeout()}
	if epsilon > 0 {
		r.Budget.Epsilon = epsilon
	}
	if reference != nil {
		r.Reference = reference
	}
	return r, r.Identify(0, nil)
}

// Quote is the noise of a request's answer.
func (w *Town) Quote(ctx context.Context, r *quote.Request) (*quote.Quote, error) {
	return quote.NewMemory().Quote(ctx, w.searches, "", r)
}
