package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
	"fugu/twin"
)

// orders is the dataset under which the keys of the orders of drawing are kept: an order belongs to a table, whatever
// datasets it is in, so that no second twin of it is drawn independently of the first.
const orders = "fugu twins: order of drawing"

// Draw is what a twin has told, once it is in the ledger: the noisy counts, and what they are of.
type Draw struct {
	Generation int     `json:"generation"` // 1 for the first of a table, whatever dataset it is in
	Dataset    string  `json:"dataset"`    // that paid for it
	Law        string  `json:"law"`        // the fingerprint of everything that the law depends on
	Class      string  `json:"class"`      // the SQL of a row's class
	Contents   []byte  `json:"contents"`   // the digest of the rows by class when it was drawn
	Noisy      []int64 `json:"noisy"`      // by class
	Reason     string  `json:"reason,omitempty"`
	// how often the owner declared the rows to be drawn independently of all before: a key is another row's since
	Series int `json:"series,omitempty"`
	// the relation that was read, as no other is called, whatever its name; empty: a version before this one
	Relation string `json:"relation,omitempty"`
	// what was hidden; nil: a version before this one
	Promise *policy.Promise `json:"promise,omitempty"`
}

// books are the ledger as a build sees it.
type books struct {
	ledger ledger.Ledger
	random io.Reader
	user   string // the operator
}

// entryKey identifies an entry of the ledger by words.
func entryKey(words ...any) ledger.Key {
	text, _ := json.Marshal(words)
	sum := sha256.Sum256(text)
	return ledger.Key(hex.EncodeToString(sum[:]))
}

// order returns the key of a table's order of drawing, and makes it where there is none yet. It is 32 random bytes,
// kept in the ledger, sealed if the ledger is.
func (b books) order(ctx context.Context, table policy.QualifiedName) ([]byte, error) {
	key := entryKey(ledger.Ordering, table.Schema, table.Name)

	a, ok, err := b.ledger.Find(ctx, key)
	if err == nil && hook.TwinRedraw {
		fresh := make([]byte, sha256.Size)
		_, err := io.ReadFull(b.random, fresh)
		return fresh, err
	}

	// A key that is made is durable before anything is ordered by it.
	if err == nil && !ok {
		fresh := make([]byte, sha256.Size)
		if _, err = io.ReadFull(b.random, fresh); err != nil {
			return nil, fmt.Errorf("drawing the order of %s: %w", table, err)
		}
		a, err = b.keep(ctx, table, key, fresh)
	}

	if err != nil {
		return nil, fmt.Errorf("the order of drawing of %s: %w", table, err)
	}

	// With a new key rows would be drawn a second time, and both twins together would tell more than either.
	if len(a.Bytes) != sha256.Size {
		return nil, fmt.Errorf("the order of drawing of %s is damaged in the ledger: "+
			"without it no twin can be made that is safe beside the earlier ones", table)
	}
	return a.Bytes, nil
}

// keep enters what all builds of a table's twin are to go by. It costs nothing: what it tells is in what twins cost, or
// tells nothing of the table's secrets. Whoever was first stands, and is returned.
func (b books) keep(ctx context.Context, table policy.QualifiedName, key ledger.Key, what []byte) (
	ledger.Answer, error) {
	return b.ledger.Charge(ctx, ledger.Charge{Key: key, Dataset: orders, User: b.user,
		Losses: map[string]privacy.Loss{table.String(): {}},
		Limit:  privacy.Budget{Epsilon: 1}, Requested: privacy.Budget{Epsilon: 1},
		Mechanism: ledger.Ordering, Assumption: "none", Answer: what})
}

// latest returns what was drawn last for a table, if anything was. It looks at no dataset and no epoch: a draw that was
// told stays told, and the rows decide whether another one may stand beside it.
func (b books) latest(ctx context.Context, table policy.QualifiedName) (*Draw, error) {
	all, err := b.draws(ctx, table)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[len(all)-1], nil
}

