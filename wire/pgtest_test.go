package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgproto3"
)

// TestProtocolScripts plays the scripts of testdata/pgtest, each on a fresh connection.
//
//	same [raw] [split] [binds=N] [until=N [differs]]
//	                               on PostgreSQL itself and through Fugu: every reply must be the same
//	fugu [raw] [split] [binds=N]   through Fugu alone: where it has something of its own to say
//
// Under the line are the replies as named writes them, which -rewrite writes anew; what is compared between the two is
// all of each message but process ids, cancel keys, and where in the server's source an error was raised. raw: the
// script begins with the startup packet. split: every byte is written by itself. binds: how many protected statements
// were bound, which is what is charged. until: the last major version of PostgreSQL that replies as written; differs:
// from later ones Fugu does, as docs/protocol.md says. A script that leaves the connection open is followed by a query
// that must be in step.
func TestProtocolScripts(t *testing.T) {
	protocolScripts(t, serve(t, nil))
}

func protocolScripts(t *testing.T, p *proxy) {
	major := serverMajor(t)
	datadriven.Walk(t, "testdata/pgtest", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := readScript(t, d.Input)
			through := func() []string {
				p.bound()
				got := play(t, p.address, s, d)
				if want, ok := numberOf(t, d, "binds"); ok {
					if n := len(p.bound()); n != want {
						t.Errorf("%s: %d statements were bound, want %d", d.Pos, n, want)
					}
				}
				return got
			}
			switch d.Cmd {
			case "same":
				want := play(t, fmt.Sprintf("127.0.0.1:%d", cluster(t).Port()), s, d)
				got := through()
				until, ok := numberOf(t, d, "until")
				later := ok && major > until
				if slices.Equal(got, want) == (later && d.HasArg("differs")) {
					t.Errorf("%s: through Fugu:\n%s\nPostgreSQL:\n%s", d.Pos, named(got, false), named(want, false))
				}
				if later {
					return d.Expected
				}
				return named(want, true)
			case "fugu":
				return named(through(), false)
			}
			t.Fatalf("%s: no directive is called %q", d.Pos, d.Cmd)
			return ""
		})
	})
	if !strings.Contains(p.log.String(), "a secret of the proxy") {
		t.Error("the log does not say what failed inside")
	}
}

func numberOf(t *testing.T, d *datadriven.TestData, arg string) (n int, ok bool) {
	if ok = d.HasArg(arg); ok {
		d.ScanArgs(t, arg, &n)
	}
	return n, ok
}

// play plays a script against address and returns the replies, without those to the query that follows.
func play(t *testing.T, address string, s script, d *datadriven.TestData) []string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if d.HasArg("split") {
		conn = bytewise{conn}
	}
	p := &peer{Conn: conn, in: newFrames(conn)}
	if !d.HasArg("raw") {
		p = greet(t, conn)
	}
	got := p.run(t, s)
	if len(got) > 3 && got[len(got)-1] != "end" {
		got = got[:len(got)-4]
	}
	for i := 0; i < len(got); i++ { // the order of what a session is told first is free
		from := i
		for i < len(got) && strings.HasPrefix(got[i], "S ") {
			i++
		}
		slices.Sort(got[from:i])
	}
	return got
}

// bytewise writes every byte by itself.
type bytewise struct{ net.Conn }

func (b bytewise) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := b.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// action is a step of a script that is no message: it runs when all before it has been sent.
type action func(t testing.TB, p *peer)

func readAction(t testing.TB, line, word, rest string) any {
	t.Helper()
	switch word {
	case "Startup":
		o, _ := options(rest)
		return &pgproto3.StartupMessage{ProtocolVersion: protocol30, Parameters: o}
	case "plain":
		return action(func(t testing.TB, p *peer) {
			b := make([]byte, len(rest))
			if _, err := io.ReadFull(p.in.r, b); err != nil || string(b) != rest {
				t.Errorf("got %q, %v, want %q", b, err, rest)
			}
		})
	case "other":
		return action(func(t testing.TB, _ *peer) {
			if err := cluster(t).Exec(context.Background(), "postgres", rest); err != nil {
				t.Fatal(err)
			}
		})
	case "running":
		return action(func(t testing.TB, _ *peer) {
			c := direct(t)
			eventually(t, "a statement with "+rest, func() bool { return running(t, c, rest) })
			_ = c.Close(context.Background())
		})
	case "cancel":
		return action(func(t testing.TB, p *peer) {
			conn, err := net.Dial("tcp", p.RemoteAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			key := slices.Clone(p.key)
			if rest == "wrong" {
				key[len(key)-1] ^= 1
			}
			b := append(binary.BigEndian.AppendUint32(nil, uint32(8+len(key))), binary.BigEndian.AppendUint32(nil,
				codeCancel)...)
			if _, err := conn.Write(append(b, key...)); err != nil {
				t.Fatal(err)
			}
			if answer, err := io.ReadAll(conn); len(answer) > 0 || err != nil && !strings.Contains(err.Error(),
				"reset") {
				t.Errorf("a cancel request was answered %q, %v", answer, err)
			}
		})
	}
	t.Fatalf("no step is called %q", line)
	return nil
}

// Every bug of LIBRARIES' list that proxies have had has a script that names it.
func TestScriptsNameTheBugs(t *testing.T) {
	var all strings.Builder
	files, err := filepath.Glob("testdata/pgtest/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for n := 1; n <= 16; n++ {
		if !strings.Contains(all.String(), fmt.Sprintf("# Bug %d:", n)) {
			t.Errorf("no script for bug %d", n)
		}
	}
}

// pgtestBytes are what the scripts' clients send, for fuzzing.
func pgtestBytes(t testing.TB) [][]byte {
	var out [][]byte
	files, err := filepath.Glob("testdata/pgtest/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var input []string
		inside := false
		for line := range strings.SplitSeq(string(text), "\n") {
			switch word, _, _ := strings.Cut(line, " "); {
			case strings.HasPrefix(line, "#"):
			case word == "same", word == "fugu":
				input, inside = nil, true
			case line == "----" && inside:
				inside = false
				var b []byte
				for _, step := range readScript(t, strings.Join(input, "\n")) {
					switch step := step.(type) {
					case pgproto3.FrontendMessage:
						b = append(b, encode(t, step)...)
					case []byte:
						b = append(b, step...)
					}
				}
				out = append(out, b)
			case inside:
				input = append(input, line)
			}
		}
	}
	return out
}
