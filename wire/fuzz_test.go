package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/wire/auth"
)

func FuzzStartup(f *testing.F) {
	f.Add(packet(protocol30, "user", "u", "database", "d", "_pq_.x", "1"))
	f.Add(append(rawPacket(codeSSL, ""), packet(3<<16|2, "user", "u", "client_encoding", "UTF8")...))
	f.Add(rawPacket(codeCancel, "\x00\x00\x00\x01abcd"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		conn := &spoken{parts: [][]byte{b[:len(b)/2], b[len(b)/2:]}}
		r, err := newLogin(conn).readStartup(context.Background(), nil)
		if strings.Trim(conn.out.String(), "N") != "" || conn.out.Len() > 2 {
			t.Errorf("answered %q", conn.out.String())
		}
		if err == nil && r.cancel == nil && (r.startup.User == "" || r.startup.Database == "") {
			t.Errorf("accepted %+v", r.startup)
		}
		for name := range r.startup.Parameters {
			if err == nil && !ownSettings[name] && !customName.MatchString(name) {
				t.Errorf("let %q through", name)
			}
		}
	})
}

// FuzzOptions: what parses is what PostgreSQL's own way of writing options gives back.
func FuzzOptions(f *testing.F) {
	f.Add(`-c geqo=off --search-path=a\ b  -cx.y=\\`)
	f.Add("-c")
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := parseOptions(text)
		if err != nil {
			if !isKnown(err) {
				t.Errorf("%v", err)
			}
			return
		}
		var again []string
		for _, s := range settings {
			quoted := regexp.MustCompile(`[\s\\\v]`).ReplaceAllString(s.value, `\$0`)
			again = append(again, "-c", regexp.MustCompile(`[\s\\\v]`).ReplaceAllString(s.name, `\$0`)+"="+quoted)
		}
		if got, err := parseOptions(strings.Join(again, " ")); err != nil || !slices.Equal(got, settings) {
			t.Errorf("%q gives %q, again %q, %v", text, settings, got, err)
		}
	})
}

// FuzzSCRAM sends a client's two messages: nobody gets in with bytes that were made up.
func FuzzSCRAM(f *testing.F) {
	key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	users, err := auth.ParseUsers("f", `"alice" "SCRAM-SHA-256$4096:`+key+"$"+key+":"+key+`"`)
	if err != nil {
		f.Fatal(err)
	}
	method := auth.NewSCRAM(users, []byte("secret"))
	method.HoldBackBy(func(context.Context, time.Duration) error { return nil })
	f.Add(initial("SCRAM-SHA-256", clientFirst), frame('p', "c=biws,r=rOprNGfwEbeRWgbNEkqO,p=AAAA"))
	f.Add(initial("SCRAM-SHA-256", "y,,n=,r=abc"), frame('p', "c=eSws,r=,p="))
	f.Add(initial("SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=abc"), []byte("p"))
	for _, c := range malformedExchanges {
		f.Add(c.first, c.second)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, user := range []string{"alice", "bob"} {
			l := newLogin(&spoken{parts: [][]byte{first, second}})
			l.channel = &auth.Channel{Binding: []byte("binding")}
			if err := method.Authenticate(t.Context(), asked{l}, user); err == nil {
				t.Errorf("let %s in", user)
			}
		}
	})
}

// scripted is a guest's server: it answers each message as PostgreSQL would, and knows no SQL but a word or two. It
// ends when the connection does.
func scripted(c net.Conn) {
	defer c.Close()
	in := newFrames(c)
	s := &scriptedServer{out: newClient(c), status: statusIdle}
	for {
		if in.r.Buffered() == 0 {
			s.out.flush()
		}
		typ, length, err := in.next()
		if err != nil {
			return
		}
		body, err := in.read(length)
		if err != nil {
			return
		}
		if !s.hear(typ, body) {
			s.out.flush()
			return
		}
	}
}

// scriptedServer is what such a server remembers.
type scriptedServer struct {
	out      *client
	skipping bool // to the next Sync
	copying  bool
	extended bool // the last message was of the extended protocol
	status   byte
	text     string // of the last Parse or Query
}

