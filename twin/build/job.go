package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
	"fugu/twin"
	"fugu/twin/class"
	"fugu/twin/columns"
	"fugu/twin/margin"
)

// job is one build that goes on: what is to be made, by which law, and what was told before it.
type job struct {
	*Keeper
	tx      pgx.Tx // where the protected tables are
	at      place  // where twins are published
	policy  *policy.Policy
	options Options
	books   books

	family *family
	keys   map[*source]fresh
	class  string // the SQL of a row's class
	spec   twin.Spec
	design *twin.Design
	law    string // its fingerprint
	shape  string // and that of how the tables look

	laws     []columns.Law // of the columns that the policy has shown row by row, by the reference as it is
	released []released    // those that they are shown by

	told      []Draw // by the ledger, the first first
	last      *Draw  // among them
	all       []Twin // by the registry
	published *Twin  // among them

	key  []byte // of the order of drawing
	next Draw   // what is drawn, unless what was drawn last stands
}

// look finds out what is to be made, and refuses what must not be.
func (k *Keeper) look(ctx context.Context, tx pgx.Tx, at place, p *policy.Policy, root policy.Table, o Options) (
	j *job, err error) {
	j = &job{Keeper: k, tx: tx, at: at, policy: p, options: o, books: books{k.Ledger, k.Random, k.Operator}}
	if j.family, j.keys, err = describeFamily(ctx, tx, p, root); err != nil {
		return nil, err
	}

	// What is to be refused is so before anything is drawn or paid for, and before a condition is looked at by running
	// or planning it.
	if err := CheckConditions(ctx, tx, p, root.Qualified(), k.guestsBeside()); err != nil {
		return nil, err
	}
	if err := j.family.checkReferences(ctx, tx, k.guestsBeside()); err != nil {
		return nil, err
	}
	if err := j.family.checkPartners(ctx, tx, j.keys, k.guestsBeside()); err != nil {
		return nil, err
	}

	// The law is the policy's, but for which predicates can be NULL and for the numbers of references.
	if j.spec, err = j.family.spec(ctx, tx, p); err != nil {
		return nil, err
	}
	if j.design, err = twin.New(j.spec); err != nil {
		return nil, err
	}
	if j.law, err = lawOf(j.spec); err != nil {
		return nil, err
	}
	if j.laws, err = j.family.root.shownColumns(ctx, tx, j.spec, j.keys[j.family.root], k.guestsBeside()); err != nil {
		return nil, err
	}

	j.class = class.Of(j.spec)
	j.shape = j.family.shape()
	return j, nil
}

// recall looks at what was told before, by the ledger and by the registry, and returns the twins if all are there.
func (j *job) recall(ctx context.Context) (there []Twin, err error) {
	if j.told, err = j.books.draws(ctx, j.family.root.Qualified()); err != nil {
		return nil, err
	}
	if len(j.told) > 0 {
		j.last = &j.told[len(j.told)-1]
	}
	if err := j.books.noisy(ctx, j.policy, j.last != nil); err != nil {
		return nil, err
	}
	if j.all, err = Twins(ctx, j.at.tx); err != nil {
		return nil, err
	}
	if j.published, err = j.family.published(j.at, j.all); err != nil {
		return nil, err
	}

	// Who was told a twin that the ledger or the registry does not know may be told twice.
	o := j.options
	if !o.New || !o.Independent {
		if err := errors.Join(known(j.published, j.last), j.family.knownBeside(ctx, j.tx, j.at, j.last)); err != nil {
			return nil, err
		}
	}

	if o.Again || o.New || !shows(j.published, j.last) || j.last.Dataset != j.policy.Dataset {
		return nil, nil
	}

	// A version before this one did not enter how far the numbers of a twin may be off.
	there, err = j.family.standing(ctx, j.at, j.Keeper, j.all, j.law, j.shape)
	if err == nil && there != nil && there[0].Noise == nil {
		there[0].Noise = j.design.NoiseOf(there[0].Told)
		err = sayNoise(ctx, j.at.tx, there[0])
	}
	return there, err
}

