package build_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/test/patient"
	"fugu/test/policies"
	"fugu/twin/build"
)

// richPolicy is the shop's, with its customers alone, names that tell them apart, and a budget for ten twins.
var richPolicy = strings.NewReplacer("budget: {epsilon: 1, delta: 0.001", "budget: {epsilon: 10, delta: 0.01",
	"drop: [mail]", "drop: [note]",
	"  public.purchase: {link: {to: public.customer, on: {customer_id: id}}}\n", "",
	"  public.line: {link: {to: public.purchase, on: {purchase_id: id}}}\n", "").Replace(shopPolicy)

// refused builds, and has to fail with a text.
func (w *world) refused(o build.Options, text string) {
	w.t.Helper()
	if _, err := w.keeper.Build(w.t.Context(), w.policy, w.policy.Tables[0], o); err == nil ||
		!strings.Contains(err.Error(), text) {
		w.t.Errorf("built with %+v: %v, want %q", o, err, text)
	}
}

// spent is how many twins the ledger has been charged for, and what the last entry's reason is.
func (w *world) spent() (n int, reason string) {
	w.t.Helper()
	_, err := w.ledger.Audit(w.t.Context(), func(l audit.Link) error {
		e, err := l.Entry()
		if e.Mechanism == ledger.Twin {
			n, reason = n+1, e.Reason
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n, reason
}

// What makes a build draw anew, what does not, and what has to be said for it.
func TestAgain(t *testing.T) {
	w := newWorld(t, "again", shop, richPolicy)
	w.build(build.Options{})
	if n, reason := w.spent(); n != 1 || reason != "" {
		t.Errorf("%d charges, %q", n, reason)
	}

	// A registry of before does not say how far the numbers may be off: the next build adds that, and nothing else.
	if _, err := w.keeper.Conn.Exec(t.Context(), `ALTER TABLE fugu_twin."fugu twins" DROP COLUMN noise`); err != nil {
		t.Fatal(err)
	}
	if old, err := build.Twins(t.Context(), w.keeper.Conn); err != nil || old[0].Noise != nil {
		t.Errorf("a registry of before: %+v, %v", old, err)
	}
	if r := w.build(build.Options{}); r.Made || r.Charged || len(r.Twins[0].Noise) != len(r.Twins[0].Told) {
		t.Errorf("a registry of before: %+v", r)
	}

	// Another epoch does not draw by itself: the rows are the same, and so is the twin.
	why := ledger.Epoch{Dataset: "shop", User: "dba", Reason: "the year is over"}
	if _, err := w.ledger.Advance(t.Context(), why); err != nil {
		t.Fatal(err)
	}
	if r := w.build(build.Options{}); r.Made || r.Charged {
		t.Errorf("another epoch: %+v", r)
	}
	if r := w.build(build.Options{Again: true}); !r.Made || r.Charged {
		t.Errorf("again in another epoch: %+v", r)
	}
	if r := w.build(build.Options{New: true, Reason: "the owner wants it"}); !r.Charged || r.Twins[0].Nth != 2 {
		t.Errorf("new in another epoch: %+v", r)
	}
	if n, reason := w.spent(); n != 2 || reason != "the owner wants it" {
		t.Errorf("%d charges, %q", n, reason)
	}
}

// by has the next builds go by the policy with other words in it.
func (w *world) by(old, new string) {
	w.t.Helper()
	w.policy = policies.Load(w.t, strings.Replace(richPolicy, old, new, 1))
}

// Counts that were drawn by one policy are not those of another.
func TestAnotherPolicy(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "policies", shop, richPolicy)
	w.build(build.Options{})
	// Another name of the dataset has another budget, and is no reason for other counts.
	w.by("dataset: shop", "dataset: store")
	w.refused(build.Options{}, "have changed")
	w.by("to: 0.60", "to: 0.59")
	w.refused(build.Options{Again: true}, "have changed")
	// Of other classes, the rows are looked at by those of before.
	w.by("proportion: rich", "proportion: (NOT rich)")
	w.refused(build.Options{Again: true}, "have changed")
	if n, _ := w.spent(); n != 1 {
		t.Errorf("refusals were charged: %d", n)
	}
}

// Rows that move between classes are rows that are known to be in both twins or in one.
func TestRowsThatMove(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "moves", shop, richPolicy)
	w.build(build.Options{})
	w.column("UPDATE customer SET rich = NOT rich WHERE id = 100001")
	if r := w.build(build.Options{}); r.Made {
		t.Errorf("the twin that is there stays: %+v", r)
	}
	w.refused(build.Options{Again: true}, "moved between classes")
	w.refused(build.Options{New: true, Reason: "x"}, "moved between classes")
	shop := w.policy
	w.by("proportion: rich", "proportion: (NOT rich)")
	w.refused(build.Options{New: true, Reason: "x"}, "moved between classes")
	w.policy = shop
	w.refused(build.Options{Again: true, Independent: true}, "-new")
	if n, _ := w.spent(); n != 1 {
		t.Errorf("refusals were charged: %d", n)
	}

	// Drawn independently, they have counts of their own, for a price.
	r := w.build(build.Options{New: true, Independent: true, Reason: "drawn anew"})
	if !r.Charged || r.Twins[0].Nth != 2 {
		t.Errorf("%+v", r)
	}
}

// A twin whose ledger is lost, or was put back, is not built beside: its order of drawing is gone.
func TestLostLedger(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "lost", shop, richPolicy)
	w.build(build.Options{})
	other, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	w.keeper.Ledger, w.ledger = other, other
	for _, o := range []build.Options{{}, {Again: true}, {New: true, Reason: "x"}} {
		w.refused(o, "does not know")
	}
	if n, _ := w.spent(); n != 0 {
		t.Error("a refusal was charged")
	}
	if r := w.build(build.Options{New: true, Independent: true, Reason: "x"}); !r.Charged {
		t.Errorf("%+v", r)
	}
	if r := w.build(build.Options{}); r.Made || r.Charged {
		t.Errorf("%+v", r)
	}
}

