package account_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fugu/account"
	"fugu/dataset"
	"fugu/ledger"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
)

// fleet is a policy of a table, and of one that is linked to it, of which steps change the lines.
const fleet = `version: 1
dataset: harbour
tables:
  public.ship: {rows: 1000, reference: public.ships, group_by: {kind: [sail, steam]}}
  public.cargo: {link: {to: public.ship, on: {ship: id}}, reference: public.cargoes}
  public.port: {rows: 50, reference: public.ports}
secrets:
  big: {table: public.ship, proportion: tons > 100, values: {from: 0.1, to: 0.6, within: 0.05}}
  deep: {table: public.port, proportion: depth > 10, pairs: [[0.2, 0.3]]}
assume: [translation]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 100, delta: 0.01}}
`

// fleetOf is the policy with changes, old and new in turn, and what a database has for it.
func fleetOf(t *testing.T, changes ...string) (*policy.Policy, *dataset.Snapshot) {
	t.Helper()
	text := fleet
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the policy has no %q", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	p, err := policy.Parse("harbour.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := &dataset.Snapshot{Policies: []*policy.Policy{p}}
	for _, c := range p.Tables {
		s.Tables = append(s.Tables, &dataset.Protected{Policy: p, Config: c,
			Table: &planner.Table{Schema: c.Schema, Name: c.Name},
			Syntax: parser.Table{Schema: c.Schema, Name: c.Name,
				Columns: []string{"id", "tons", "kind", "depth", "ship"}}})
	}
	return p, s
}

// asks charges for a statement about tables, by their names.
func asks(ctx context.Context, l ledger.Ledger, n int, p *policy.Policy, s *dataset.Snapshot, tables ...string) error {
	r := &quote.Request{Dataset: s, Policy: p}
	sum := sha256.Sum256(fmt.Append(nil, n))
	c := ledger.Charge{Key: ledger.Key(hex.EncodeToString(sum[:])), Dataset: p.Dataset, User: "alice",
		Losses: map[string]privacy.Loss{"x": {Pure: .01}}, Limit: account.Total(p.Privacy.Budget),
		Renew: p.Privacy.Budget.Renew, Requested: privacy.Budget{Epsilon: 1}, Mechanism: "gaussian",
		Assumption: "translation", Answer: []byte("x")}
	for _, name := range tables {
		t := s.Find("public", name)
		if t == nil {
			return fmt.Errorf("there is no table %s", name)
		}
		r.Cuts = append(r.Cuts, &planner.Bound{Cut: &planner.Cut{Table: t.Table}})
	}
	_, err := account.Books{Ledger: l}.Charge(ctx, r, c)
	return err
}

// A step asks about tables, under a policy with changes; refused is a word of why it cannot be charged.
type step struct {
	tables, refused string
	changes         []string
}

const within, big = "within: 0.05", "  big: {table: public.ship, proportion: tons > 100"

var (
	narrow  = []string{within, "within: 0.04"}
	wide    = []string{within, "within: 0.06"}
	alone   = []string{"  public.cargo: {link: {to: public.ship, on: {ship: id}}, reference: public.cargoes}\n", ""}
	renamed = both(alone, []string{"public.ship,", "public.boat,", "public.ship:", "public.boat:"})
	other   = []string{"tons > 100", "tons > 200"}
	steam   = []string{"  deep:",
		"  steam: {table: public.ship, proportion: kind = 'steam', pairs: [[0.2, 0.3]]}\n  deep:"}
)

// both are the changes of two policies.
func both(a, b []string) []string { return append(append([]string{}, a...), b...) }

