package wire

import (
	"slices"
	"testing"

	"fugu/sqlstate"
)

// told collects how entries ended.
type told []string

func (o *told) entry(kind byte, name string) entry {
	return entry{kind: kind, done: func(how ending) {
		*o = append(*o, name+[]string{" succeeded", " failed", " dropped"}[how])
	}}
}

func (o *told) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(*o, want) {
		t.Errorf("told %q, want %q", *o, want)
	}
	*o = nil
}

func outstanding(x *exchange) string {
	var s []byte
	for _, e := range x.entries {
		s = append(s, e.kind)
	}
	return string(s)
}

func pushAll(x *exchange, kinds string) {
	for _, k := range []byte(kinds) {
		x.push(entry{kind: k})
	}
}

func TestExchangeInOrder(t *testing.T) {
	var o told
	x := newExchange('I')
	if x.wait(0) != settled || !x.free() {
		t.Error("a new exchange is not settled")
	}
	x.push(o.entry(kindParse, "parse"))
	x.push(o.entry(kindBind, "bind"))
	x.push(o.entry(kindSync, "sync"))
	if e, ok := x.head(); !ok || e.kind != kindParse {
		t.Errorf("head %c", e.kind)
	}
	x.pop()
	o.want(t, "parse succeeded")
	if x.ready('I') {
		t.Error("a ReadyForQuery before its Sync")
	}
	x.pop()
	if !x.ready('T') {
		t.Error("no ReadyForQuery for the Sync")
	}
	o.want(t, "bind succeeded", "sync succeeded")
	if x.wait(0) != settled || x.transaction() != 'T' || x.free() {
		t.Error("not settled in a transaction")
	}
	if x.ready('I') {
		t.Error("a ReadyForQuery that nothing asked for")
	}
	if _, ok := x.head(); ok {
		t.Error("something is outstanding")
	}
}

func TestExchangeSkipsToTheNextSync(t *testing.T) {
	var o told
	x := newExchange('I')
	x.push(o.entry(kindParse, "parse"))
	x.push(o.entry(kindBind, "bind"))
	x.fail()
	o.want(t, "parse failed", "bind dropped")
	if x.wait(0) != skipped {
		t.Error("it does not skip")
	}
	x.push(o.entry(kindExecute, "execute"))
	x.push(o.entry(kindQuery, "query"))
	o.want(t, "execute dropped", "query dropped")
	x.push(o.entry(kindSync, "sync"))
	x.push(o.entry(kindParse, "next"))
	if got := outstanding(x); got != "SP" {
		t.Errorf("outstanding %q", got)
	}
	if !x.ready('I') {
		t.Error("no ReadyForQuery for the Sync")
	}
	o.want(t, "sync succeeded")
}

func TestExchangeErrorStopsAtASyncThatWasSent(t *testing.T) {
	x := newExchange('I')
	pushAll(x, "PBESPBS")
	x.fail()
	if got := outstanding(x); got != "SPBS" {
		t.Errorf("outstanding %q", got)
	}
	if skipping, _ := x.mode(); skipping {
		t.Error("it skips beyond the Sync")
	}
}

func TestExchangeErrorsOfQueryAndSyncAreFollowedByReady(t *testing.T) {
	for _, kind := range []byte{kindQuery, kindSync} {
		x := newExchange('I')
		pushAll(x, string(kind)+"P")
		x.fail()
		if got := outstanding(x); got != string(kind)+"P" {
			t.Errorf("outstanding %q", got)
		}
		if !x.ready('E') || outstanding(x) != "P" {
			t.Errorf("after ReadyForQuery outstanding %q", outstanding(x))
		}
	}
}

func TestExchangeBeforeGoesOutOnce(t *testing.T) {
	x := newExchange('I')
	x.push(entry{kind: kindBind, before: notices([]Notice{{Message: "m"}})})
	if e, _ := x.head(); len(e.before) != 1 {
		t.Error("no notice")
	}
	if e, _ := x.head(); len(e.before) != 0 {
		t.Error("a notice twice")
	}
}

func TestExchangeCopyInIgnoresSync(t *testing.T) {
	x := newExchange('I')
	pushAll(x, "ESS")
	if err := x.startCopyIn(); err != nil {
		t.Fatal(err)
	}
	pushAll(x, "S")
	if got := outstanding(x); got != "E" {
		t.Errorf("outstanding %q", got)
	}
	if x.wait(0) != copying {
		t.Error("it waits for a copy that has no end")
	}
	pushAll(x, "cSP")
	x.pop()
	if got := outstanding(x); got != "SP" {
		t.Errorf("outstanding %q", got)
	}
	if !x.ready('I') || x.ready('I') {
		t.Error("not one ReadyForQuery, but another number")
	}
}

func TestExchangeCopyInThatWasSentWhole(t *testing.T) {
	x := newExchange('I')
	pushAll(x, "EScSPS")
	if err := x.startCopyIn(); err != nil {
		t.Fatal(err)
	}
	if got := outstanding(x); got != "EcSPS" {
		t.Errorf("outstanding %q", got)
	}
}

// A copy may fail before the server has read the Sync sent with it, and then the Sync is answered.
func TestExchangeFailedCopyMayAnswerItsSync(t *testing.T) {
	x := newExchange('I')
	pushAll(x, "ES")
	if err := x.startCopyIn(); err != nil {
		t.Fatal(err)
	}
	x.fail()
	if !x.ready('I') {
		t.Error("the Sync is not answered")
	}
	if x.ready('I') {
		t.Error("the Sync is answered twice")
	}
	if skipping, _ := x.mode(); skipping || x.wait(0) != settled {
		t.Error("it goes on skipping")
	}
}

