//go:build fuguhooks

package main

import (
	"context"
	"crypto/sha256"
	big "encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/privacy"
)

// faultEnv names the fault that planted plants.
const faultEnv = "FUGUHOOKS_FAULT"

// grantsEnv says how often a proxy looks at grants.
const grantsEnv = "FUGUHOOKS_GRANTS"

func grantsEvery() time.Duration {
	if every, err := time.ParseDuration(os.Getenv(grantsEnv)); err == nil {
		return every
	}
	return time.Minute
}

// planted plants a fault in the ledger, which a test of kills has to find.
func planted(l ledger.Ledger) ledger.Ledger {
	l = asked{l}
	switch fault := os.Getenv(faultEnv); fault {
	case "", talkative:
		return l
	case "promiseless": // as a version did that kept no promises
		hook.Promiseless = true
		return l
	case "late":
		return &late{Ledger: l}
	case "split":
		return split{l}
	case "forgetful":
		return forgetful{l, fmt.Sprint(os.Getpid())}
	case "generous":
		return generous{l}
	default:
		panic("there is no fault " + fault)
	}
}

// asked names the points of the ledger's statements by what it was asked on the way of an answer.
type asked struct{ ledger.Ledger }

func (a asked) Find(ctx context.Context, key ledger.Key, scopes ...string) (ledger.Answer, bool, error) {
	return a.Ledger.Find(hook.Within(ctx, "find"), key, scopes...)
}

func (a asked) Promised(ctx context.Context, dataset string, renew time.Duration) (ledger.Promised, error) {
	return a.Ledger.Promised(hook.Within(ctx, "promised"), dataset, renew)
}

func (a asked) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	return a.Ledger.Charge(hook.Within(ctx, "charge"), c)
}

func (a asked) Give(ctx context.Context, o ledger.Outcome) (ledger.Answer, error) {
	return a.Ledger.Give(hook.Within(ctx, "give"), o)
}

func (a asked) Abandon(ctx context.Context, key ledger.Key, id int64, user string) error {
	return a.Ledger.Abandon(hook.Within(ctx, "abandon"), key, id, user)
}

func (a asked) Standing(ctx context.Context, dataset string, renew time.Duration) (ledger.Standing, error) {
	return a.Ledger.Standing(hook.Within(ctx, "standing"), dataset, renew)
}

func (a asked) Spent(ctx context.Context, dataset, scope string) ([]ledger.Account, error) {
	return a.Ledger.Spent(hook.Within(ctx, "spent"), dataset, scope)
}

func (a asked) Refuse(ctx context.Context, refusals []ledger.Refusal, lost int64) error {
	return a.Ledger.Refuse(hook.Within(ctx, "refuse"), refusals, lost)
}

// late gives an answer before it charges for it, when it is asked for the next.
type late struct {
	ledger.Ledger
	mu    sync.Mutex
	owed  []ledger.Charge
	given map[ledger.Key]ledger.Outcome
}

// Find brings the charges that are owed to the ledger before it looks: those whose answers are there.
func (l *late) Find(ctx context.Context, key ledger.Key, scopes ...string) (ledger.Answer, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	var waiting []ledger.Charge
	for _, c := range l.owed {
		o, ok := l.given[c.Key]
		if !ok {
			waiting = append(waiting, c)
			continue
		}

		// The answer is given again, for the charge that it belongs to now.
		a, err := l.Ledger.Charge(ctx, c)
		if err == nil {
			o.Charged = a
			_, err = l.Ledger.Give(ctx, o)
		}
		if err != nil {
			return ledger.Answer{}, false, err
		}
	}

	l.owed = waiting
	a, ok, err := l.Ledger.Find(ctx, key, scopes...)
	for _, c := range waiting {
		if c.Key == key && !ok && err == nil {
			a = pendingOf(c)
		}
	}
	return a, ok, err
}

func (l *late) Charge(_ context.Context, c ledger.Charge) (ledger.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owed = append(l.owed, c)
	a := pendingOf(c)
	a.Fresh = true
	return a, nil
}

