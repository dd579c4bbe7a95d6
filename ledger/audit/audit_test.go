package audit

import (
	"strings"
	"testing"
	"time"

	"fugu/privacy"
)

var at = time.Date(2026, 11, 23, 8, 30, 0, 123456000, time.UTC)

// full is an entry of which every field is there.
func full() Entry {
	until, began := at.Add(time.Second), at
	return Entry{Number: 7, At: at, Event: Release, Before: &Before{1, 2, "d"}, Dataset: "adult", Epoch: 3, Period: 4,
		Scope: "@g", User: "alice", Answer: 5, Key: "k",
		Losses:    map[string]privacy.Loss{"income": {Pure: 1, Kappa2: .25, Delta: 1e-9}, "age": {}},
		Requested: &privacy.Budget{Epsilon: 1, Delta: 1e-6}, Mechanism: "gaussian", Assumption: "translation",
		Certificates: []Certificate{{Secret: "income", Mechanism: "m", Assumptions: []string{"a"},
			Pair: [2]float64{.1, .2}, Epsilon: 1, Delta: 2, Estimation: 3, Together: 4}},
		Failed: true, Content: "c", Terms: "t", Label: "l", Independent: true, Reason: "r", Began: &began,
		Statement: "s", Code: "PV001", Times: 2, Until: &until,
		Dropped: &Dropped{Before: at, Answers: 6, Digest: "x"}}
}

// What is written once is read for ever: a link, a key that nobody has, and digests are byte by byte what the first
// Fugu with a chain wrote. The digests below were made by it.
func TestBytesStay(t *testing.T) {
	books, err := NewBooks(NewDone(nil, nil, nil), []Answer{{ID: 1, Key: "k", Dataset: "adult", Content: "c"}},
		[]Charge{{ID: 1, Answer: 1, Secret: "income", User: "alice", At: 12,
			Loss: privacy.Loss{Pure: 1, Kappa2: .25, Delta: 1e-9}}})
	if err != nil {
		t.Fatal(err)
	}
	link := func(c Chain, before string, e Entry) string {
		l, err := c.Follow(before, e)
		if err != nil {
			t.Fatal(err)
		}
		return l.Hash
	}
	for _, c := range []struct{ name, got, want string }{
		{"link", link(Chain{}, "before", full()), "46df92fa2ac93b22e2a17c3931b6a778eeb4679ce965499f8803727695a9a668"},
		{"link with a key", link(NewChain([]byte("key")), "before", full()),
			"7151f537f05a9b8babb793ff20dfd5585920c9eaad8f5dd0a199dbd20b97f56a"},
		{"first link", link(Chain{}, "", Entry{At: at, Event: Begin}),
			"50752321efeaca492767ae50f739412ada78d9ef15a82e01d9b6d75c7b73d682"},
		{"nobody", Drop{Answer: 5, Key: "k", Content: "c"}.Nobody(),
			"14d0896b6b3c35ff2910dbc7ca50b01eeb6e9dd35c4c7ea5756af315d90a4e4a"},
		{"drops", Digest([]Drop{{5, "k", "c", 9}, {6, "j", "b", 9}}),
			"bbcb8584f81e012edeabcfca7d912c21584b1d076b171b62fd00c0f5ed5d88fd"},
		{"before", books.Begin(at).Before.Digest, "6a82de89d62a34321d626ca23f1e56a1360d3db20b03b4553a03a615ba59ec3e"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

// A walk takes the chain that was made and no other: not one of which a link is missing, comes twice, was changed, or
// was made with another key.
func TestWalk(t *testing.T) {
	keyed := NewChain([]byte("key"))
	var sound []Link
	before := ""
	for n := range int64(3) {
		l, err := keyed.Follow(before, Entry{Number: n, At: at, Event: Lost, Times: n})
		if err != nil {
			t.Fatal(err)
		}
		sound, before = append(sound, l), l.Hash
	}
	walk := func(c Chain, numbers []int64, links ...Link) (Link, error) {
		w := c.Walk()
		for i, l := range links {
			if err := w.Step(numbers[i], l); err != nil {
				return Link{}, err
			}
		}
		return w.End()
	}

	if last, err := walk(keyed, []int64{0, 1, 2}, sound...); err != nil || last != sound[2] {
		t.Errorf("the chain as it was made: %v, %v", last, err)
	}
	changed := Link{strings.Replace(sound[1].Text, `"times":1`, `"times":2`, 1), sound[1].Hash}
	for name, err := range map[string]error{
		"nothing":     second(walk(keyed, nil)),
		"missing":     second(walk(keyed, []int64{0, 2}, sound[0], sound[2])),
		"renumbered":  second(walk(keyed, []int64{0, 1}, sound[0], sound[2])),
		"twice":       second(walk(keyed, []int64{0, 0}, sound[0], sound[0])),
		"changed":     second(walk(keyed, []int64{0, 1}, sound[0], changed)),
		"another key": second(walk(Chain{}, []int64{0}, sound[0])),
	} {
		if err == nil {
			t.Errorf("%s: nothing was found", name)
		}
	}
}

func second(_ Link, err error) error { return err }
