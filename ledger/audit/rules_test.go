package audit

import (
	"strings"
	"testing"
	"time"

	"fugu/privacy"
)

// record is what a ledger's tables and its chain have to say together: entries, and the rows that they tell of.
type record struct {
	began    []Entry // epochs and periods, as the tables have them
	promised []Entry // likewise, with their numbers
	drops    []Drop
	answers  []Answer
	charges  []Charge
	entries  []Entry // of the chain, behind its beginning
}

// audit walks the chain of the record, whose links follow as they should, and says what the rules find.
func (r record) audit(t *testing.T) error {
	t.Helper()
	books, err := NewBooks(NewDone(r.began, r.promised, r.drops), r.answers, r.charges)
	if err != nil {
		return err
	}
	nothing, err := NewBooks(NewDone(nil, nil, nil), nil, nil)
	if err != nil {
		t.Fatal(err)
	}

	before := ""
	for n, e := range append([]Entry{nothing.Begin(at)}, r.entries...) {
		e.Number = int64(n)
		l, err := Chain{}.Follow(before, e)
		if err != nil {
			t.Fatal(err)
		}
		if err := books.Take(int64(n), l); err != nil {
			return err
		}
		before = l.Hash
	}
	return books.Rest()
}

// tell has the tables say what the chain says of an epoch or a period, at its place in the chain.
func (r *record) tell(e Entry) {
	r.entries = append(r.entries, e)
	r.began = append(r.began, e)
}

// promise has the tables and the chain say what was promised in a period.
func (r *record) promise(period int64, content string) {
	e := Entry{Number: int64(len(r.entries) + 1), At: at, Event: Promised, Dataset: "adult", Period: period,
		Table: "public.adult", Content: content}
	r.entries, r.promised = append(r.entries, e), append(r.promised, e)
}

// pay has an answer charged in an epoch and a period.
func (r *record) pay(epoch, period int64) {
	id := int64(len(r.answers) + 1)
	a := Answer{ID: id, Key: "k", Dataset: "adult", Epoch: epoch, Content: "c", Requested: privacy.Budget{Epsilon: 1}}
	loss := privacy.Loss{Pure: 1}
	r.answers = append(r.answers, a)
	r.charges = append(r.charges, Charge{ID: id, Answer: id, Secret: "income", User: "alice", At: at.UnixMicro(),
		Loss: loss, Period: period})
	r.entries = append(r.entries,
		a.Payment("", "alice", period, map[string]privacy.Loss{"income": loss}, at.Truncate(time.Microsecond)))
}

func newPeriod(number int64, why string) Entry {
	return Entry{At: at, Event: NewPeriod, Dataset: "adult", Period: number, Reason: why}
}

func newEpoch(number int64) Entry {
	return Entry{At: at, Event: NewEpoch, Dataset: "adult", Epoch: number}
}

func reset(period int64) Entry {
	return Entry{At: at, Event: Reset, Dataset: "adult", Period: period, User: "carol", Reason: "published"}
}

// Who writes both the tables and a chain that fits may still not put a period there by which a budget is spent twice:
// not one that nobody asked for, one out of turn, or one that a charge was not booked in.
func TestBeginningsComeInTurn(t *testing.T) {
	for _, c := range []struct {
		name string
		want string // in the error; empty: it is sound
		make func(r *record)
	}{
		{"as it should be", "", func(r *record) {
			r.tell(newPeriod(0, "renewal"))
			r.pay(0, 0)
			r.entries = append(r.entries, reset(1))
			r.tell(newPeriod(1, ByReset))
			r.pay(0, 1)
			r.tell(newEpoch(1))
			r.pay(1, 1)
		}},
		{"a period is left out", "out of turn", func(r *record) { r.tell(newPeriod(2, "renewal")) }},
		{"the first period begins late", "out of turn", func(r *record) {
			r.tell(newPeriod(1, "renewal"))
			r.tell(newPeriod(0, "renewal"))
		}},
		{"an epoch is left out", "out of turn", func(r *record) { r.tell(newEpoch(2)) }},
		{"an epoch comes again", "out of turn", func(r *record) {
			r.tell(newEpoch(1))
			r.tell(newEpoch(2))
			r.tell(Entry{At: at, Event: NewEpoch, Dataset: "adult", Epoch: 1, Label: "again"})
		}},
		{"a reset that nobody made", "nobody made", func(r *record) { r.tell(newPeriod(1, ByReset)) }},
		{"a renewal in the place of a reset", "nobody made", func(r *record) {
			r.entries = append(r.entries, reset(1))
			r.tell(newPeriod(1, "renewal"))
		}},
		{"a reset of a later period", "a reset is out of turn", func(r *record) {
			r.entries = append(r.entries, reset(2))
		}},
		{"two resets for one period", "a reset is out of turn", func(r *record) {
			r.entries = append(r.entries, reset(1), reset(1))
		}},
		{"a lone reset", "not in the audit chain", func(r *record) { r.entries = append(r.entries, reset(1)) }},
		{"a period that the tables have alone", "not in the audit chain", func(r *record) {
			r.began = append(r.began, newPeriod(1, "renewal"))
		}},
		{"a period that the chain has alone", "missing or was changed", func(r *record) {
			r.entries = append(r.entries, newPeriod(1, "renewal"))
		}},
		{"a charge of the period before", "not of the epoch and period", func(r *record) {
			r.tell(newPeriod(1, "renewal"))
			r.pay(0, 0)
		}},
		{"a charge of a period to come", "not of the epoch and period", func(r *record) { r.pay(0, 1) }},
		{"a charge of the epoch before", "not of the epoch and period", func(r *record) {
			r.tell(newEpoch(1))
			r.pay(0, 0)
		}},
	} {
		var r record
		c.make(&r)
		r.finds(t, c.name, c.want)
	}
}

