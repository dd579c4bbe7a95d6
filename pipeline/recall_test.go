package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"fugu/account"
	"fugu/account/memory"
	"fugu/answer"
	"fugu/ledger"
	"fugu/parser"
	"fugu/test/patient"
)

// prepare interprets a text of one statement for a user in a session of their own, which knows what its tables are.
func (h *house) prepare(t *testing.T, user, sql string) *statement {
	t.Helper()
	s := h.anew(t, user, sql)
	if s.introduce() == nil {
		t.Error("a session is told nothing of its table")
	}
	return s
}

// anew interprets a text of one statement for a user in a session that has heard nothing yet.
func (h *house) anew(t *testing.T, user, sql string) *statement {
	t.Helper()
	st, err := (&session{engine: h.engine, user: user}).Interpret(t.Context(), sql, nil)
	if err != nil || len(st) != 1 {
		t.Fatal(st, err)
	}
	return st[0].(*statement)
}

// recalls is what is recalled of a statement's binding: nil where nothing is.
func recalls(t *testing.T, s *statement, values ...string) [][]byte {
	t.Helper()
	b := binding(0, values...)
	bound, ok := s.Recall(t.Context(), b.Formats, b.Values)
	if ok != (bound.Values != nil) {
		t.Fatal(bound, ok)
	}
	return bound.Values
}

// binds is what a statement is answered.
func binds(t *testing.T, s *statement, values ...string) [][]byte {
	t.Helper()
	bound, err := s.Bind(t.Context(), *binding(0, values...))
	if err != nil {
		t.Fatal(err)
	}
	return bound.Values
}

func alike(a, b [][]byte) bool { return a != nil && slices.EqualFunc(a, b, bytes.Equal) }

const byEducation = "SELECT education, avg(age) FROM adult WHERE age > $1::int GROUP BY education"

// What is recalled is what was answered, for the same binding alone and whatever way it is found: the first time by
// what is asked, then by what was bound. Nobody is charged for it.
func TestRecall(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	l := &asking{Ledger: h.engine.desk.Ledger.(*memory.Ledger).Ledger}
	h.engine.desk.Ledger = memory.Of(l)
	s := h.prepare(t, "alice", byEducation)
	if recalls(t, s, "20") != nil {
		t.Fatal("recalled before it was answered")
	}
	given := binds(t, s, "20")
	finds, charges := l.finds, l.charges
	other := h.prepare(t, "alice", byEducation)
	for range 3 {
		if !alike(recalls(t, s, "20"), given) || !alike(recalls(t, other, "20"), given) {
			t.Error("what is recalled is not what was answered")
		}
	}
	if n, _ := h.engine.snapshot.Load().recalled.Size(); n != 1 {
		t.Errorf("%d answers are kept as they were bound", n)
	}
	recallsNoOther(t, h, s, given)
	if l.finds != finds || l.charges != charges {
		t.Errorf("to recall took %d finds and %d charges", l.finds-finds, l.charges-charges)
	}
	last := s.session.last
	if other.session.last = (answer.Told{}); !alike(recalls(t, other, "20"), given) ||
		other.session.last.Answer.ID != last.Answer.ID || len(other.session.last.Cells) != len(last.Cells) {
		t.Error("what is recalled is not in fugu.last_release")
	}
	// What a table is has to be said first, if the client wants to hear it, which nobody can be asked in Recall.
	strange := h.anew(t, "alice", byEducation)
	if recalls(t, strange, "20") != nil {
		t.Error("recalled before the session was told what the table is")
	}
	if !alike(binds(t, strange, "20"), given) || !alike(recalls(t, strange, "20"), given) {
		t.Error("not recalled behind the statement with which it was told")
	}
	other.session.touched = true // its settings may be others
	if recalls(t, other, "20") != nil {
		t.Error("recalled whatever the session's settings")
	}
	s.plan.Explain = parser.ExplainText
	if recalls(t, s, "20") != nil {
		t.Error("an explanation is recalled as an answer")
	}
}

// recallsNoOther checks that given, the answer of byEducation above 20, is recalled for the same question in other
// words, and for no other one.
func recallsNoOther(t *testing.T, h *house, s *statement, given [][]byte) {
	t.Helper()
	if !alike(recalls(t, h.prepare(t, "alice", "SELECT avg(age), education AS e FROM adult WHERE $1::int < age "+
		"GROUP BY 2"), "20"), given) {
		t.Error("another spelling is not recalled")
	}
	for _, v := range []string{"21", "2", "+20"} { // the last is the same question, in another text
		if got := recalls(t, s, v); (got != nil) != (v == "+20") {
			t.Errorf("of %q: %q", v, got)
		}
	}
	for _, sql := range []string{"SELECT sex, avg(age) FROM adult WHERE age > $1::int GROUP BY sex",
		"SELECT education, avg(age) FROM adult WHERE age < $1::int GROUP BY education"} {
		if got := recalls(t, h.prepare(t, "alice", sql), "20"); got != nil {
			t.Errorf("of another question: %q", got)
		}
	}
	if _, ok := s.Recall(t.Context(), nil, [][]byte{nil}); ok {
		t.Error("NULL is recalled for another value")
	}
	if got, ok := s.Recall(t.Context(), []int16{1}, [][]byte{{0, 0, 0, 20}}); !ok || !alike(got.Values, given) {
		t.Error("in binary it is not recalled")
	}
}