// About a table outside of what the policy protects nothing is promised, and it is no error: analysts see a twin. But
// what has no row of some class is refused for nothing before it was ever told, as a misspelt secret would be.
func TestOutsideOfTheRange(t *testing.T) {
	patient.Test(t)
	for name, share := range map[string]int{"below": 20, "none": 0, "above": 1990} {
		w := newWorld(t, "outside_"+name, shop+fmt.Sprintf("; UPDATE customer SET rich = (id <= 100000 + %d)", share),
			richPolicy)
		if name == "none" {
			w.refused(build.Options{}, "no row is of class rich")
			if n, _ := w.spent(); n != 0 {
				t.Error("a refusal was charged")
			}
		}
		r := w.build(build.Options{Outside: name == "none"})
		if len(r.Warnings) < 2 || !strings.Contains(strings.Join(r.Warnings, "; "), "nothing is promised") {
			t.Errorf("%s: %q", name, r.Warnings)
		}
		t.Logf("%s: told %v, taken %v, different ones %d: %q", name, r.Twins[0].Told, r.Twins[0].Taken,
			r.Twins[0].Sampled, r.Warnings)
		if r := w.build(build.Options{}); r.Made {
			t.Errorf("%s: built twice", name)
		}
	}
}

// Predicates that are NULL, two secrets, listed pairs, and names that the build uses itself.
func TestClasses(t *testing.T) {
	patient.Test(t)
	const many = `
CREATE TABLE many (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n int, o text, t bool, a bool, ref int UNIQUE);
INSERT INTO many (n, o, t, a, ref)
  SELECT i, 'x' || i, i % 2 = 0, CASE WHEN i % 5 > 0 THEN i % 3 = 0 END, CASE WHEN i % 10 = 0 THEN i END
  FROM generate_series(1, 3000) i; GRANT SELECT ON many TO shop_keeper`
	const policy = `version: 1
dataset: many
tables:
  public.many: {rows: 3000, answers: twin, twin: {rows: shown, smallest: 0.05}}
secrets:
%s
assume: [exchangeable]
privacy: {epsilon: 5, delta: 0.001, budget: {epsilon: 5, delta: 0.001, per: dataset}}
`
	for name, c := range map[string]struct {
		secrets string
		classes int
	}{
		"nulls": {"  a: {table: public.many, proportion: a, values: {from: 0.1, to: 0.5, within: 0.02}}", 3},
		"two": {"  a: {table: public.many, proportion: a IS TRUE, values: {from: 0.1, to: 0.5, within: 0.02}}\n" +
			"  t: {table: public.many, proportion: t, values: {from: 0.3, to: 0.7, within: 0.02}}", 4},
		"listed": {"  t: {table: public.many, proportion: t, pairs: [[0.45, 0.50]]}", 2},
	} {
		w := newWorld(t, "classes_"+name, many, fmt.Sprintf(policy, c.secrets))
		r := w.build(build.Options{})
		if len(r.Twins[0].Told) != c.classes || len(r.Warnings) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
		if got := w.one("SELECT count(*), count(DISTINCT id), count(DISTINCT ref) = count(ref), count(ref) BETWEEN " +
			"100 AND 600, count(DISTINCT n) = " +
			fmt.Sprint(r.Twins[0].Sampled) + " FROM fugu_twin.many"); got != "3000|3000|t|t|t" {
			t.Errorf("%s: %s of %+v", name, got, r.Twins[0])
		}
	}
}