// pendingOf is what the ledger would have of a charge that is owed.
func pendingOf(c ledger.Charge) ledger.Answer {
	return ledger.Answer{Bytes: c.Answer, Losses: c.Losses, Mechanism: c.Mechanism, Assumption: c.Assumption,
		Requested: c.Requested, Pending: true}
}

func (l *late) Give(_ context.Context, o ledger.Outcome) (ledger.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.given == nil {
		l.given = map[ledger.Key]ledger.Outcome{}
	}
	l.given[o.Key] = o
	a := o.Charged
	a.Bytes, a.Cells, a.Pending = o.Answer, o.Cells, false
	return a, nil
}

// split charges in one transaction, and stores the answer in the next.
type split struct{ ledger.Ledger }

func (s split) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	cost := c
	cost.Key = derived(c.Key, "cost")
	if _, err := s.Ledger.Charge(ctx, cost); err != nil {
		return ledger.Answer{}, err
	}
	free := make(map[string]privacy.Loss, len(c.Losses))
	for secret := range c.Losses {
		free[secret] = privacy.Loss{}
	}
	c.Losses = free
	return s.Ledger.Charge(ctx, c)
}

// forgetful does not know its answers again after a restart, and charges for another one.
type forgetful struct {
	ledger.Ledger
	salt string
}

func (f forgetful) Find(ctx context.Context, key ledger.Key, scopes ...string) (ledger.Answer, bool, error) {
	return f.Ledger.Find(ctx, derived(key, f.salt), scopes...)
}

func (f forgetful) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	c.Key = derived(c.Key, f.salt)
	return f.Ledger.Charge(ctx, c)
}

func (f forgetful) Give(ctx context.Context, o ledger.Outcome) (ledger.Answer, error) {
	o.Key = derived(o.Key, f.salt)
	return f.Ledger.Give(ctx, o)
}

// generous looks at the budget only before it reads, when others may be about to spend the same.
type generous struct{ ledger.Ledger }

func (g generous) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	c.Limit.Epsilon *= 1e6
	return g.Ledger.Charge(ctx, c)
}

func derived(key ledger.Key, salt string) ledger.Key {
	sum := sha256.Sum256([]byte(string(key) + salt))
	return ledger.Key(hex.EncodeToString(sum[:]))
}

// pointed has points before, amid and after everything that clients are sent.
func pointed(l net.Listener) net.Listener { return pointedListener{l} }

type pointedListener struct{ net.Listener }

func (l pointedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return listening(&pointedConn{Conn: c}), nil
}

type pointedConn struct {
	net.Conn
	rows rowsSeen
}

// piece is how much of a reply, in bytes, goes out from one point to the next.
const piece = 48

func (c *pointedConn) Write(b []byte) (written int, err error) {
	hook.Point("before sending")
	for len(b) > 0 && err == nil {
		var n int
		n, err = c.Conn.Write(b[:min(len(b), piece)])
		c.rows.look(b[:n])
		written, b = written+n, b[n:]

		// How many points there are before the rows depends on what else a client is told, and how long that is.
		switch {
		case len(b) > 0 && c.rows.begun:
			hook.Point("rows: amid sending")
		case len(b) > 0:
			hook.Point("amid sending")
		}
	}
	hook.Point("after sending")
	return written, err
}

// rowsSeen looks at what a client is sent, for a DataRow; it is none that is encrypted.
type rowsSeen struct {
	begun  bool   // something of a row was sent
	header []byte // of the message that is being sent, as much as there is of it
	body   int    // what is left of that message
}

func (r *rowsSeen) look(b []byte) {
	const header = 5 // a byte for its type, and four for the length of itself and the body
	for len(b) > 0 {
		if r.body > 0 {
			n := min(r.body, len(b))
			r.body, b = r.body-n, b[n:]
			continue
		}

		r.begun = r.begun || len(r.header) == 0 && b[0] == 'D'
		r.header, b = append(r.header, b[0]), b[1:]
		if len(r.header) == header {
			r.body = int(big.BigEndian.Uint32(r.header[1:])) - (header - 1)
			r.header = r.header[:0]
		}
	}
}
