package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"fugu/dataset"
	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/policy"
	"fugu/quote"
	"fugu/sqlstate"
)

// A total bounds what is told of a secret while every answer in it was to hide all pairs of values that the policy has
// now. So in one period what is promised of a table may only narrow: the ledger has the narrowest promise that answers
// were charged under, and who promises more is refused. The answers of a joint account are counted whatever period they
// are of, and so are their promises.

// Broken says that answers were charged that hide less than the policy promises now.
type Broken struct {
	Dataset string
	Table   policy.QualifiedName
	Secret  string // empty: it is about all of the table's
	What    string
	Since   time.Time // when answers began to hide less
	Always  bool      // a new period mends nothing

	// Elsewhere is another dataset to which answers about the same rows were charged; empty: it is about this one's.
	Elsewhere string
}

// Error implements error.
func (b *Broken) Error() string {
	if b.Elsewhere != "" {
		return fmt.Sprintf("dataset %q: answers about the rows of table %s have been charged to dataset %q since %s, "+
			"and what these and its own tell together is in no account", b.Dataset, b.Table, b.Elsewhere,
			b.Since.UTC().Format("2006-01-02 15:04 UTC"))
	}
	of := fmt.Sprintf("secret %q of table %s", b.Secret, b.Table)
	if b.Secret == "" {
		of = "the secrets of table " + b.Table.String()
	}
	return fmt.Sprintf("dataset %q: answers that were charged since %s hide less of %s than its policy promises now: "+
		"%s", b.Dataset, b.Since.UTC().Format("2006-01-02 15:04 UTC"), of, b.What)
}

// Mend says what to do about it.
func (b *Broken) Mend() string {
	const back = "bring the policy of then back"
	switch {
	case b.Elsewhere != "":
		return fmt.Sprintf("give the dataset its name back, or have the budget of %[1]s begin anew (fugu budget reset "+
			"%[1]s, which gives up what was promised of the answers before)", b.Elsewhere)
	case b.Always:
		return back + ": a joint account counts all answers that were ever given"
	}
	return back + ", or wait until the budget is renewed, or have it begin anew (fugu budget reset, which gives up " +
		"what was promised of the answers before), or protect other rows under another dataset"
}

// refused is what a client is told.
func (b *Broken) refused() error {
	return sqlstate.New(sqlstate.NotAllowed, "%s", b.Error()).
		WithHint("Answers already given stay free. The owner of the policy can %s.", b.Mend()).Because(b)
}

// Charge has the ledger book a charge, with what its policy promises of the tables that the request asks. If that is
// more than was promised before, it is refused; if others promised something meanwhile, it is compared anew.
func (b Books) Charge(ctx context.Context, r *quote.Request, c ledger.Charge) (ledger.Answer, error) {
	for again := false; ; {
		if !hook.Promiseless {
			newest, add, err := b.promise(ctx, r)
			if err != nil {
				return ledger.Answer{}, err
			}
			again = c.Promised != nil && *c.Promised == newest
			c.Promised, c.Promises = &newest, add
		}
		a, err := b.Ledger.Charge(ctx, c)
		switch {
		case err == nil:
			return a, nil
		case !errors.Is(err, ledger.ErrPromised) || again: // again: the ledger has less than it had
			return ledger.Answer{}, Error(err)
		}
	}
}

// Kept refuses a request whose policy promises more of its tables than was promised before.
func (b Books) Kept(ctx context.Context, r *quote.Request) error {
	_, _, err := b.promise(ctx, r)
	return err
}

// promise returns the newest promise of the period and those that a request adds to it.
func (b Books) promise(ctx context.Context, r *quote.Request) (newest int64, add []ledger.Promise, err error) {
	var asked []*dataset.Protected
	for _, c := range r.Cuts {
		if root := r.Dataset.Find(c.Table.Schema, c.Table.Name); !slices.Contains(asked, root) {
			asked = append(asked, root)
		}
	}

	// All tables are compared with what was promised at one moment, which the charge has to be of.
	x, err := newComparison(ctx, b.Ledger, r.Dataset, r.Policy)
	if err != nil {
		return 0, nil, err
	}
	for _, t := range asked {
		p, broken, err := x.with(t)
		switch {
		case err != nil:
			return 0, nil, err
		case len(broken) > 0:
			return 0, nil, broken[0].refused()
		case p != nil:
			add = append(add, *p)
		}
	}
	return x.newest, add, nil
}

// AllBroken returns all in which a policy promises more than answers of its dataset were charged under.
func AllBroken(ctx context.Context, l ledger.Ledger, s *dataset.Snapshot, p *policy.Policy) (out []*Broken, err error) {
	x, err := newComparison(ctx, l, s, p)
	if err != nil {
		return nil, err
	}
	for _, t := range s.Tables {
		if t.Policy != p || t.Config.Answers != policy.ByAnswerNoise || t.Config.Link != nil {
			continue
		}
		_, broken, err := x.with(t)
		if err != nil {
			return nil, err
		}
		out = append(out, broken...)
	}
	return out, nil
}