func (s *scriptedServer) fail(code, message string) {
	s.out.send(&pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code, Message: message})
	s.copying, s.skipping = false, s.extended
	if !s.extended {
		s.out.send(&pgproto3.ReadyForQuery{TxStatus: s.status})
	}
}

func (s *scriptedServer) run() {
	switch {
	case strings.Contains(s.text, "COPY"):
		s.copying = true
		s.out.send(&pgproto3.CopyInResponse{})
	case s.text == "":
		s.out.send(&pgproto3.EmptyQueryResponse{})
	case strings.Contains(s.text, "BEGIN"):
		s.status = 'T'
		s.out.send(&pgproto3.CommandComplete{CommandTag: []byte("BEGIN")})
	default:
		s.out.send(&pgproto3.DataRow{Values: [][]byte{[]byte("1")}},
			&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
	}
}

// hear takes a message, and reports whether the server goes on.
func (s *scriptedServer) hear(typ byte, body []byte) bool {
	switch {
	case typ == msgSync && !s.copying:
		s.skipping, s.extended = false, false
		s.out.send(&pgproto3.ReadyForQuery{TxStatus: s.status})
	case typ == msgTerminate:
		return false
	case s.skipping, typ == msgFlush, s.copying && (typ == msgSync || typ == msgCopyData):
	case s.copying && typ == msgCopyDone:
		s.copying = false
		s.out.send(&pgproto3.CommandComplete{CommandTag: []byte("COPY 1")})
		if !s.extended {
			s.out.send(&pgproto3.ReadyForQuery{TxStatus: s.status})
		}
	case s.copying && typ == msgCopyFail:
		s.fail("57014", "given up")
	case s.copying:
		s.out.send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "08P01",
			Message: "synchronization was lost"})
		return false
	case typ == msgCopyData, typ == msgCopyDone, typ == msgCopyFail: // left over from a copy that failed
	default:
		s.extended = typ != msgQuery
		s.answer(typ, body)
	}
	return true
}

// answer is for what stands outside of copies.
func (s *scriptedServer) answer(typ byte, body []byte) {
	bad := func() bool { return strings.Contains(s.text, "fugu refused") || strings.Contains(s.text, "bad") }
	switch typ {
	case msgQuery:
		if s.text, _, _ = strings.Cut(string(body), "\x00"); bad() {
			s.fail("42601", "bad")
			return
		}
		if s.run(); !s.copying {
			s.out.send(&pgproto3.ReadyForQuery{TxStatus: s.status})
		}
	case msgParse:
		_, rest, _ := bytes.Cut(body, []byte{0})
		if s.text = string(rest[:max(0, bytes.IndexByte(rest, 0))]); bad() {
			s.fail("42601", "bad")
			return
		}
		s.out.send(&pgproto3.ParseComplete{})
	case msgBind:
		s.out.send(&pgproto3.BindComplete{})
	case msgDescribe:
		if len(body) > 0 && body[0] == objectStatement {
			s.out.send(&pgproto3.ParameterDescription{ParameterOIDs: []uint32{20, 1016}})
		}
		s.out.send(&pgproto3.NoData{})
	case msgExecute:
		s.run()
	case msgClose:
		s.out.send(&pgproto3.CloseComplete{})
	}
}

// pipeSession is a session of the fake engine's over a scripted guest.
type pipeSession struct {
	fakeSession
	conn net.Conn
}

func (s *pipeSession) Connect(context.Context) (Guest, error) { return s, nil }

func (s *pipeSession) ConnectRenewable(context.Context) (Guest, error) { return s, nil }

func (s *pipeSession) Conn() net.Conn { return s.conn }
func (s *pipeSession) Parameters() map[string]string {
	return map[string]string{"client_encoding": "UTF8"}
}
func (s *pipeSession) PID() uint32                         { return 0 }
func (s *pipeSession) Cancel(context.Context) error        { return nil }
func (s *pipeSession) Quiet() bool                         { return true }
func (s *pipeSession) Renew(context.Context) (bool, error) { return true, nil }

