package wire

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/test/patient"
	"fugu/wire/auth"
)

// choppy is a connection whose Read stops at a byte of the test's choice, or gives most bytes at a time.
type choppy struct {
	net.Conn
	cut  *atomic.Int64 // bytes up to the cut; 0: none
	most int           // 0: as many as there are
}

func (c choppy) Read(b []byte) (int, error) {
	if c.most > 0 {
		b = b[:min(len(b), c.most)]
	}
	if c.cut == nil {
		return c.Conn.Read(b)
	}
	left := c.cut.Load()
	if left > 0 {
		b = b[:min(int64(len(b)), left)]
	}
	n, err := c.Conn.Read(b)
	if left > 0 {
		c.cut.Add(-int64(n))
	}
	return n, err
}

// choppyListener makes the connections that it accepts choppy.
type choppyListener struct {
	net.Listener
	wrap func(net.Conn) net.Conn
}

func (l choppyListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.wrap(c), nil
}

// choppyEngine is an engine whose guests' connections are wrapped.
type choppyEngine struct {
	*fake
	wrap func(net.Conn) net.Conn
}

type choppySession struct {
	Session
	wrap func(net.Conn) net.Conn
}

type choppyGuest struct {
	Guest
	conn net.Conn
}

func (e choppyEngine) Open(ctx context.Context, startup Startup) (Session, error) {
	s, err := e.fake.Open(ctx, startup)
	if err != nil {
		return nil, err
	}
	return choppySession{s, e.wrap}, nil
}

func (s choppySession) Connect(ctx context.Context) (Guest, error) {
	return s.chop(s.Session.Connect(ctx))
}

func (s choppySession) ConnectRenewable(ctx context.Context) (Guest, error) {
	return s.chop(s.Session.ConnectRenewable(ctx))
}

func (s choppySession) chop(g Guest, err error) (Guest, error) {
	if err != nil {
		return nil, err
	}
	return choppyGuest{g, s.wrap(g.Conn())}, nil
}

func (g choppyGuest) Conn() net.Conn { return g.conn }

// mixed is a pipeline of everything: protected, ordinary and refused statements in both protocols, errors in the
// middle, and copies that succeed, are given up, and fail. The answer has as many ReadyForQuery as the second result
// says.
func mixed() ([]pgproto3.FrontendMessage, int) {
	return []pgproto3.FrontendMessage{
		q("TRUNCATE c"),
		parse("s", "SELECT x+$1::int8 y FROM noisy ORDER BY 1 /*p*/"), describeS("s"), bind("", "s", "5"),
		describeP(""), exec(""), sync_,
		parse("", "SELECT 'ordinary', $1::text"), bind("", "", "v"), exec(""), bind("p", "s", "1"), execN("p", 1),
		exec("p"), sync_,
		parse("", "SELECT /*refuse*/"), bind("", ""), exec(""), parse("", "SELECT 'skipped'"), bind("", "s", "2"),
		exec(""), sync_,
		q("SELECT 1; " + protected), q("/*refuse*/"), q("SELECT 1/0"), q("SELECT 2"),
		q("COPY c FROM STDIN"), data("1\n2"), data("\n3\n"), copyDone,
		q("COPY c FROM STDIN"), data("4\n"), copyFail,
		q("COPY c FROM STDIN"), data("x\n"), copyDone,
		parse("", "COPY c FROM STDIN"), bind("", ""), exec(""), sync_, data("5\n"), copyDone, sync_,
		parse("", "COPY c FROM STDIN"), bind("", ""), exec(""), data("x\n"), copyDone, sync_,
		q("COPY c TO STDOUT"), flush, q(""),
		parse("", protected), bind("", ""), exec(""), parse("", "SELECT 1/0"), bind("", ""), exec(""),
		bind("", "s", "3"), exec(""), sync_,
		closeS("s"), sync_, q(protected + "; SELECT sum(x) FROM c"),
		parse("l", lateCopy), describeS("l"), bind("", "l"), describeP(""), exec(""), bind("p", "l"), exec("p"),
		closeS("l"), sync_, q(lateCopy + "; " + lateSelect),
	}, 20
}