// comparison is of what a policy promises with what was promised before.
type comparison struct {
	loaded *dataset.Snapshot
	policy *policy.Policy
	newest int64 // see ledger.Promised
	period int64
	before []earlier // the narrowest of each table, as far as its answers count
	others []earlier // those of other datasets, whose budgets are others
}

// earlier is a promise of the ledger's.
type earlier struct {
	*policy.Promise
	Dataset       string
	Table         string
	Entry, Period int64
	At            time.Time
}

func newComparison(ctx context.Context, l ledger.Ledger, s *dataset.Snapshot,
	p *policy.Policy) (*comparison, error) {
	promised, err := l.Promised(ctx, p.Dataset, p.Privacy.Budget.Renew)
	if err != nil {
		return nil, Error(err)
	}
	x := &comparison{loaded: s, policy: p, newest: promised.Newest, period: promised.Period}

	// Answers of periods that are over are in no total, but in a joint account.
	for _, kept := range slices.Concat(promised.Tables, promised.Others) {
		own := kept.Dataset == p.Dataset
		if own && kept.Period != promised.Period && p.Privacy.Composition != policy.Jointly {
			continue
		}
		read, err := policy.ReadPromise(kept.Text)
		if err != nil {
			return nil, Error(fmt.Errorf("reading what was promised of table %s: %w", kept.Table, err))
		}
		e := earlier{read, kept.Dataset, kept.Table, kept.Entry, kept.Period, kept.At}
		if own {
			x.before = append(x.before, e)
		} else {
			x.others = append(x.others, e)
		}
	}
	return x, nil
}

// with compares what is promised of a table and all that are linked to it, and returns what the ledger is to keep of
// that; nil: it has it.
func (x *comparison) with(t *dataset.Protected) (add *ledger.Promise, broken []*Broken, err error) {
	now := x.loaded.Promise(t)
	if i := slices.IndexFunc(x.others, func(b earlier) bool { return b.Same(now) }); i >= 0 {
		elsewhere := x.broken(t, x.others[i], "", "")
		elsewhere.Elsewhere = x.others[i].Dataset
		return nil, []*Broken{elsewhere}, nil
	}
	own := *now
	known := false
	for _, b := range x.before {
		if !b.Shares(&own) {
			continue
		}
		for _, gap := range b.Lacks(now, t.SameProperty) {
			told := func(other *Broken) bool { return other.Secret == gap.Secret }
			if !slices.ContainsFunc(broken, told) {
				broken = append(broken, x.broken(t, b, gap.Secret, gap.What))
			}
		}
		now.Union(b.Promise)
		known = true
	}
	if !known {
		broken = x.renamed(t, now)
	}
	if len(broken) > 0 {
		return nil, broken, nil
	}

	// What is the same is not written again.
	name := t.Config.Qualified().String()
	for _, b := range x.before {
		if b.Table == name && b.Period == x.period && b.SameNames(now) && (b.Public == nil) == (now.Public == nil) &&
			now.Covers(b.Promise, t.SameProperty) {
			return nil, nil, nil
		}
	}
	text, err := json.Marshal(now)
	if err != nil {
		return nil, nil, fmt.Errorf("writing what is promised of table %s: %w", name, err)
	}
	return &ledger.Promise{Table: name, Text: text}, nil, nil
}

// renamed compares what is promised of a table that is new with what was promised of those that the policy has no more:
// its rows may be theirs, and it may promise what one of them did. It takes over the names of those.
func (x *comparison) renamed(t *dataset.Protected, now *policy.Promise) (broken []*Broken) {
	gone := slices.DeleteFunc(slices.Clone(x.before), func(b earlier) bool { return x.has(b) || x.followed(b) })
	if len(gone) == 0 {
		return nil
	}
	own := *now
	kept := false
	for _, b := range gone {
		if b.Covers(&own, t.SameProperty) {
			now.Union(b.Promise)
			kept = true
		}
	}
	if kept {
		return nil
	}
	return []*Broken{x.broken(t, gone[0], "", fmt.Sprintf("the policy has no table %s any more, whose rows this one "+
		"may have under another name, and other secrets", gone[0].Table))}
}

// has reports whether the policy has a table of a promise still.
func (x *comparison) has(b earlier) bool {
	return slices.ContainsFunc(x.policy.Tables, func(t policy.Table) bool {
		return slices.Contains(b.Tables, t.Qualified())
	})
}

// followed reports whether a later promise is about the same rows under a further name.
func (x *comparison) followed(b earlier) bool {
	return slices.ContainsFunc(x.before, func(later earlier) bool {
		all := *later.Promise
		all.Union(b.Promise)
		return later.Entry > b.Entry && all.SameNames(later.Promise)
	})
}

func (x *comparison) broken(t *dataset.Protected, b earlier, secret, what string) *Broken {
	return &Broken{Dataset: x.policy.Dataset, Table: t.Config.Qualified(), Secret: secret, What: what, Since: b.At,
		Always: x.policy.Privacy.Composition == policy.Jointly}
}