// careless are the ways in which an owner changes a policy, or an attacker has one changed.
var careless = map[string][]step{
	"the same":          {{"ship", "", nil}, {"ship", "", nil}},
	"wider":             {{"ship", "", nil}, {"ship", "within 0.06", wide}, {"ship", "", nil}},
	"narrower and back": {{"ship", "", nil}, {"ship", "", narrow}, {"ship", "within 0.05", nil}},
	"only looked at":    {{"port", "", nil}, {"port", "", narrow}, {"ship", "", wide}},
	"two at once":       {{"ship port", "", nil}, {"port", "", wide}, {"port ship", "within 0.06", wide}},
	"another condition": {{"ship", "", nil}, {"ship", "tons > 200", other}},
	"the condition in other words": {{"ship", "", nil},
		{"ship", "", []string{"tons > 100", `"( tons  >100 )"`}}, {"ship", "within 0.06", wide}},
	"a secret more":      {{"ship", "", nil}, {"ship", "it is new", steam}},
	"a secret less":      {{"ship", "", steam}, {"ship", "", nil}, {"ship", "it is new", steam}},
	"a secret of others": {{"ship", "", nil}, {"port", "", steam}, {"ship", "it is new", steam}},
	"another name":       {{"ship", "", nil}, {"ship", "it is new", []string{"  big:", "  large:"}}},
	"about the distribution": {{"ship", "", nil},
		{"ship", "about: distribution", []string{big, big + ", about: distribution"}}},
	"what is between a pair": {{"port", "", nil},
		{"port", "", []string{"pairs: [[0.2, 0.3]]", "values: {from: 0.2, to: 0.3, within: 0.09}"}},
		{"port", "within 0.2", []string{"[[0.2, 0.3]]", "[[0.2, 0.4]]"}}},

	// The same rows may go by another name.
	"a table renamed": {{"ship", "", alone}, {"boat", "under another name", both(wide, renamed)},
		{"boat", "", renamed}, {"boat", "", both(narrow, renamed)}, {"ship", "within 0.05", alone},
		{"ship", "", both(narrow, alone)}},
	"a table renamed to and fro": {{"ship", "", alone}, {"boat", "", renamed}, {"ship", "", both(narrow, alone)},
		{"boat", "within 0.05", renamed}},
	"a table renamed, and its secret": {{"ship", "", alone},
		{"boat", "under another name", both(renamed, []string{"  big:", "  large:"})}},
	"a table renamed, that another one is linked to": {{"ship", "", nil},
		{"boat", "within 0.06", both(wide, renamed[2:])}, {"boat", "", renamed[2:]}},
	"a table beside, and one renamed":    {{"port", "", alone}, {"ship", "", alone}, {"boat", "", renamed}},
	"a table that is new, and none gone": {{"port", "", nil}, {"ship", "", wide}},
	"a table that is new, one gone and followed": {{"ship", "", alone}, {"boat", "", renamed},
		{"port", "", both(renamed, wide)}},
	"a table answered from its twin, and a new one": {{"ship", "", alone}, {"port", "", both(alone,
		[]string{"rows: 1000,", "rows: 1000, answers: twin,", "[translation]", "[translation, exchangeable]"})}},

	// What is told of a linked table is charged to the secrets of the other.
	"a linked table by itself": {{"ship", "", nil}, {"cargo", "it is new", []string{
		"{link: {to: public.ship, on: {ship: id}}, reference: public.cargoes}",
		"{rows: 9, reference: public.cargoes}",
		"  deep:", "  heavy: {table: public.cargo, proportion: tons > 5, pairs: [[0.2, 0.3]]}\n  deep:"}}},
	"linked to another": {{"ship", "", nil}, {"port", "it is new", []string{"to: public.ship", "to: public.port"}}},
}

// In a period what is promised only narrows, whatever names tables and secrets go by.
func TestPromisesOnlyNarrow(t *testing.T) {
	for name, steps := range careless {
		t.Run(name, func(t *testing.T) {
			l := openLedger(t)
			for i, s := range steps {
				p, loaded := fleetOf(t, s.changes...)
				broken, err := account.AllBroken(t.Context(), l, loaded, p)
				if err != nil {
					t.Fatal(err)
				}
				err = asks(t.Context(), l, i, p, loaded, strings.Fields(s.tables)...)
				switch {
				case s.refused == "" && err != nil:
					t.Errorf("step %d: %v", i, err)
				case s.refused != "" && (!sqlstate.Is(err, sqlstate.NotAllowed) ||
					!strings.Contains(err.Error(), s.refused)):
					t.Errorf("step %d: %v, want %q", i, err, s.refused)
				case s.refused != "" && (len(broken) == 0 || !strings.Contains(fmt.Sprint(broken), s.refused)):
					t.Errorf("step %d: whoever looks at the policy is told %v", i, broken)
				}
			}
		})
	}
}