// count counts the rows of each class, draws, and goes through the rows in their order of drawing. It draws first, so
// that one look at the rows is enough: it is known by then where the last ones that are taken should be.
func (j *job) count(ctx context.Context) (c counts, err error) {
	// The key gives all builds of the table one order in which rows are taken.
	root := j.family.root
	if j.key, err = j.books.order(ctx, root.Qualified()); err != nil {
		return c, err
	}
	if err := setOrder(ctx, j.tx, j.key); err != nil {
		return c, err
	}

	// What is counted here is the truth, and is seen by nobody but the draw.
	j.say(.02, "counting the rows of each class")
	if j.family.rows, err = root.stage(ctx, j.tx, j.class, j.family.carried(root, j.keys[root])); err != nil {
		return c, err
	}
	classes, err := root.tally(ctx, j.tx, j.family.rows, len(j.design.Classes))
	if err != nil {
		return c, err
	}
	if err := j.checkEmpty(classes); err != nil {
		return c, err
	}
	j.next = Draw{Dataset: j.policy.Dataset, Law: j.law, Class: j.class, Reason: j.options.Reason,
		Promise: promiseOf(j.spec)}
	if j.next.Noisy, err = j.books.noise(j.design, classes); err != nil {
		return c, err
	}

	// Where the last row of each class is can be guessed from what was drawn, so that one scan is enough.
	j.say(.05, "reading the rows of "+root.qualified())
	seen, err := root.look(ctx, j.tx, j.key, j.family.rows, edgesAt(classes, j.expected(classes), firstSpread))
	if err == nil {
		err = checkSame(classes, seen.classes)
	}
	return seen, err
}

// checkEmpty refuses the first build of a table that has no row of some class, before anything is drawn or paid for: a
// secret whose value is misspelt in the policy would be a secret about nothing, and the twin would show the true one.
// Once a twin was told, its table may become so without an error, since analysts would see that no twin follows.
func (j *job) checkEmpty(classes []int64) error {
	empty := slices.Index(classes, 0)
	if empty < 0 || j.last != nil || j.options.Outside || j.design.Covers(classes) {
		return nil
	}
	return fmt.Errorf("no row is of class %s, which the policy's range excludes: see that the secret's condition is "+
		"spelled as the rows have it. Nothing was drawn or charged. If the table is meant to be so, build it with "+
		"-outside", j.design.Classes[empty].Name)
}

// expected is what is drawn of each class unless the rows have changed since counts were drawn: then it is seen too
// late to be wrong. Where it cannot be known, nothing is.
func (j *job) expected(classes []int64) []drawn {
	noisy := j.next.Noisy
	if goesOn(j.last, j.next, j.published, j.options) {
		noisy = j.last.Noisy
	}
	take, err := j.design.Take(noisy)
	if err == nil {
		var out []drawn
		if out, _, err = amounts(j.design, classes, noisy, take); err == nil {
			return out
		}
	}
	return make([]drawn, len(classes))
}

// draw returns the noisy counts that the twin goes by, and whether they were paid for now.
func (j *job) draw(ctx context.Context, c counts) (d Draw, charged bool, err error) {
	root := j.family.root
	j.next.Contents = c.contents
	if j.next.Relation, err = root.relation(ctx, j.tx); err != nil {
		return d, false, err
	}
	contains := func(ctx context.Context, key []byte, d Draw) (bool, error) {
		return root.contains(ctx, j.tx, key, d)
	}

	// Rows that are those of an earlier twin have its counts, or none.
	before := earlier{j.books, j.tx, j.family, j.key, j.told, j.next, contains, j.options.New && j.options.Independent}
	if err := before.check(ctx); err != nil {
		return d, false, err
	}
	compare := func() (likeness, error) { return before.compare(ctx) }
	d, charged, err = j.books.draw(ctx, j.policy, root.Qualified(), j.next, j.published, j.last, compare, j.options)
	if errors.Is(err, errOtherRows) && root.primary == nil {
		// Where a column came nobody thinks of their rows as others.
		err = fmt.Errorf("%w. The table has no primary key, so that a row is known by all of its columns: a value "+
			"that was changed, or a column that came or went, makes other rows of them, and so does a primary key "+
			"that is added now. With values and columns as they were then, the build goes on", err)
	}
	if err != nil {
		return d, false, err
	}
	return d, charged, before.remember(ctx)
}