// What would show old keys, or rows that were not taken, is refused before anything is charged.
func TestReferencesAreRefused(t *testing.T) {
	patient.Test(t)
	for name, c := range map[string]struct{ sql, text string }{
		"itself": {"ALTER TABLE customer ADD boss int REFERENCES customer", "refers to rows of the twin by their " +
			"old keys"},
		"ordinary": {"CREATE TABLE letter (to_id int REFERENCES customer); GRANT SELECT ON letter TO shop_guest",
			"guests may read it"},
		"a column": {"CREATE TABLE letter (to_id int REFERENCES customer, text text); GRANT SELECT (text) " +
			"ON letter TO shop_guest", "guests may read it"},
		"generated": {"ALTER TABLE customer ADD code text GENERATED ALWAYS AS ('C' || id) STORED", "is generated from"},
		"partner": {"ALTER TABLE customer ADD passport text UNIQUE; CREATE TABLE passport (nr text PRIMARY KEY); " +
			"ALTER TABLE customer ADD FOREIGN KEY (passport) REFERENCES passport; GRANT SELECT " +
			"ON passport TO shop_guest",
			"has a row of the ordinary table public.passport for its own"},
		"schema": {"CREATE SCHEMA fugu_twin AUTHORIZATION shop_guest", "not the keeper's alone"},
		"creator": {"CREATE SCHEMA fugu_twin AUTHORIZATION shop_keeper; GRANT CREATE ON SCHEMA fugu_twin TO shop_guest",
			"not the keeper's alone"},
		"rows": {"ALTER TABLE customer ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON customer USING (id < 100500)",
			"row-level security"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "refs_"+strings.ReplaceAll(name, " ", "_"), shop+";"+c.sql, richPolicy)
			w.refused(build.Options{}, c.text)
			if n, _ := w.spent(); n != 0 {
				t.Error("it was charged")
			}
		})
	}
	w := newWorld(t, "refs_hidden", shop+"; CREATE TABLE letter (to_id int REFERENCES customer)", richPolicy)
	w.build(build.Options{})
}

// A build that has to wait for another says so; no guest can make it wait.
func TestWaiting(t *testing.T) {
	w := newWorld(t, "waiting", shop, richPolicy)
	w.build(build.Options{})
	other, err := w.admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(t.Context(), `LOCK TABLE fugu_twin."fugu twins" IN SHARE ROW EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 100)
	w.keeper.Progress = func(s build.Step) { said <- s.What }
	done := make(chan error)
	go func() {
		_, err := w.keeper.Build(context.WithoutCancel(t.Context()), w.policy, w.policy.Tables[0], build.Options{})
		done <- err
	}()
	if first := <-said; !strings.HasPrefix(first, "waiting for another build") {
		t.Errorf("it says %q", first)
	}
	if err := other.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	w.column(`SET ROLE shop_guest`)
	if _, err := w.admin.Exec(t.Context(), `LOCK TABLE fugu_twin."fugu twins" IN ROW EXCLUSIVE MODE`); err == nil {
		t.Error("a guest can keep builds waiting")
	}
}