func mixedBytes(t testing.TB) (pipeline []byte, waits string) {
	t.Helper()
	messages, n := mixed()
	return encode(t, messages...), strings.Repeat("Z", n)
}

const copyTable = "CREATE TEMP TABLE c (x int)"

// unsplit is the answer to mixed, and checks it for being one of substance.
func unsplit(t testing.TB, address string) []string {
	t.Helper()
	pipeline, waits := mixedBytes(t)
	c := dial(t, address)
	c.run(t, script{q(copyTable), "Z"})
	c.put(t, pipeline)
	got := c.until(t, waits)
	for _, want := range []string{`D ["6"]`, `D ["ordinary" "v"]`, "E ERROR PV001", "E ERROR 22012", "E ERROR 22P02",
		"E ERROR 57014", `C "COPY 3\x00"`, `D ["11"]`} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Fatalf("no %q in\n\t%s", want, strings.Join(got, "\n\t"))
		}
	}
	if end := c.run(t, script{}); len(end) != 4 {
		t.Fatalf("not in step: %q", end)
	}
	return got
}

// mixed, without what PostgreSQL does not refuse, is the same on PostgreSQL itself.
func TestMixedPipelineIsPostgreSQLs(t *testing.T) {
	p := serve(t, nil)
	messages, n := mixed()
	s := script{q(copyTable), "Z"}
	for _, m := range messages {
		switch x := m.(type) {
		case *pgproto3.Query:
			m = q(strings.ReplaceAll(x.String, "/*refuse*/", "SELECT nothing"))
		case *pgproto3.Parse:
			m = parse(x.Name, strings.ReplaceAll(x.Query, "/*refuse*/", "nothing"), x.ParameterOIDs...)
		}
		s = append(s, m)
	}
	same(t, p, append(s, strings.Repeat("Z", n)))
}

func TestEveryByteSplit(t *testing.T) {
	patient.Test(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var cut atomic.Int64
	p := serveOn(t, choppyListener{listener, func(c net.Conn) net.Conn { return choppy{Conn: c, cut: &cut} }}, nil)
	want := unsplit(t, p.address)
	pipeline, waits := mixedBytes(t)
	c := dial(t, p.address)
	c.run(t, script{q(copyTable), "Z"})
	for i := 1; i < len(pipeline); i++ {
		cut.Store(int64(i))
		c.put(t, pipeline)
		if got := c.until(t, waits); !slices.Equal(got, want) {
			t.Errorf("split after %d bytes:", i)
			compare(t, got, want)
			return
		}
	}
}

// keeping is a listener that keeps the connection accepted last.
type keeping struct {
	net.Listener
	last atomic.Pointer[net.TCPConn]
}

func (l *keeping) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.last.Store(c.(*net.TCPConn))
	}
	return c, err
}

// drained waits until everything that was sent to a connection of this process has been read from it.
func drained(t *testing.T, conn *net.TCPConn) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); runtime.Gosched() {
		var left int32
		var errno syscall.Errno
		if err := raw.Control(func(fd uintptr) {
			_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ, uintptr(unsafe.Pointer(&left)))
		}); err != nil || errno != 0 {
			t.Fatal(err, errno)
		}
		if left == 0 {
			return
		}
	}
	t.Fatal("a message is not read")
}

// The same where the connection is read by its descriptor, as it is without TLS: the first part is read before the
// second is sent.
func TestEveryByteSplitOfADescriptor(t *testing.T) {
	patient.Test(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	keep := &keeping{Listener: listener}
	p := serveOn(t, keep, nil)
	want := unsplit(t, p.address)
	pipeline, waits := mixedBytes(t)
	c := dial(t, p.address)
	c.run(t, script{q(copyTable), "Z"})
	for i := 1; i < len(pipeline); i++ {
		c.put(t, pipeline[:i])
		drained(t, keep.last.Load())
		c.put(t, pipeline[i:])
		if got := c.until(t, waits); !slices.Equal(got, want) {
			t.Errorf("split after %d bytes:", i)
			compare(t, got, want)
			return
		}
	}
}

// withEngine serves an engine of the test's own.
func withEngine(t testing.TB, l net.Listener, engine func(*fake) Engine) (address string, f *fake) {
	t.Helper()
	p := serve(t, nil) // for its fake, and for the checks at its end
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- New(Config{Auth: auth.Trust{}, DrainTimeout: patience, Logger: slog.New(slog.DiscardHandler)},
			engine(p.fake)).Serve(ctx, l)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), p.fake
}