// carry has the rows of a table that were laid beside the protected ones go where twins are published, and returns what
// of the table cannot go with them.
func (j *job) carry(ctx context.Context, s *source, rows int64, done float64) (left []string, err error) {
	j.say(done, "sending the twin of "+s.qualified()+" to its database")
	if left, err = s.portable(ctx, j.tx); err != nil {
		return nil, err
	}
	return left, j.at.carry(ctx, j.tx, s, rows, j.Guests)
}

// certify writes into the twins what the registry says of them.
func (j *job) certify(twins []Twin, d Draw, taken []int64) {
	for i := range twins {
		t := &twins[i]
		t.Dataset, t.Assumes = j.policy.Dataset, string(policy.Exchangeable)
		t.Epsilon, t.Delta = j.design.Epsilon, j.design.Delta
		t.Nth, t.Law, t.Shape = d.Generation, j.law, j.shape
		if i > 0 {
			continue
		}
		for _, c := range j.design.Classes {
			t.Classes = append(t.Classes, c.Name)
		}
		t.Told, t.Taken, t.Noise = d.Noisy, taken, j.design.NoiseOf(d.Noisy)
		for _, s := range j.released {
			t.Columns = append(t.Columns, s.promise())
		}
	}
}

// describeFamily reads what a table with secrets and those linked to it are made of.
func describeFamily(ctx context.Context, tx pgx.Tx, p *policy.Policy, root policy.Table) (
	*family, map[*source]fresh, error) {
	s, err := describe(ctx, tx, root)
	if err != nil {
		return nil, nil, err
	}
	f := &family{root: s, sources: []*source{s}}

	// Each table that is found is asked for those that are linked to it, in turn.
	for i := 0; i < len(f.sources); i++ {
		for _, t := range p.Tables {
			if t.Link == nil || t.Link.To != f.sources[i].Qualified() {
				continue
			}
			s, err := describe(ctx, tx, t)
			if err != nil {
				return nil, nil, err
			}
			f.sources = append(f.sources, s)
		}
	}

	if err := f.readForeign(ctx, tx); err != nil {
		return nil, nil, err
	}
	keys, err := f.freshKeys()
	return f, keys, err
}

// spec is what the law depends on. That a predicate is NULL for some row of the table is taken to be public: it is so
// for both values of every pair.
func (f *family) spec(ctx context.Context, tx pgx.Tx, p *policy.Policy) (twin.Spec, error) {
	null := map[string]bool{}
	for _, s := range p.Secrets {
		if s.Table != f.root.Qualified() || s.Proportion == "" {
			continue
		}
		var some bool
		sql := fmt.Sprintf(`SELECT EXISTS (SELECT FROM %s AS t WHERE (%s) IS NULL)`, f.root.qualified(), s.Proportion)
		if err := tx.QueryRow(ctx, sql).Scan(&some); err != nil {
			return twin.Spec{}, fmt.Errorf("secret %s: %w", s.Name, err)
		}
		null[s.Name] = some
	}
	return margin.Spec(p, f.root.Qualified(), func(secret string) bool { return null[secret] })
}

// shape is the fingerprint of how the twin's tables look: columns, keys, indexes; and, behind a space, asked's of what
// the policy says of that, which can be compared without a look at the protected tables.
func (f *family) shape() string {
	var parts []any
	for _, s := range f.sources {
		columns := s.kept()
		names := make([][2]string, len(columns))
		for i, c := range columns {
			names[i] = [2]string{c.name, c.typ}
		}
		var definitions []string
		for _, d := range append(s.checks, s.indexes...) {
			definitions = append(definitions, d.name+" "+d.sql)
		}
		parts = append(parts, s.qualified(), names, s.primary, s.unique, definitions)
	}

	// What joins the tables is no part of any one of them.
	for _, k := range f.foreign {
		parts = append(parts, k.name, k.own, k.refs, k.more)
	}
	family := make([]policy.Table, len(f.sources))
	for i, s := range f.sources {
		family[i] = s.Table
	}

	text, _ := json.Marshal(parts)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]) + " " + asked(family)
}