// draws returns all that was drawn for a table, the first first.
func (b books) draws(ctx context.Context, table policy.QualifiedName) (all []Draw, err error) {
	for generation := 1; ; generation++ {
		a, ok, err := b.ledger.Find(ctx, drawKey(table, generation))
		if err != nil || !ok {
			return all, err
		}
		var d Draw
		if err := json.Unmarshal(a.Bytes, &d); err != nil {
			return nil, fmt.Errorf("what was drawn for %s is damaged in the ledger: %w", table, err)
		}
		all = append(all, d)
	}
}

func drawKey(table policy.QualifiedName, generation int) ledger.Key {
	return entryKey(ledger.Twin, table.Schema, table.Name, generation)
}

// known refuses a twin that was published and that this ledger does not know: the ledger was lost, or put back to an
// earlier state. Its order of drawing is then gone, or its counts are, and another twin would be independent of it.
func known(published *Twin, last *Draw) error {
	if published == nil || shows(published, last) || last != nil && published.Nth < last.Generation {
		return nil
	}
	return errors.New("there is a twin that the ledger does not know: beside it another one would be drawn " +
		"independently, and the two together show the secret. Bring back the ledger that it was made with; or, if " +
		"the rows were drawn independently of those of then, say so with -new -independent -reason")
}

// shows reports whether the twin that was published has told what was drawn.
func shows(published *Twin, last *Draw) bool {
	return published != nil && last != nil && published.Nth == last.Generation &&
		slices.Equal(published.Told, last.Noisy)
}

// goesOn reports whether a build goes by what was drawn last, if the rows are still those that it was drawn of: because
// no other draw is asked for, or because one with the same reason was killed between the price and the twin.
func goesOn(last *Draw, next Draw, published *Twin, o Options) bool {
	if last == nil || last.Law != next.Law || last.Dataset != next.Dataset {
		return false
	}
	return !o.New || !shows(published, last) && last.Reason == next.Reason
}

// noise draws noisy counts. Nothing of them is told before they are in the ledger with their price.
func (b books) noise(design *twin.Design, counts []int64) ([]int64, error) {
	noisy, err := design.Draw(b.random, counts)
	if err == nil && hook.TwinNoNoise {
		noisy = slices.Clone(counts)
	}
	return noisy, err
}

// likeness is how the rows that there are now are to those that an earlier draw was made of.
type likeness int

const (
	sameRows     likeness = iota // the same, and each class is one of then
	otherRows                    // some came, went or changed their class
	otherClasses                 // the same, in other classes
	hidLess                      // the same, of which less was hidden than is to be now
)

// errOtherRows is the error of a build beside an earlier twin of rows that were others.
var errOtherRows = errors.New("rows were added, removed or moved between classes since its counts were drawn; " +
	"beside the earlier twin a new one would show how many: keep the earlier one, or, if the rows were drawn " +
	"independently of those of before, say so with -new -independent -reason")

// draw returns what a build goes by: what is in the ledger, or next, which is paid for now. compare says how the rows
// and their classes are to those that earlier draws were made of; it is asked if there is one.
func (b books) draw(ctx context.Context, p *policy.Policy, table policy.QualifiedName, next Draw, published *Twin,
	last *Draw, compare func() (likeness, error), o Options) (_ Draw, charged bool, err error) {
	found := sameRows
	if last != nil {
		if found, err = compare(); err != nil {
			return Draw{}, false, err
		}
	}
	same := found == sameRows

	switch {
	case found == otherRows && !o.Independent:
		// Rows that came, went or changed their class since are rows whose place in both twins is known: they show N.
		return Draw{}, false, errOtherRows
	case found == otherClasses && !o.Independent:
		return Draw{}, false, errors.New("a twin of these rows was told by other classes: it shows as it is what a " +
			"new one would blur, and the two together show both secrets; keep the conditions of the secrets, and " +
			"their number, or, if the rows were drawn independently of those of before, say so with -new " +
			"-independent -reason")
	case found == hidLess && !o.Independent:
		return Draw{}, false, errors.New("a twin of these rows hides less than the policy would have it now, and " +
			"what it cost is not what it costs by the policy: values of a secret that it lets be told apart, or " +
			"analysts who know rows; keep values, known_rows and smallest as narrow as they were, or, if the rows " +
			"were drawn independently of those of before, say so with -new -independent -reason")
	case !same && !o.New:
		return Draw{}, false, errors.New("rows that are drawn independently of those of before need counts of their " +
			"own, which cost the policy's epsilon again; say so with -new -reason")
	case last != nil && !o.New && (last.Law != next.Law || last.Dataset != next.Dataset):
		return Draw{}, false, errors.New("the policy's dataset, secrets, ranges, rows or privacy have changed " +
			"since its counts were drawn: new ones cost the policy's epsilon again; say so with -new -reason")
	case same && goesOn(last, next, published, o):
		return *last, false, nil
	}

	if next.Generation = 1; last != nil {
		if next.Generation, next.Series = last.Generation+1, last.Series; !same {
			next.Series++
		}
	}
	d, err := b.pay(ctx, p, table, next)
	return d, err == nil, err
}

