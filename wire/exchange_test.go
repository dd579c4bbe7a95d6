package wire

import (
	"slices"
	"strings"
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
	x.fail("22012")
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
	x.fail("22012")
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
		x.fail("22012")
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

func TestExchangeCopies(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string // pushed before and after the server says that it reads a copy
		error         string // that the copy ends with; empty: it succeeds
		want          string // outstanding then
		skipping      bool
		stray         int
	}{
		"syncs are ignored":                  {before: "ESS", after: "SkSc", want: ""},
		"the sync behind it counts":          {before: "ES", after: "kScSP", want: "SP"},
		"sent whole":                         {before: "EkScSPS", want: "SPS"},
		"in a query":                         {before: "Q", after: "kcQ", want: "QQ"},
		"bad data":                           {before: "ES", after: "k", error: "22P02", skipping: true, stray: 1},
		"bad data, then a sync":              {before: "ES", after: "kS", error: "22P02", skipping: true, stray: 2},
		"bad data, sent whole":               {before: "EkcSP", error: "22P02", want: "SP"},
		"bad data in a query":                {before: "Q", after: "kS", error: "22P02", want: "Q", stray: 1},
		"given up by the client":             {before: "ES", after: "cS", error: "57014", want: "S", stray: 1},
		"canceled while it waits":            {before: "ES", error: "57014", skipping: true, stray: 1},
		"fails before it reads":              {before: "ES", error: "42809", want: "S"},
		"fails before it reads, then others": {before: "ESPBES", error: "42809", want: "SPBES"},
		"fails before it reads, no sync":     {before: "EPBES", error: "42809", want: "S"},
		"data that came too late":            {before: "ESkcSP", error: "42809", want: "SP", stray: 1},
		"another message in it":              {before: "EP", error: "08P01", skipping: true},
	} {
		t.Run(name, func(t *testing.T) {
			x := newExchange('I')
			pushAll(x, c.before)
			x.startCopyIn()
			pushAll(x, c.after)
			switch {
			case c.error != "":
				x.fail(c.error)
			case c.before[0] == 'Q':
				x.copyDone()
			default:
				x.pop()
			}
			if got := outstanding(x); got != c.want {
				t.Errorf("outstanding %q, want %q", got, c.want)
			}
			if skipping, copyIn := x.mode(); skipping != c.skipping || copyIn || x.stray != c.stray {
				t.Errorf("skipping %v, in a copy %v, %d stray", skipping, copyIn, x.stray)
			}
			for range c.stray + strings.Count(c.want, "S") + strings.Count(c.want, "Q") {
				for x.stray == 0 && len(x.entries) > 0 && !strings.ContainsRune("SQ", rune(x.entries[0].kind)) {
					x.pop()
				}
				if !x.ready('I') {
					t.Error("a ReadyForQuery that may come is not expected")
				}
			}
			if x.ready('I') {
				t.Error("a ReadyForQuery too many")
			}
		})
	}
}

func TestExchangeInACopy(t *testing.T) {
	x := newExchange('I')
	pushAll(x, "E")
	x.startCopyIn()
	if x.wait(0) != copying {
		t.Error("it waits for a copy that has no end")
	}
	e := sqlstate.New(sqlstate.ProtocolViolation, "misplaced")
	if h, _ := x.head(); h.replace != nil || !x.giveUp(e) {
		t.Error("the copy is not given up")
	}
	x.push(entry{kind: kindCopyEnd, hidden: true})
	if h, _ := x.head(); h.replace != e || x.giveUp(e) {
		t.Error("it is given up twice")
	}
	x.fail("42809") // it had failed by itself
	if x.giveUp(e) {
		t.Error("a copy that has failed is given up")
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
	x.fail("22012")
	x.ready('I')
	x.startCopyIn()
	x.copyDone()
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
				n.changing(c.name, c.before, 0)(succeeded)
			}
			done := n.changing(c.name, c.change, 0)
			if _, sent, open := n.get([]byte(c.name), 0); !open || sent != c.change {
				t.Error("the change is not open, or another")
			}
			if _, sent, _ := n.get([]byte(c.name), 1); sent != nil {
				t.Error("behind a Sync it is believed that the change came about")
			}
			done(c.how)
			if got, _, open := n.get([]byte(c.name), 0); got != c.want || open {
				t.Errorf("got %v, open %v", got, open)
			}
		})
	}
	var n names
	if n.changing("s", nil, 0) != nil {
		t.Error("a session without protected statements keeps books")
	}
}