func openLedger(t *testing.T) ledger.Manager {
	t.Helper()
	l, err := ledger.Manage(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// A budget that begins anew has nothing spent, and may promise anything; a joint account counts what was ever answered.
func TestPromisesOfABudgetThatBeginsAnew(t *testing.T) {
	for _, jointly := range []bool{false, true} {
		var composition []string
		if jointly {
			composition = []string{"budget: {", "composition: joint, mechanism: optimal-gaussian, budget: {",
				"[translation]", "[translation, gaussian]"}
		}
		l := openLedger(t)
		p, s := fleetOf(t, composition...)
		if err := asks(t.Context(), l, 1, p, s, "ship"); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Reset(t.Context(), p.Dataset, ledger.Why{Operator: "carol", Reason: "a test"}); err != nil {
			t.Fatal(err)
		}
		p, s = fleetOf(t, both(wide, composition)...)
		if err := asks(t.Context(), l, 2, p, s, "ship"); (err != nil) != jointly {
			t.Errorf("joint %t: %v", jointly, err)
		}
		p, s = fleetOf(t, composition...)
		if err := asks(t.Context(), l, 3, p, s, "ship"); err != nil {
			t.Errorf("joint %t: as before: %v", jointly, err)
		}
	}
}

// quicker is a ledger in which another proxy charges just before each charge.
type quicker struct {
	ledger.Ledger
	before []func() error
}

func (q *quicker) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	if len(q.before) > 0 {
		other := q.before[0]
		q.before = q.before[1:]
		if err := other(); err != nil {
			return ledger.Answer{}, err
		}
	}
	return q.Ledger.Charge(ctx, c)
}

// Of two proxies with two policies of a dataset the slower one is compared with what the quicker one promised.
func TestPromisesOfAnotherProxy(t *testing.T) {
	l := openLedger(t)
	p, s := fleetOf(t)
	theirs, loaded := fleetOf(t, narrow...)
	n := 10
	charged := func() error {
		n++
		return asks(t.Context(), l, n, theirs, loaded, "ship")
	}
	if err := asks(t.Context(), &quicker{l, []func() error{charged}}, 1, p, s, "ship"); err == nil ||
		!strings.Contains(err.Error(), "within 0.05") {
		t.Errorf("beside a narrower promise: %v", err)
	}

	// Promises of other tables that come between are nothing to this one.
	port := func() error { return asks(t.Context(), l, 99, theirs, loaded, "port") }
	if err := asks(t.Context(), &quicker{l, []func() error{port, charged}}, 2, theirs, loaded, "ship"); err != nil {
		t.Errorf("beside a promise of another table: %v", err)
	}

	// A ledger that says it has another promise, and has none, is not asked for ever.
	if err := asks(t.Context(), overtaken{l}, 3, theirs, loaded, "ship"); !sqlstate.Is(err, sqlstate.CannotConnectNow) {
		t.Errorf("overtaken by nobody: %v", err)
	}
}

// overtaken is a ledger that refuses each charge for a promise that nobody finds.
type overtaken struct{ ledger.Ledger }

func (overtaken) Charge(context.Context, ledger.Charge) (ledger.Answer, error) {
	return ledger.Answer{}, ledger.ErrPromised
}

// A promise that a later version wrote is not guessed at.
func TestPromisesOfALaterVersion(t *testing.T) {
	l := openLedger(t)
	p, s := fleetOf(t)
	zero := int64(0)
	if _, err := l.Charge(t.Context(), ledger.Charge{Key: ledger.Key(strings.Repeat("ab", 32)), Dataset: p.Dataset,
		User: "alice", Losses: map[string]privacy.Loss{"big": {}}, Limit: privacy.Budget{Epsilon: 1},
		Requested: privacy.Budget{Epsilon: 1}, Mechanism: "gaussian", Assumption: "none", Answer: []byte("x"),
		Promised: &zero, Promises: []ledger.Promise{{Table: "public.ship",
			Text: []byte(`{"secrets":[],"tables":[],"unless":"it rains"}`)}}}); err != nil {
		t.Fatal(err)
	}
	if err := asks(t.Context(), l, 1, p, s, "ship"); !sqlstate.Is(err, sqlstate.CannotConnectNow) {
		t.Errorf("charged: %v", err)
	}
}

// rowsOf says which relations the tables of a loaded policy are.
func rowsOf(s *dataset.Snapshot, relations map[string]string) *dataset.Snapshot {
	for _, t := range s.Tables {
		t.Relation = relations[t.Config.Name]
	}
	return s
}

// What is promised of rows stays with them when the database has them under another name, whatever the policy says.
func TestPromisesGoWithTheRows(t *testing.T) {
	asItWas := map[string]string{"ship": "server/db/7", "port": "server/db/8"}
	swapped := map[string]string{"ship": "server/db/8", "port": "server/db/7"}
	fresh := map[string]string{"ship": "server/db/9", "port": "server/db/8", "boat": "server/db/7"}
	boat := []string{"  public.port:", "  public.boat: {rows: 1000, reference: public.ships}\n  public.port:",
		"  deep:", "  old: {table: public.boat, proportion: tons > 100, pairs: [[0.2, 0.3]]}\n  deep:"}
	type asked struct {
		table, refused string
		relations      map[string]string
		changes        []string
	}
	for name, steps := range map[string][]asked{
		"two tables swap names": {{"ship", "", asItWas, nil}, {"port", `secret "deep"`, swapped, nil},
			{"port", "", asItWas, nil}},
		"a table that is called otherwise, with a wider range": {{"ship", "", asItWas, alone},
			{"boat", "within 0.06", map[string]string{"boat": "server/db/7"}, both(wide, renamed)},
			{"boat", "", map[string]string{"boat": "server/db/7"}, renamed}},
		"other rows under the name, and the old ones under a new name": {{"ship", "", asItWas, nil},
			{"ship", "", fresh, nil}, {"boat", `secret "old"`, fresh, boat}},
		"a server that says no numbers": {{"ship", "", nil, nil}, {"port", "", nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			l := openLedger(t)
			for i, x := range steps {
				p, s := fleetOf(t, x.changes...)
				err := asks(t.Context(), l, i, p, rowsOf(s, x.relations), x.table)
				if (err != nil) != (x.refused != "") || err != nil && (!sqlstate.Is(err, sqlstate.NotAllowed) ||
					!strings.Contains(err.Error(), x.refused)) {
					t.Errorf("step %d: %v, want %q", i, err, x.refused)
				}
			}
		})
	}
}

// A dataset that gets another name has no new budget for the same rows, until that of the old one was given up.
func TestPromisesOfAnotherDataset(t *testing.T) {
	l := openLedger(t)
	rows := map[string]string{"ship": "server/db/7"}
	p, s := fleetOf(t)
	if err := asks(t.Context(), l, 1, p, rowsOf(s, rows), "ship"); err != nil {
		t.Fatal(err)
	}

	haven, loaded := fleetOf(t, "dataset: harbour", "dataset: haven")
	err := asks(t.Context(), l, 2, haven, rowsOf(loaded, rows), "ship")
	if !sqlstate.Is(err, sqlstate.NotAllowed) || !strings.Contains(err.Error(), `charged to dataset "harbour"`) {
		t.Errorf("the same rows under another dataset: %v", err)
	}
	broken, err := account.AllBroken(t.Context(), l, loaded, haven)
	if err != nil || len(broken) != 1 || !strings.Contains(broken[0].Mend(), "fugu budget reset harbour") {
		t.Errorf("whoever looks at the policy is told %v, %v", broken, err)
	}
	if err := asks(t.Context(), l, 3, haven, rowsOf(loaded, map[string]string{"ship": "server/other/7"}),
		"ship"); err != nil {
		t.Errorf("other rows of that name: %v", err)
	}
	if err := asks(t.Context(), l, 4, p, s, "ship"); err != nil {
		t.Errorf("the first dataset, beside other rows: %v", err)
	}

	if _, err := l.Reset(t.Context(), "harbour", ledger.Why{Operator: "carol", Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	if err := asks(t.Context(), l, 5, haven, rowsOf(loaded, rows), "ship"); err != nil {
		t.Errorf("after what was promised was given up: %v", err)
	}
	if err := asks(t.Context(), l, 6, p, s, "ship"); err == nil {
		t.Error("both datasets have a budget for the same rows")
	}
}