type pipeEngine struct{ done chan struct{} }

func (e pipeEngine) Open(context.Context, Startup) (Session, error) {
	near, far := net.Pipe()
	go func() {
		defer close(e.done)
		scripted(far)
	}()
	return &pipeSession{fakeSession{fake: &fake{}}, near}, nil
}

// pipeListener gives one connection, and then none.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l pipeListener) Close() error   { close(l.closed); return nil }
func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// FuzzSession sends any bytes into a session. It must not panic, it must end when the client does, and what the client
// reads must be whole frames, of which an error that ends the session is the last.
func FuzzSession(f *testing.F) {
	messages, _ := mixed()
	pipeline := encode(f, messages...)
	f.Add(pipeline)
	for _, b := range pgtestBytes(f) {
		f.Add(b)
	}
	for i := range 40 {
		f.Add(pipeline[:len(pipeline)*i/40])
	}
	f.Add(frame('F', "\x00\x00\x00\x01"))
	f.Add([]byte("Q\x00\x00\x00\x00"))
	f.Add(frame('B', "\x00\x00\x00\x01\x00\x01\x00\x01\xff\xff\xff\xfe"))
	f.Add(append(encode(f, parse("s", protected), sync_),
		frame('B', "\x00s\x00\x00\x00\x00\x01\xff\xff\xff\xfe\x00\x00")...))
	f.Fuzz(func(t *testing.T, b []byte) {
		watchdog := time.AfterFunc(time.Minute, func() { panic("the session hangs") })
		defer watchdog.Stop()
		var log logBuffer
		e := pipeEngine{make(chan struct{})}
		l := pipeListener{make(chan net.Conn, 1), make(chan struct{})}
		client, server := net.Pipe()
		l.conns <- server
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() {
			served <- New(Config{Auth: auth.Trust{}, MessageBytes: 1 << 16, DrainTimeout: time.Hour,
				Logger: slog.New(slog.NewTextHandler(&log, nil))}, e).Serve(ctx, l)
		}()
		read := make(chan []byte)
		go func() {
			got, _ := io.ReadAll(client)
			read <- got
		}()
		_, err := client.Write(packet(protocol30, "user", "u"))
		if err == nil {
			_, err = client.Write(append(bytes.Clone(b), encode(t, sync_, &pgproto3.Terminate{})...))
		}
		_ = err // the session may have ended already
		// What was sent may be the start of a message, of which the rest does not come.
		go func() {
			select {
			case <-e.done:
			case <-time.After(20 * time.Millisecond):
			}
			stop()
			_ = client.Close()
		}()
		got := <-read
		if err := <-served; err != nil {
			t.Error(err)
		}
		<-e.done
		wholeFrames(t, got)
		if s := strings.ReplaceAll(log.String(), "/*panic", ""); strings.Contains(s, "panicked") &&
			!bytes.Contains(b, []byte("/*panic")) {
			t.Errorf("it panicked: %s", s)
		}
	})
}

// wholeFrames checks that what a server sent is a sequence of frames with replies of the protocol's, and nothing behind
// a FATAL error. The connection may have been cut inside the last.
func wholeFrames(t *testing.T, got []byte) {
	t.Helper()
	fatal := false
	for len(got) >= header {
		n := 1 + int(binary.BigEndian.Uint32(got[1:]))
		if fatal || n < header || !strings.ContainsRune("RSKZ123TDCIENAGHdcsnt", rune(got[0])) {
			t.Fatalf("a frame of type %q and %d bytes, behind a FATAL error: %v", got[0], n, fatal)
		}
		if n > len(got) {
			return
		}
		if got[0] == 'E' {
			var m pgproto3.ErrorResponse
			if err := m.Decode(got[header:n]); err != nil {
				t.Fatal(err)
			}
			if len(m.Code) != 5 || m.Message == "" {
				t.Errorf("an error without code or message: %+v", m)
			}
			fatal = m.Severity == "FATAL"
		}
		got = got[n:]
	}
}
