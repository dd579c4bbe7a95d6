package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
	"fugu/twin/columns"
)

var customers = policy.QualifiedName{Schema: "public", Name: "customer"}

// booksOf are books over a new ledger, with random bytes of the test's own.
func booksOf(t *testing.T, random io.Reader) books {
	t.Helper()
	l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return books{l, random, "carol"}
}

// The order of drawing is made once: from random bytes that are all there, and for ever. One that is damaged is not
// replaced, as another would draw rows a second time.
func TestOrderIsMadeOnce(t *testing.T) {
	b := booksOf(t, iotest.ErrReader(errors.New("no random bytes")))
	if key, err := b.order(t.Context(), customers); err == nil || key != nil {
		t.Errorf("without random bytes: %x, %v", key, err)
	}
	b.random = strings.NewReader("too few")
	if key, err := b.order(t.Context(), customers); err == nil || key != nil {
		t.Errorf("with too few of them: %x, %v", key, err)
	}

	b.random = bytes.NewReader(slices.Concat(bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)))
	first, err := b.order(t.Context(), customers)
	if err != nil || !bytes.Equal(first, bytes.Repeat([]byte{1}, 32)) {
		t.Fatalf("%x, %v", first, err)
	}
	if again, err := b.order(t.Context(), customers); err != nil || !bytes.Equal(again, first) {
		t.Errorf("made twice: %x, %v", again, err)
	}

	other := policy.QualifiedName{Schema: "public", Name: "other"}
	if _, err := b.keep(t.Context(), other, entryKey(ledger.Ordering, "public", "other"), first[:31]); err != nil {
		t.Fatal(err)
	}
	if key, err := b.order(t.Context(), other); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a byte is missing: %x, %v", key, err)
	}
}

// Of two builds that draw at the same time the first one's counts stand, and are paid for once; who has counted other
// rows, or by another policy, has none of them.
func TestDrawsAtTheSameTime(t *testing.T) {
	b := booksOf(t, nil)
	p := &policy.Policy{Dataset: "shop", Secrets: []policy.Secret{{Name: "rich", Table: customers}, {Name: "other",
		Table: policy.QualifiedName{Schema: "public", Name: "other"}}}}
	p.Privacy.Epsilon, p.Privacy.Delta = .5, 1e-9
	p.Privacy.Budget = policy.Budget{Epsilon: 1, Delta: 1e-6}
	d := Draw{Generation: 1, Dataset: "shop", Law: "a law", Contents: []byte("rows"), Noisy: []int64{70, 30}}

	if stands, err := b.pay(t.Context(), p, customers, d); err != nil || !slices.Equal(stands.Noisy, d.Noisy) {
		t.Fatalf("%+v, %v", stands, err)
	}
	second := d
	second.Noisy = []int64{71, 29}
	if stands, err := b.pay(t.Context(), p, customers, second); err != nil || !slices.Equal(stands.Noisy, d.Noisy) {
		t.Errorf("the second draw of the same rows: %+v, %v", stands, err)
	}
	for name, edit := range map[string]func(*Draw){"other rows": func(d *Draw) { d.Contents = []byte("others") },
		"another policy": func(d *Draw) { d.Law = "another" }} {
		other := second
		edit(&other)
		if _, err := b.pay(t.Context(), p, customers, other); err == nil ||
			!strings.Contains(err.Error(), "another build has drawn") {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := b.ledger.Spent(t.Context(), "shop", "")
	if err != nil || len(got) != 1 || got[0].Secret != "rich" || got[0].Loss != (privacy.Loss{Pure: .5, Delta: 1e-9}) {
		t.Errorf("paid %+v, %v", got, err)
	}

	// Beyond the budget nothing is drawn; and a draw that cannot be read is not taken for none.
	for generation := 2; generation <= 3; generation++ {
		second.Generation = generation
		_, err = b.pay(t.Context(), p, customers, second)
	}
	var exhausted *ledger.Exhausted
	if !errors.As(err, &exhausted) {
		t.Errorf("a third draw of .5 from a budget of 1: %v", err)
	}
	if last, err := b.latest(t.Context(), customers); err != nil || last == nil || last.Generation != 2 {
		t.Errorf("the last is %+v, %v", last, err)
	}
	if _, err := b.keep(t.Context(), customers, drawKey(customers, 3), []byte("no JSON")); err != nil {
		t.Fatal(err)
	}
	if last, err := b.latest(t.Context(), customers); err == nil || last != nil {
		t.Errorf("a draw that cannot be read: %+v, %v", last, err)
	}
}

// Whether rows are those of the last draw decides whether another may stand beside it: where that cannot be told, none
// is drawn.
func TestNoDrawWhereRowsAreNotKnown(t *testing.T) {
	failed := errors.New("the rows could not be read")
	_, charged, err := booksOf(t, nil).draw(t.Context(), &policy.Policy{}, customers, Draw{}, nil, &Draw{},
		func() (likeness, error) { return sameRows, failed }, Options{})
	if !errors.Is(err, failed) || charged {
		t.Errorf("charged %t, %v", charged, err)
	}
}

// The law by which a column was shown stands; one that is damaged in the ledger is not replaced, and none that values
// cannot be drawn by is taken.
func TestLawOfAColumnIsKept(t *testing.T) {
	b := booksOf(t, nil)
	law, err := columns.New(policy.Column{Name: "city", Obfuscate: &policy.Obfuscate{Epsilon: 1, Delta: .01}},
		[]columns.Count{{Value: policy.Value{Text: "Rome"}, Rows: [3]int64{60}}, {Value: policy.Value{Text: "Oslo"},
			Rows: [3]int64{40}}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(series int, k kept) (int, error) {
		_, nth, err := b.column(t.Context(), customers, series, k)
		return nth, err
	}
	for i, words := range []string{"first", "first", "second", "first", "second"} {
		if nth, err := ask(1, kept{words, law}); err != nil || nth != []int{1, 1, 2, 1, 2}[i] {
			t.Errorf("%s: law %d, %v", words, nth, err)
		}
	}

	spoilt := law
	spoilt.Channels = slices.Clone(law.Channels)
	spoilt.Channels[0] = law.Channels[0][:1]
	text, err := json.Marshal(kept{"first", spoilt})
	if err != nil {
		t.Fatal(err)
	}
	for series, what := range map[int][]byte{2: []byte("no JSON"), 3: text} {
		key := entryKey(ledger.Ordering, "public", "customer", "column", "city", series, 1)
		if _, err := b.keep(t.Context(), customers, key, what); err != nil {
			t.Fatal(err)
		}
		if nth, err := ask(series, kept{"first", law}); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("series %d: law %d, %v", series, nth, err)
		}
	}
}
