package wire

import (
	"net"
	"strings"
	"sync"
	"testing"
)

// tapped is a guest's connection of which a test sees what is sent to it.
type tapped struct {
	net.Conn
	mu   sync.Mutex
	sent []byte
}

func (c *tapped) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.sent = append(c.sent, b...)
	c.mu.Unlock()
	return c.Conn.Write(b)
}

// messages are the types of the messages that were sent since the last call, with the text of a Query or Parse.
func (c *tapped) messages() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for b := c.sent; len(b) >= 5; {
		n := 1 + int(b[1])<<24 + int(b[2])<<16 + int(b[3])<<8 + int(b[4])
		typ := string(b[:1])
		if typ == "Q" || typ == "P" {
			typ += " " + strings.Trim(strings.ReplaceAll(string(b[5:n]), "\x00", " "), " ")
		}
		out, b = append(out, typ), b[n:]
	}
	c.sent = nil
	return strings.Join(out, ", ")
}

// dialTapped gives a client, and the tap at its guest.
func dialTapped(t *testing.T) (*proxy, *peer, *tapped) {
	t.Helper()
	taps := make(chan *tapped, 1)
	p := serve(t, func(_ *Config, f *fake) {
		f.tap = func(c net.Conn) net.Conn {
			tap := &tapped{Conn: c}
			taps <- tap
			return tap
		}
	})
	return p, dial(t, p.address), <-taps
}

// Where nothing but a text has to be changed, the guest is sent what the client sent, message by message.
func TestRelayedIsNothingElse(t *testing.T) {
	p, c, tap := dialTapped(t)
	const text = "SELECT x FROM twin /*p*/ /*renamed*/ WHERE x < $1 ORDER BY x"
	guests := strings.ReplaceAll(text, "twin", "noisy")
	rows := `D ["1"], D ["2"]`
	ask := func(when string, s script, sent string, told ...string) {
		t.Helper()
		tap.messages()
		got := strings.Join(c.run(t, s), ", ")
		if now := tap.messages(); !strings.HasPrefix(now, sent) {
			t.Errorf("%s: the guest was sent %s\nand not %s", when, now, sent)
		}
		for _, want := range told {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwithout %s", when, got, want)
			}
		}
	}
	pipeline := script{parse("", text), bind("", "", "3"), describeP(""), exec(""), sync_, "Z"}
	simple := func(text string) script { return script{q(strings.ReplaceAll(text, "$1", "3")), "Z"} }
	ask("once", pipeline, "P "+guests+", B, D, E, S", rows)
	ask("prepare", script{parse("s", text), sync_, "Z"}, "P s "+guests+", S", `Z "I"`)
	ask("by name", script{bind("", "s", "3"), exec(""), sync_, "Z"}, "B, E, S", rows)
	two := script{q("BEGIN"), "Z", bind("p", "s", "3"), bind("q", "s", "2"), exec("p"), exec("q"), sync_, "Z"}
	ask("two portals", append(two, q("ROLLBACK"), "Z"),
		"Q BEGIN, B, B, E, E, S, Q ROLLBACK", rows+`, C "SELECT 2\x00", D ["1"], C "SELECT 1\x00"`)
	ask("simple", simple(text), "Q "+strings.ReplaceAll(guests, "$1", "3")+", ", rows)
	ask("simple, several", simple("SELECT 8;"+text+"; SELECT 9"),
		"Q SELECT 8;"+strings.ReplaceAll(guests, "$1", "3")+"; SELECT 9, ", `D ["8"]`, rows, `D ["9"]`)
	damaged := bind("", "s", "3")
	damaged.ParameterFormatCodes = []int16{0, 0, 0}
	ask("damaged", script{damaged, sync_, "Z"}, "B, S", "08P01")
	ask("too few parameters", script{bind("", "s"), sync_, "Z"}, "B, S", "08P01 bind message supplies 0 parameters")
	ask("deallocated", script{q("DEALLOCATE s"), "Z", bind("", "s", "3"), sync_, "Z"}, "Q DEALLOCATE s, B, S", "26000")

	// Behind what fails nothing runs, and what has failed is not believed in.
	failing := script{parse("", strings.Replace(text, "x <", "nosuch <", 1)), bind("", "", "3"), exec(""), sync_, "Z"}
	ask("a Parse that fails", append(failing, bind("", "", "3"), sync_, "Z"), "P ", "42703", "26000")
	taken := script{parse("k", protected), sync_, "Z", parse("k", text), bind("", "k", "3"), sync_, "Z"}
	ask("a name that is taken", append(taken, bind("", "k"), exec(""), sync_, "Z"), "P k ", "42P05", `D ["3"]`)
	unread := script{parse("k", text), sync_, bind("", "k"), exec(""), sync_, "Z", "Z"}
	ask("a name that is taken, in one go", unread, "P k ", "42P05", `D ["3"]`)
	if b := p.bound(); len(b) != 2 { // twice of k: nothing else has to be bound
		t.Errorf("bound %q", b)
	}

	// What there is still to say is said, and what is refused is refused.
	told := strings.Replace(text, "ORDER", "/*notice*/ ORDER", 1)
	ask("a notice, simple", simple(told), "Q ", "N NOTICE 00000 noise", rows)
	ask("a notice", script{parse("", told), bind("", "", "3"), exec(""), sync_, "Z"}, "P ", "N NOTICE 00000 noise",
		rows)
	refused := strings.Replace(text, "ORDER", "/*budget*/ ORDER", 1)
	ask("refused, simple", simple(refused), "Q fugu refused", "PV002", `Z "I"`)
	ask("refused", script{parse("", refused), bind("", "", "3"), exec(""), sync_, "Z"}, "P ", "PV002")
}

// An error in a text that was changed is told where the client wrote it.
func TestRelayedErrorHasItsPlace(t *testing.T) {
	c := dial(t, serve(t, nil).address)
	for _, s := range []script{
		{q("SELECT nosuch FROM twin /*p*/ /*renamed*/"), "Z"},
		{parse("", "SELECT nosuch FROM twin /*p*/ /*renamed*/"), sync_, "Z"},
	} {
		got := strings.Join(c.run(t, s), ", ")
		if !strings.Contains(got, `42703 column "nosuch" does not exist at 8`) {
			t.Errorf("%q", got)
		}
	}
}