// happening is something that happens while an answer is kept.
type happening struct {
	happens func(t *testing.T, h *house, books *memory.Ledger)
	stays   bool // the stored answer stands
}

// What is kept as it was bound is of one policy, and of the data that there are.
func TestRecalledIsDropped(t *testing.T) {
	patient.Test(t)
	const label = "\n\nanalysts:"
	for name, c := range map[string]happening{
		"nothing": {func(*testing.T, *house, *memory.Ledger) {}, true},
		"the same policy is loaded again": {func(t *testing.T, h *house, _ *memory.Ledger) {
			snapshot, _, err := loadExample(t)
			if err != nil {
				t.Fatal(err)
			}
			h.engine.Replace(snapshot)
		}, true},
		"a policy with another epsilon is loaded": {func(t *testing.T, h *house, _ *memory.Ledger) {
			snapshot, _, err := loadExample(t, "epsilon: 1 ", "epsilon: 0.5 ")
			if err != nil {
				t.Fatal(err)
			}
			h.engine.Replace(snapshot)
		}, false},
		"a policy of other data is loaded": {func(t *testing.T, h *house, books *memory.Ledger) {
			snapshot, _, err := loadExample(t, label, "\nepoch: {label: new}"+label)
			if err != nil {
				t.Fatal(err)
			}
			if err := account.BeginEpochs(t.Context(), books, snapshot.Policies); err != nil {
				t.Fatal(err)
			}
			h.engine.Replace(snapshot)
		}, true}, // it only names the epoch
		"the data are others": {func(t *testing.T, _ *house, books *memory.Ledger) {
			advance(t, books)
		}, false},
		"another proxy says that the data are others": {func(t *testing.T, _ *house, books *memory.Ledger) {
			advance(t, books.Ledger)
			books.Forget() // as it does after a while
		}, false},
		"the budget is reset": {func(t *testing.T, h *house, books *memory.Ledger) {
			if _, err := books.Ledger.(ledger.Manager).Reset(t.Context(), "adult",
				ledger.Why{Operator: "root", Reason: "test"}); err != nil {
				t.Fatal(err)
			}
		}, true}, // what was paid for is paid for
	} {
		t.Run(name, func(t *testing.T) { c.befalls(t) })
	}
}

// befalls has it happen to an answer that is kept.
func (c happening) befalls(t *testing.T) {
	h := newHouse(t)
	books := h.engine.desk.Ledger.(*memory.Ledger)
	before := h.prepare(t, "alice", byEducation)
	given := binds(t, before, "20")
	recalls(t, before, "20")
	if !alike(recalls(t, before, "20"), given) {
		t.Fatal("nothing is recalled")
	}
	snapshot := h.engine.snapshot.Load()
	c.happens(t, h, books)

	// What was prepared before a policy was replaced recalls nothing.
	replaced := h.engine.snapshot.Load() != snapshot
	if got := recalls(t, before, "20"); (got != nil) != (c.stays && !replaced) {
		t.Errorf("%q is recalled", got)
	}

	// What is prepared afterwards has the answer that stands, or a new one.
	after := h.prepare(t, "alice", byEducation)
	if n, _ := h.engine.snapshot.Load().recalled.Size(); replaced && n != 0 {
		t.Errorf("%d answers of another policy", n)
	}
	spent := h.releases(t)
	if got := recalls(t, after, "20"); (got != nil) != c.stays || c.stays && !alike(got, given) {
		t.Errorf("%q is recalled", got)
	}
	if got := binds(t, after, "20"); alike(got, given) != c.stays || (h.releases(t) == spent) != c.stays {
		t.Errorf("the same answer: %v; %d releases, and then %d", alike(got, given), spent, h.releases(t))
	}
}

func advance(t *testing.T, l ledger.Ledger) {
	t.Helper()
	if _, err := l.Advance(t.Context(), ledger.Epoch{Dataset: "adult", User: "root", Reason: "test"}); err != nil {
		t.Fatal(err)
	}
}

