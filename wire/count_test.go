package wire

import (
	"context"
	"fmt"
	"testing"
	"time"

	"fugu/sqlstate"
)

// kinded is a statement that is counted as a kind.
type kinded struct{ Kind }

func (kinded) Text() string                                 { return "" }
func (kinded) Ordinary() bool                               { return false }
func (kinded) ParamTypes() []uint32                         { return nil }
func (kinded) ClientParams() int                            { return 0 }
func (kinded) Tag() string                                  { return "" }
func (kinded) Bind(context.Context, Binding) (Bound, error) { return Bound{}, nil }
func (k kinded) Counted() Kind                              { return k.Kind }

// Waits are counted by steps, of statements about protected rows alone, and codes up to a number.
func TestTally(t *testing.T) {
	var l tally
	for _, ago := range []time.Duration{0, 40 * time.Millisecond, time.Minute, time.Hour} {
		l.waited(kinded{Protected}, time.Now().Add(-ago))
		l.waited(kinded{Twin}, time.Now().Add(-ago))
		l.waited(nil, time.Now().Add(-ago))
	}
	if got, want := l.counts().Waits, [len(WaitBounds) + 1]int64{1, 0, 1, 0, 0, 0, 0, 1, 1}; got != want {
		t.Errorf("waits are counted as %v, want %v", got, want)
	}
	for i := 1; i < len(WaitBounds); i++ {
		if WaitBounds[i] != 4*WaitBounds[i-1] {
			t.Errorf("%v behind %v", WaitBounds[i], WaitBounds[i-1])
		}
	}
	for i := range 3 * mostCodes {
		l.failed(sqlstate.Code(fmt.Sprintf("%05d", i)))
	}
	errors := l.counts().Errors
	if len(errors) != mostCodes+1 || errors[sqlstate.InternalError] != 2*mostCodes {
		t.Errorf("%d codes are counted, and %d without theirs", len(errors), errors[sqlstate.InternalError])
	}
}

// A server counts sessions that come and go, what they ask in both protocols (say asks once more), and guests.
func TestCounts(t *testing.T) {
	p := pooled(t, Pool{Size: 2})
	a, b := dial(t, p.address), dial(t, p.address)
	a.say(t, script{q("SELECT 1"), "Z", parse("s", "SELECT 1"), bind("", "s"), exec(""), bind("", "s"), exec(""), sync_,
		"Z"})
	_ = b.Close()
	eventually(t, "a session has ended", func() bool { return p.server.Counts().Sessions == 1 })
	c := p.server.Counts()
	if c.Begun != 2 || c.Statements[Plain] != 4 || !c.Pooled || c.Places != 2 || c.Guests < 1 || c.Queue != 0 {
		t.Errorf("counted %+v", c)
	}
	a.say(t, script{q("SELECT sum(x) FROM noisy /*p*/"), "Z"})
	if own := p.server.Counts().Statements[Own]; own != 1 {
		t.Errorf("%d statements are the engine's", own)
	}
}