func TestExchangeEndsACopyInAScript(t *testing.T) {
	x := newExchange('I')
	x.push(entry{kind: kindExecute, script: true})
	if err := x.startCopyIn(); err != errCopyInScript {
		t.Fatalf("got %v", err)
	}
	if x.wait(0) != copying {
		t.Error("the frontend is not told to end the copy")
	}
	if e, _ := x.head(); !sqlstate.Is(e.replace, sqlstate.FeatureNotSupported) {
		t.Errorf("replaced by %v", e.replace)
	}
	x.fail()
	if x.wait(0) != skipped {
		t.Error("the copy is still to be ended")
	}
}

func TestExchangeMessageBehindACopy(t *testing.T) {
	x := newExchange('I')
	pushAll(x, "ESP")
	if err := x.startCopyIn(); err != errDuringCopy {
		t.Errorf("got %v", err)
	}
}

func TestExchangeCloseEndsEverything(t *testing.T) {
	var o told
	x := newExchange('I')
	x.push(o.entry(kindParse, "parse"))
	waits := make(chan outcome)
	go func() { waits <- x.wait(0) }()
	x.close()
	if got := <-waits; got != gone {
		t.Errorf("woken with %d", got)
	}
	x.push(o.entry(kindBind, "bind"))
	o.want(t, "parse dropped", "bind dropped")
	x.pop() // the backend may be about to
	x.fail()
	x.ready('I')
	if err := x.startCopyIn(); err != nil {
		t.Error(err)
	}
}

func TestExchangeKeepsOrderWhileItGrows(t *testing.T) {
	x := newExchange('I')
	next, seen := 0, 0
	for range 1000 {
		for range 3 {
			x.push(entry{kind: kindBind, params: next})
			next++
		}
		for range 2 {
			if e, _ := x.head(); e.params != seen {
				t.Fatalf("entry %d comes in place of %d", e.params, seen)
			}
			x.pop()
			seen++
		}
	}
	if !x.crowded(999) || x.crowded(1000) {
		t.Errorf("%d outstanding", len(x.entries))
	}
	for ; seen < next; seen++ {
		if e, _ := x.head(); e.params != seen {
			t.Fatalf("entry %d comes in place of %d", e.params, seen)
		}
		x.pop()
	}
	if idle, _ := x.idle(); !idle || x.wait(0) != settled {
		t.Error("not idle")
	}
}

// names of protected statements change when the server has said so, and as it says.
func TestNames(t *testing.T) {
	st, other := &fakeStatement{text: "a"}, &fakeStatement{text: "b"}
	tests := map[string]struct {
		name   string
		before Statement
		change Statement
		how    ending
		want   Statement
	}{
		"taken":                           {"s", nil, st, succeeded, st},
		"not taken after an error":        {"s", nil, st, failed, nil},
		"kept after an error":             {"s", st, other, failed, st},
		"kept when skipped":               {"s", st, nil, dropped, st},
		"freed":                           {"s", st, nil, succeeded, nil},
		"unnamed replaced":                {"", st, other, succeeded, other},
		"unnamed dropped by an error":     {"", st, other, failed, nil},
		"unnamed kept when skipped":       {"", st, other, dropped, st},
		"unnamed replaced by an ordinary": {"", st, nil, succeeded, nil},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			var n names
			if c.before != nil {
				n.changing(c.name, c.before)(succeeded)
			}
			done := n.changing(c.name, c.change)
			if _, open := n.get([]byte(c.name)); !open {
				t.Error("the change is not open")
			}
			done(c.how)
			if got, open := n.get([]byte(c.name)); got != c.want || open {
				t.Errorf("got %v, open %v", got, open)
			}
		})
	}
	var n names
	if n.changing("s", nil) != nil {
		t.Error("a session without protected statements keeps books")
	}
}

// Copies of which the proxy cannot know beforehand which Sync the server heeds.
func TestFailingCopyPipelines(t *testing.T) {
	p := serve(t, nil)
	copyInto := func(table string) script {
		return script{parse("", "COPY "+table+" FROM STDIN"), bind("", ""), exec("")}
	}
	next := script{parse("", "SELECT 'next'"), bind("", ""), exec(""), sync_}
	for name, s := range map[string]script{
		"never starts":                       append(copyInto("seen"), sync_, "Z"),
		"never starts, whole in one write":   append(copyInto("seen"), sync_, data("1\n"), copyDone, sync_, "ZZ"),
		"never starts, given up":             append(copyInto("seen"), sync_, copyFail, sync_, "ZZ"),
		"bad data, no end":                   append(copyInto("c"), flush, "G", data("x\n"), sync_, "Z"),
		"bad data, end in one write":         append(copyInto("c"), sync_, data("x\n"), copyDone, sync_, "Z"),
		"no table":                           append(copyInto("none"), sync_, data("x\n"), copyDone, sync_, "ZZ"),
		"simple, never starts":               {q("COPY seen FROM STDIN"), data("1\n"), copyDone, "Z"},
		"simple, bad data, two in the query": {q("COPY c FROM STDIN; COPY c FROM STDIN"), "G", data("x\n"), copyDone, "Z"},
		"simple, two in the query":           {q("COPY c FROM STDIN; COPY c FROM STDIN"), "G", data("1\n"), copyDone, "G", data("2\n"), copyDone, "Z"},
	} {
		t.Run(name, func(t *testing.T) {
			s = slices.Concat(script{q(copyTable), "Z"}, s, next, script{"Z", parse("", protected), bind("", ""), exec(""), sync_, "Z"})
			same(t, p, s)
		})
	}
}