// pay books noisy counts with their price; it returns once both are on disk. Where another build of the same twin was
// faster, what that one has drawn stands, and is paid for.
func (b books) pay(ctx context.Context, p *policy.Policy, table policy.QualifiedName, d Draw) (stands Draw, err error) {
	text, err := json.Marshal(d)
	if err != nil {
		return d, err
	}
	standing, err := b.ledger.Standing(ctx, p.Dataset, p.Privacy.Budget.Renew)
	if err != nil {
		return d, err
	}

	// The price is of each secret of the table, and of no others of the policy.
	price := privacy.Budget{Epsilon: p.Privacy.Epsilon, Delta: p.Privacy.Delta}
	losses := map[string]privacy.Loss{}
	for _, s := range p.Secrets {
		if s.Table == table {
			losses[s.Name] = privacy.Loss{Pure: float64(price.Epsilon), Delta: float64(price.Delta)}
		}
	}
	a, err := b.ledger.Charge(ctx, ledger.Charge{Key: drawKey(table, d.Generation), Dataset: p.Dataset,
		Epoch: standing.Epoch,
		User:  b.user, Reason: d.Reason, Losses: losses,
		Limit:     privacy.Budget{Epsilon: p.Privacy.Budget.Epsilon, Delta: p.Privacy.Budget.Delta},
		Renew:     p.Privacy.Budget.Renew,
		Requested: price, Mechanism: ledger.Twin, Assumption: string(policy.Exchangeable), Answer: text})

	var exhausted *ledger.Exhausted
	if errors.As(err, &exhausted) {
		return d, fmt.Errorf("%w; a twin costs privacy.epsilon and privacy.delta of the policy, once, and a new draw "+
			"of it as much again: write a privacy.budget that has room for it, if you accept what all of them tell "+
			"together", err)
	} else if err != nil {
		return d, err
	}
	if err := json.Unmarshal(a.Bytes, &stands); err != nil {
		return d, err
	}

	// Two builds that draw at the same time ask for the same place in the list; the one that comes second gets what the
	// first has.
	if stands.Law != d.Law || !bytes.Equal(stands.Contents, d.Contents) {
		return d, errors.New("another build has drawn counts meanwhile, of other rows or by another policy; look at " +
			"it, and build again")
	}
	return stands, nil
}

// lawOf is the fingerprint of everything that K and S depend on.
func lawOf(s twin.Spec) (string, error) {
	s.Secrets = slices.Clone(s.Secrets)
	for i := range s.Secrets {
		// Where it stands in the file says nothing.
		s.Secrets[i].At, s.Secrets[i].PropertyAt = policy.Position{}, policy.Position{}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("fingerprinting a law: %w", err)
	}
	sum := sha256.Sum256(append(text, s.Edition()...))
	return hex.EncodeToString(sum[:]), nil
}

