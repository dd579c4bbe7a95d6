package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"fugu/test/patient"
)

// The test binary is its own child: with childMode set it charges until it is killed or cannot go on, and prints each
// charge once Charge has returned; or claims a question and waits.
const (
	childMode = "FUGU_LEDGER_TEST_MODE"
	childURL  = "FUGU_LEDGER_TEST_URL"
	childFrom = "FUGU_LEDGER_TEST_FROM"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		if err := child(mode, os.Getenv(childURL), os.Getenv(childFrom)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	os.Exit(max(code, stopServer()))
}

// late is a ledger with a planted fault: it shows the answer first and charges afterwards.
type late struct{ Ledger }

func (l late) Charge(_ context.Context, c Charge) (Answer, error) {
	go func() { _, _ = l.Ledger.Charge(context.Background(), c) }()
	return Answer{Bytes: c.Answer}, nil
}

func child(mode, url, from string) error {
	l, err := Open(context.Background(), url, Options{Exclusive: true})
	if err != nil {
		return err
	}
	switch mode {
	case "sound":
		if place(url).remote() {
			break
		}
		// Write back to the database often, so that kills fall into that as well.
		if _, err := l.(*store).write.Exec(`PRAGMA wal_autocheckpoint = 20`); err != nil {
			return err
		}
	case "late":
		l = late{l}
	case "claim":
		a, _, err := l.Find(context.Background(), charge(1).Key)
		if err == nil {
			_, err = l.Claim(context.Background(), charge(1).Key, a.ID)
		}
		if err == nil {
			_, err = fmt.Println("claimed")
		}
		if err != nil {
			return err
		}
		select {}
	case "full":
		// No file may grow beyond 400 kB: the log meets the limit first, in the middle of a commit.
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE,
			&syscall.Rlimit{Cur: 400_000, Max: syscall.RLIM_INFINITY & (1<<63 - 1)}); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown mode %q", mode)
	}
	for n := 0; ; n++ {
		a, err := l.Charge(context.Background(), crashCharge(fmt.Sprint(from, "/", n)))
		if err != nil {
			if mode == "full" {
				fmt.Printf("refused %s/%d\n", from, n)
				return nil
			}
			return err
		}
		fmt.Printf("%s\n", strings.TrimPrefix(string(a.Bytes), "answer "))
	}
}

func crashCharge(name string) Charge {
	return with(charge(name), func(c *Charge) { c.Limit.Epsilon = 1e9 })
}

// run starts a child, stops it with stop once it has printed something, and returns all that it printed.
func run(t *testing.T, mode string, p place, from string, stop func(*os.Process)) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childMode+"="+mode, childURL+"="+string(p), childFrom+"="+from)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var printed []string
	lines := bufio.NewScanner(out)
	stopped := make(chan struct{})
	for lines.Scan() {
		if len(printed) == 0 {
			go func() {
				defer close(stopped)
				stop(cmd.Process)
			}()
		}
		printed = append(printed, lines.Text())
	}
	err = cmd.Wait()
	if len(printed) == 0 {
		t.Fatalf("the child charged nothing: %v", err)
	}
	<-stopped
	return printed
}

// missing opens the ledger, which verifies the totals, and returns those of the printed charges that it does not have.
func missing(t *testing.T, p place, printed []string) []string {
	t.Helper()
	l := p.open(t, Options{})
	defer closeLedger(t, l)
	var out []string
	for _, name := range printed {
		a, ok, err := l.Find(context.Background(), key(name), "")
		if err != nil {
			t.Fatal(err)
		}
		if !ok || string(a.Bytes) != "answer "+name {
			out = append(out, name)
		}
	}
	return out
}

// kills runs a child again and again on one ledger and kills it at a random moment, and returns what it had printed and
// the ledger then did not have.
func kills(t *testing.T, mode string, p place, rounds int) (printed, lost []string) {
	r := rand.New(rand.NewPCG(3, uint64(rounds)))
	for i := range rounds {
		wait := time.Duration(r.IntN(20000)) * time.Microsecond
		now := run(t, mode, p, fmt.Sprint(mode, i), func(p *os.Process) {
			time.Sleep(wait)
			_ = p.Kill()
		})
		lost = append(lost, missing(t, p, now)...)
		printed = append(printed, now...)
	}
	return printed, append(lost, missing(t, p, printed)...)
}

func TestKilledLedgerHasEveryAnswerThatWasGiven(t *testing.T) {
	patient.Test(t)
	everywhere(t, func(t *testing.T, p place) {
		rounds := 64
		if p.remote() { // a child takes longer to start
			rounds = 24
		}
		printed, lost := kills(t, "sound", p, rounds)
		if len(lost) > 0 {
			t.Errorf("%d of %d answers were given and are lost: %q", len(lost), len(printed), lost)
		}
		t.Logf("%d answers survived %d kills", len(printed), rounds)
	})
}

// The test above finds a ledger that answers before it charges.
func TestKillFindsALateCharge(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		printed, lost := kills(t, "late", p, 4)
		if len(lost) == 0 {
			t.Errorf("none of %d answers that were given before they were charged is missed", len(printed))
		}
	})
}

func TestFullDiskRefuses(t *testing.T) {
	p := inFile(t)
	printed := run(t, "full", p, "full", func(*os.Process) {})
	last := len(printed) - 1
	refused, ok := strings.CutPrefix(printed[last], "refused ")
	if !ok || last == 0 {
		t.Fatalf("the child met no full disk: %q", printed[last])
	}
	if lost := missing(t, p, printed[:last]); len(lost) > 0 {
		t.Errorf("given before the disk was full, and lost: %q", lost)
	}
	l := p.open(t, Options{})
	defer closeLedger(t, l)
	if got := spent(t, l, ""); got[0].Releases != last {
		t.Errorf("%d releases, want %d: the refused one is not to count", got[0].Releases, last)
	}
	a, err := l.Charge(context.Background(), crashCharge(refused))
	var x *Exhausted
	if err != nil || errors.As(err, &x) || !a.Fresh {
		t.Errorf("with room again: %+v, %v", a, err)
	}
}