// finds checks that an audit of the record finds what is wrong with it, in whose error stands want; empty: it is sound.
func (r *record) finds(t *testing.T, name, want string) {
	t.Helper()
	switch err := r.audit(t); {
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: %v", name, err)
	case err == nil && want != "":
		t.Errorf("%s: not found", name)
	}
}

// What tables and chain say of answers is the same, or an audit finds it: also where the chain follows link by link.
func TestBooksAgreeWithTheChain(t *testing.T) {
	for _, c := range []struct {
		name, want string
		edit       func(r *record)
	}{
		{"as it should be", "", func(*record) {}},
		{"a charge of no answer", "for no answer", func(r *record) { r.charges[0].Answer = 9 }},
		{"a payment that is not in the tables", "missing", func(r *record) { r.charges = r.charges[1:] }},
		{"a payment that is not in the chain", "1 charges are not", func(r *record) { r.entries = r.entries[:1] }},
		{"a payment that is told twice", "missing", func(r *record) {
			r.entries = append(r.entries, r.entries[1])
		}},
		{"a smaller loss", "was changed", func(r *record) { r.charges[1].Loss.Pure = .5 }},
		{"another secret's loss", "was changed", func(r *record) { r.charges[1].Secret = "age" }},
		{"another user", "was changed", func(r *record) { r.charges[1].User = "eve" }},
		{"another content", "was changed", func(r *record) { r.answers[1].Content = "d" }},
		{"an event of another version", "does not know", func(r *record) {
			r.entries = append(r.entries, Entry{At: at, Event: "refund", Dataset: "adult"})
		}},
		{"an answer of what was not charged ahead", "not charged ahead", func(r *record) {
			r.entries = append(r.entries, r.answers[0].Outcome("alice", at))
		}},
		{"a compaction that nobody made", "compacted is missing", func(r *record) {
			r.entries = append(r.entries, Entry{At: at, Event: Compacted, Dropped: &Dropped{Before: at, Answers: 1}})
		}},
	} {
		var r record
		r.pay(0, 0)
		r.pay(0, 0)
		c.edit(&r)
		r.finds(t, c.name, c.want)
	}
}

// What was promised stands in the tables as in the chain, in its period, and under the number of its entry: whoever can
// write both can put no other promise there, and have none come before another.
func TestPromisesAreInTheChain(t *testing.T) {
	for _, c := range []struct {
		name, want string
		edit       func(r *record)
	}{
		{"as it should be", "", func(*record) {}},
		{"one that the chain has alone", "a promise is missing", func(r *record) { r.promised = r.promised[:1] }},
		{"one that the tables have alone", "not in the audit chain", func(r *record) {
			r.promised = append(r.promised, Entry{Number: 99, At: at, Event: Promised, Dataset: "adult"})
		}},
		{"one that the chain does not tell any more", "not in the audit chain", func(r *record) {
			r.entries = r.entries[:2]
		}},
		{"another text", "a promise is missing or was changed", func(r *record) { r.promised[1].Content = "wide" }},
		{"another table", "a promise is missing or was changed", func(r *record) { r.promised[1].Table = "x" }},
		{"the two in each other's place", "a promise is missing or was changed", func(r *record) {
			r.promised[0].Number, r.promised[1].Number = r.promised[1].Number, r.promised[0].Number
		}},
		{"of another period", "not of the period", func(r *record) {
			r.promised[1].Period, r.entries[2].Period = 1, 1
		}},
	} {
		var r record
		r.promise(0, "wide")
		r.pay(0, 0)
		r.promise(0, "narrow")
		r.pay(0, 0)
		c.edit(&r)
		r.finds(t, c.name, c.want)
	}
}

// A link that cannot be read, or that has another's number, is damage and not passed over.
func TestLinksThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":          `{"number":0,`,
		"another's number": `{"number":1,"at":"2026-11-23T08:30:00Z","event":"lost","times":1}`,
	} {
		books, err := NewBooks(NewDone(nil, nil, nil), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := books.Take(0, Link{Text: text}); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