func TestOneByteAtATime(t *testing.T) {
	for _, most := range []int{1, 2, 7} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			wrap := func(c net.Conn) net.Conn { return choppy{Conn: c, most: most} }
			address, _ := withEngine(t, choppyListener{listener, wrap},
				func(f *fake) Engine { return choppyEngine{f, wrap} })
			want := unsplit(t, serve(t, nil).address)
			compare(t, unsplit(t, address), want)
		})
	}
}

// A client that sends a part of a message and waits for the replies to those before it gets them.
func TestPartOfAMessageHoldsNothingUp(t *testing.T) {
	p := serve(t, nil)
	c := dial(t, p.address)
	next := encode(t, q("SELECT 2"))
	for i := 1; i < len(next); i++ {
		c.put(t, append(encode(t, q("SELECT 1")), next[:i]...))
		compare(t, c.until(t, "Z"), []string{"T ?column?:23/-1/0", `D ["1"]`, `C "SELECT 1\x00"`, `Z "I"`})
		c.put(t, next[i:])
		compare(t, c.until(t, "Z"), []string{"T ?column?:23/-1/0", `D ["2"]`, `C "SELECT 1\x00"`, `Z "I"`})
	}
}

// A client that sends 10,000 statements before it reads gets the replies to all of them, in order.
func TestBigPipeline(t *testing.T) {
	const n = 10_000
	p := serve(t, nil)
	c := dial(t, p.address)
	var pipeline []byte
	for i := range n {
		switch {
		case i%1000 == 0:
			pipeline = append(pipeline, encode(t, parse("", "SELECT x FROM noisy WHERE x = 3 /*p*/"), bind("", ""),
				exec(""), sync_)...)
		case i%2 == 0:
			pipeline = append(pipeline, encode(t, q(fmt.Sprintf("SELECT %d, repeat('x', 200)", i)))...)
		default:
			pipeline = append(pipeline, encode(t, parse("", fmt.Sprintf("SELECT %d, repeat('x', 200)", i)),
				bind("", ""), exec(""), sync_)...)
		}
	}
	var writer sync.WaitGroup
	written := make(chan struct{})
	writer.Go(func() {
		defer close(written)
		if _, err := c.Write(pipeline); err != nil {
			t.Errorf("writing: %v", err)
		}
	})
	select {
	case <-written:
	case <-time.After(500 * time.Millisecond): // everything between has filled up
	}
	for i := range n {
		want := fmt.Sprintf(`D ["%d"`, i)
		if i%1000 == 0 {
			want = `D ["3"`
		}
		got := c.until(t, "Z")
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Fatalf("statement %d: %q", i, got)
		}
	}
	writer.Wait()
	if end := c.run(t, script{}); len(end) != 4 {
		t.Errorf("not in step: %q", end)
	}
}

// Messages and replies that do not fit into a buffer, or just so, one behind the other: none is written over by the
// next.
func TestLongMessagesInARow(t *testing.T) {
	c := dial(t, serve(t, nil).address)
	var messages, later []pgproto3.FrontendMessage
	var want []string
	for i, n := range []int{bufferSize - 100, bufferSize, 3 * bufferSize, 10, 2 * bufferSize, bufferSize + 1,
		bufferSize - header - 60, 5} {
		value := strings.Repeat(string(rune('a'+i)), n)
		messages = append(messages, q("SELECT '"+value+"'"))
		later = append(later, parse("", "SELECT $1::text"), bind("", "", value), exec(""), sync_)
		want = append(want, fmt.Sprintf("D [%q]", value))
	}
	messages, want = append(messages, later...), append(want, want...)
	c.put(t, encode(t, messages...))
	var got []string
	for _, line := range c.until(t, strings.Repeat("Z", len(want))) {
		if strings.HasPrefix(line, "D ") {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("row %d is %.40q with %d bytes, want %.40q with %d", i, got[i], len(got[i]), want[i],
					len(want[i]))
			}
		}
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
}