// releases are those that were charged to everybody.
func (h *house) releases(t *testing.T) int {
	t.Helper()
	answers, err := h.engine.desk.Ledger.Releases(t.Context(), "adult", 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(answers)
}

// Who has not paid for an answer does not get it from memory, nor who may not ask at all.
func TestRecallIsForThoseWhoPaid(t *testing.T) {
	patient.Test(t)
	h := newHouse(t, "per: dataset", "per: user")
	alice, bob := h.prepare(t, "alice", byEducation), h.prepare(t, "bob", byEducation)
	given := binds(t, alice, "20")
	for range 2 {
		if !alike(recalls(t, alice, "20"), given) || recalls(t, bob, "20") != nil {
			t.Fatal("not alice, or bob")
		}
	}
	if a, err := h.engine.desk.Ledger.Spent(t.Context(), "adult", ledger.UserScope("bob")); err != nil || len(a) != 0 {
		t.Fatal(a, err)
	}
	if !alike(binds(t, bob, "20"), given) {
		t.Error("bob got another answer")
	}
	paid, err := h.engine.desk.Ledger.Spent(t.Context(), "adult", ledger.UserScope("bob"))
	if err != nil || len(paid) == 0 || paid[0].Releases != 1 {
		t.Error(paid, err)
	}
	for range 2 {
		if !alike(recalls(t, bob, "20"), given) {
			t.Error("bob has paid, and nothing is recalled")
		}
	}
	if st, err := (&session{engine: h.engine, user: "mallory"}).Interpret(t.Context(), byEducation, nil); err == nil {
		t.Error("mallory may ask:", st)
	}
}

// away is a ledger that cannot be asked where a dataset stands.
type away struct {
	ledger.Ledger
	gone bool
}

func (l *away) Standing(ctx context.Context, dataset string, renew time.Duration) (ledger.Standing, error) {
	if l.gone {
		return ledger.Standing{}, errDown
	}
	return l.Ledger.Standing(ctx, dataset, renew)
}

// Where it is not known which data there are, nothing is recalled.
func TestNothingIsRecalledWithoutTheLedger(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	l := &away{Ledger: h.engine.desk.Ledger.(*memory.Ledger).Ledger}
	books := memory.Of(l)
	h.engine.desk.Ledger = books
	s := h.prepare(t, "alice", byEducation)
	given := binds(t, s, "20")
	recalls(t, s, "20")
	for _, l.gone = range []bool{false, true, false} {
		books.Forget()
		if got := recalls(t, s, "20"); alike(got, given) == l.gone {
			t.Errorf("with the ledger gone %v: %q", l.gone, got)
		}
	}
}

// Many bindings, and long ones, leave no more behind than the cache's bounds.
func TestRecalledStaysBounded(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	s := h.prepare(t, "alice", "SELECT count(*) FROM adult WHERE education <> $1")
	long := string(bytes.Repeat([]byte("x"), bindingBytes))
	for range 2 {
		given := binds(t, s, long)
		if got := recalls(t, s, long); !alike(got, given) {
			t.Errorf("%q is recalled", got)
		}
	}
	cache := h.engine.snapshot.Load().recalled
	if n, _ := cache.Size(); n != 0 {
		t.Errorf("%d long bindings are kept", n)
	}
	binds(t, s, "10th")
	if recalls(t, s, "10th"); true {
		if n, b := cache.Size(); n != 1 || b < 500 || b > 20_000 {
			t.Errorf("%d of %d bytes are kept", n, b)
		}
	}
}

func TestBindingKey(t *testing.T) {
	patient.Test(t)
	seen := map[string]string{}
	for _, formats := range [][]int16{nil, {0}, {1}, {0, 0}, {0, 1}, {1, 0}} {
		for _, values := range [][][]byte{{nil}, {{}}, {{0}}, {nil, nil}, {nil, {}}, {{}, nil}, {{}, {}},
			{[]byte("ab"), []byte("c")}, {[]byte("a"), []byte("bc")}, {[]byte("a\x00\x00\x00\x02bc")}} {
			key, ok := bindingKey(formats, values)
			what := fmt.Sprintf("%v %#v", formats, values)
			if other, twice := seen[key]; !ok || twice {
				t.Errorf("%s is %s", what, other)
			}
			seen[key] = what
		}
	}
}

// What fugu.estimate may ask about again is kept apart from the wire's bytes, which change, and once for all sessions
// that recall it.
func TestRecalledBindingIsKeptOnce(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	s, other := h.prepare(t, "alice", byEducation), h.prepare(t, "alice", byEducation)
	binds(t, s, "20")
	if recalls(t, s, "20") == nil {
		t.Fatal("nothing is recalled") // by what is asked, and from here on by what is bound
	}

	value := []byte("20")
	for _, st := range []*statement{s, other} {
		if _, ok := st.Recall(t.Context(), nil, [][]byte{value}); !ok {
			t.Fatal("nothing is recalled")
		}
	}
	mine, theirs := s.session.asked.values[0], other.session.asked.values[0]
	if &mine[0] != &theirs[0] {
		t.Error("each recall makes a copy of what was bound")
	}
	if copy(value, "99"); string(mine) != "20" {
		t.Errorf("what was asked became %s with the wire's bytes", mine)
	}
}
