package wire

import (
	"net"
	"testing"
	"time"
)

// refusesClients waits until nobody is let in any more.
func (p *proxy) refusesClients(t *testing.T) {
	t.Helper()
	eventually(t, "no new clients are taken", func() bool {
		c, err := net.Dial("tcp", p.address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
}

// ends waits for the end of Serve.
func (p *proxy) ends(t *testing.T) {
	t.Helper()
	err := <-p.done
	p.done <- err
	if err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// A server that is retired takes no more clients and leaves those that it has in peace, idle ones too, until the last
// has gone by itself.
func TestRetire(t *testing.T) {
	p := serve(t, nil)
	idle, transaction := dial(t, p.address), dial(t, p.address)
	transaction.say(t, script{q("BEGIN"), "Z"})
	p.server.Retire(patience)
	p.refusesClients(t)
	for range 2 {
		compare(t, idle.say(t, script{q("SELECT 1"), "Z"}),
			[]string{"T ?column?:23/-1/0", `D ["1"]`, `C "SELECT 1\x00"`, ready})
	}
	compare(t, transaction.say(t, script{q("COMMIT"), "Z"}), []string{`C "COMMIT\x00"`, ready})

	_ = transaction.Close()
	select {
	case err := <-p.done:
		t.Fatalf("Serve has ended beside a client: %v", err)
	default:
	}
	_ = idle.Close()
	p.ends(t)
	stopped(t, p)
}

// Its patience has an end, and so has it when it is told to stop: then clients are sent away as at any stop.
func TestRetireEnds(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration
		stop     bool
	}{"patience": {time.Millisecond, false}, "stopped": {patience, true}} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, nil)
			idle := dial(t, p.address)
			p.server.Retire(c.patience)
			if c.stop {
				p.cancel()
			}
			compare(t, idle.rest(t), []string{shutdown})
			p.ends(t)
			stopped(t, p)
		})
	}
}