// Drawn reports whether counts were ever drawn, and so paid for, for a twin of the table or of one that it was linked
// to, in whatever dataset.
func Drawn(ctx context.Context, l ledger.Ledger, table policy.QualifiedName) (bool, error) {
	root, _, err := books{ledger: l}.drawnWith(ctx, table)
	if err != nil {
		return false, fmt.Errorf("looking for a twin of %s: %w", table, err)
	}
	return root != "", nil
}

// noisy refuses a twin of a table about which answers with noise were given: each hides less beside the other. Which
// table an answer was about is known by the secrets that it was charged to: only those of tables that the policy
// answers with noise still are no reason, whatever became of the others' names. drawn says that there is a draw, beside
// which no answer with noise was given since.
func (b books) noisy(ctx context.Context, p *policy.Policy, drawn bool) error {
	stillNoisy := func(secret string) bool {
		return slices.ContainsFunc(p.Secrets, func(s policy.Secret) bool {
			t, ok := p.Table(s.Table)
			return ok && s.Name == secret && t.Answers == policy.ByAnswerNoise
		})
	}
	given, err := b.ledger.Releases(ctx, p.Dataset, maxGiven)
	if err != nil {
		return fmt.Errorf("looking at what dataset %s was told: %w", p.Dataset, err)
	}

	for _, g := range given {
		switch g.Mechanism {
		case ledger.Twin, ledger.Ordering, ledger.Derived: // what is derived tells no more than what it comes from
			continue
		}
		others := slices.DeleteFunc(slices.Sorted(maps.Keys(g.Losses)), stillNoisy)
		if len(others) > 0 || len(g.Losses) == 0 {
			return fmt.Errorf("answers with noise were given about dataset %s, about its secrets %q: beside a twin "+
				"they hide less than they claimed, and it beside them; keep answers: noise, or give the dataset "+
				"another name if its rows are others", p.Dataset, others)
		}
	}

	// Before a first draw nothing may be left unseen.
	if !drawn && len(given) == maxGiven {
		return fmt.Errorf("dataset %s was told %d answers and more, which are too many to see that none was about "+
			"this table; write a policy of its own, with another dataset, for the table", p.Dataset, maxGiven)
	}
	return nil
}

// maxGiven is how many of a dataset's latest answers are looked at.
const maxGiven = 10_000

// drawnWith returns the table with the rows of which those of a table were drawn last, which may be itself; empty: they
// never were. nth is how many such tables the ledger names.
func (b books) drawnWith(ctx context.Context, table policy.QualifiedName) (root string, nth int, err error) {
	for {
		a, ok, err := b.ledger.Find(ctx, drawnWithKey(table, nth+1))
		if err != nil {
			return "", nth, err
		}
		if !ok {
			break
		}
		root, nth = string(a.Bytes), nth+1
	}

	// A version before this one wrote down the draws alone.
	if nth == 0 {
		last, err := b.latest(ctx, table)
		if err == nil && last != nil {
			root = table.String()
		}
		return root, nth, err
	}
	return root, nth, nil
}

func drawnWithKey(table policy.QualifiedName, nth int) ledger.Key {
	return entryKey(ledger.Ordering, table.Schema, table.Name, "drawn with", nth)
}

// tables are those that the ledger has an order of drawing for.
func (b books) tables(ctx context.Context) (names []policy.QualifiedName, err error) {
	kept, err := b.ledger.Releases(ctx, orders, maxGiven)
	if err != nil {
		return nil, fmt.Errorf("looking for tables of which twins were drawn: %w", err)
	}
	if len(kept) == maxGiven {
		return nil, errors.New("twins of too many tables were drawn to see that none is of these rows: keep another " +
			"ledger for this policy")
	}

	// Beside its order a table has an entry for each table with whose rows its own were drawn.
	seen := map[string]bool{}
	for _, k := range kept {
		for _, name := range slices.Sorted(maps.Keys(k.Losses)) {
			if seen[name] {
				continue
			}
			seen[name] = true
			n, err := policy.ParseName(name)
			if err != nil {
				return nil, fmt.Errorf("a table's name in the ledger: %w", err)
			}
			names = append(names, n)
		}
	}
	return names, nil
}
