package integration

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/wire"
)

// packet is a startup packet.
func packet(code uint32, body string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return string(binary.BigEndian.AppendUint32(b, code)) + body
}

const version3 = 3 << 16

// frame is a message with a length of its own choice.
func frame(typ byte, length uint32, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{typ}, length)) + body
}

// bystander keeps another client at work until the returned function is called, which fails the test if it was harmed.
func bystander(t *testing.T, f *fugu) func() {
	t.Helper()
	c := f.connect(t)
	stop, result := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			for _, sql := range []string{"SELECT generate_series(1, 100)", "SELECT count(*) FROM adult"} {
				if _, err := c.Exec(context.Background(), sql); err != nil {
					result <- err
					return
				}
			}
			select {
			case <-stop:
				result <- nil
				return
			default:
			}
		}
	}()
	return func() {
		t.Helper()
		close(stop)
		if err := <-result; err != nil {
			t.Errorf("another client was harmed: %v", err)
		}
	}
}

// silence: the connection is closed without a word, as PostgreSQL does where the other side hardly speaks its protocol.
const silence = "silence"

// aliceAdult are the parameters of a startup packet that lets alice into the database.
const aliceAdult = "user\x00alice\x00database\x00adult\x00"

// badStartups are first packets that cannot be, with the code, the words or the silence that answers them.
var badStartups = map[string]struct{ send, code string }{
	"HTTP":               {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", silence},
	"TLS without asking": {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", silence},
	"length 0":           {"\x00\x00\x00\x00\x00\x03\x00\x00", silence},
	"length 7":           {"\x00\x00\x00\x07\x00\x03\x00\x00", silence},
	"length 2 GiB":       {"\x80\x00\x00\x00\x00\x03\x00\x00", silence},
	"length 4 GiB":       {"\xff\xff\xff\xff\x00\x03\x00\x00", silence},
	"just too long":      {packet(version3, aliceAdult+strings.Repeat("x", 10_000)), silence},
	"a frontend message": {"Q\x00\x00\x00\x0dSELECT 1\x00", silence},
	"version 2": {packet(2<<16, aliceAdult+"\x00"), "EFATAL:  unsupported frontend protocol 2.0: " +
		"server supports 3.0 to 3.2\n\x00"},
	"version 4":          {packet(4<<16, aliceAdult+"\x00"), "0A000"},
	"no body":            {packet(version3, ""), "08P01"},
	"no terminator":      {packet(version3, aliceAdult), "08P01"},
	"name without value": {packet(version3, aliceAdult+"x\x00\x00"), "08P01"},
	"no user":            {packet(version3, "database\x00adult\x00\x00"), "28000"},
	"another database":   {packet(version3, "user\x00alice\x00database\x00postgres\x00\x00"), "3D000"},
	"replication":        {packet(version3, aliceAdult+"replication\x00database\x00\x00"), "0A000"},
	"another encoding":   {packet(version3, aliceAdult+"client_encoding\x00LATIN1\x00\x00"), "0A000"},
	"another encoding, option": {packet(version3, aliceAdult+"options\x00-c standard_conforming_strings=off\x00\x00"),
		"0A000"},
	"no such parameter, option": {packet(version3, aliceAdult+"options\x00-c nope=1\x00\x00"), "42704"},
	"no such parameter":         {packet(version3, aliceAdult+"nope\x00x\x00\x00"), "42704"},
	"a wrong value":             {packet(version3, aliceAdult+"work_mem\x00lots\x00\x00"), "22023"},
	"SSL twice":                 {packet(80877103, "") + packet(80877103, ""), "08P01"},
	"SSL, then garbage":         {packet(80877103, "") + "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "08P01"},
	"a cancel without a key":    {packet(80877102, ""), ""},
	"a cancel, key too long":    {packet(80877102, strings.Repeat("x", 1000)), ""},
	"a cancel, wrong":           {packet(80877102, "12345678"), ""},
	"half a packet":             {packet(version3, aliceAdult+"\x00")[:20], ""},
	"nothing":                   {"", ""},
}

// What is no startup packet, or asks for what cannot be, is refused, and the connection closed.
func TestBadStartup(t *testing.T) {
	f := serve(t, options{})
	unharmed := bystander(t, f)
	for name, x := range badStartups {
		c, err := net.Dial("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(hang))
		if _, err := io.WriteString(c, x.send); err != nil {
			t.Fatal(err)
		}
		if x.code == "" {
			_ = c.(*net.TCPConn).CloseWrite()
		}
		got, err := io.ReadAll(c)
		if err != nil && !errors.Is(err, net.ErrClosed) && !isReset(err) {
			t.Errorf("%s: the connection stays open: %v", name, err)
		}
		reply := strings.TrimLeft(string(got), "N")
		switch {
		case x.code == silence && reply == "", x.code == reply: // protocol 2 has errors of its own form
		case x.code == "" && reply != "", x.code != "" && !(strings.HasPrefix(reply, "E") &&
			contains(reply, "\x00VFATAL\x00C"+x.code+"\x00")):
			t.Errorf("%s: got %q, want FATAL %s", name, got, x.code)
		}
		_ = c.Close()
	}
	unharmed()
}

func isReset(err error) bool { return strings.Contains(err.Error(), "connection reset") }

// Encryption is refused politely, and the session goes on without.
func TestEncryptionRefused(t *testing.T) {
	f := serve(t, options{})
	for _, mode := range []string{"prefer", "disable"} {
		c := connect(t, strings.Replace(f.dsn("alice"), "sslmode=disable", "sslmode="+mode, 1))
		rows(t, c, "SELECT 1")
	}
	if _, err := pgconn.Connect(t.Context(), strings.Replace(f.dsn("alice"), "sslmode=disable", "sslmode=require",
		1)); err == nil {
		t.Error("a client that requires TLS was connected")
	}
}

// badMessages are frames that cannot be, with the codes that they may have.
var badMessages = map[string]struct{ send, code string }{
	"unknown type":       {frame('z', 4, ""), "08P01"},
	"type 0":             {frame(0, 4, ""), "08P01"},
	"a backend message":  {frame('Z', 5, "I"), "08P01"},
	"a password":         {frame('p', 9, "abcd\x00"), "08P01"},
	"length 0":           {frame('Q', 0, ""), "08P01"},
	"length 3":           {frame('S', 3, ""), "08P01"},
	"length 2 GiB":       {frame('Q', 1<<31, ""), "08P01"},
	"length 4 GiB":       {frame('d', 1<<32-1, ""), "08P01"},
	"too long":           {frame('Q', 2<<20, "SELECT"), "54000"},
	"too long, copy":     {frame('d', 2<<20, "SELECT"), "54000"},
	"too long, parse":    {frame('P', 2<<20, "SELECT"), "54000"},
	"query without end":  {frame('Q', 12, "SELECT 1"), "08P01"},
	"parse without end":  {frame('P', 14, "\x00SELECT 1\x00"), "08P01"},
	"parse, types short": {frame('P', 18, "\x00SELECT 1\x00\x00\x02\x00\x00"), "08P01"},
	"bind, negative": {frame('B', 4+3+2+2+4+2, "\x00a\x00\x00\x00\x00\x01\xff\xff\xff\xf0\x00\x00"),
		"08P01 26000"},
	"bind, overlong": {frame('B', 4+3+2+2+4+2, "\x00a\x00\x00\x00\x00\x01\x7f\xff\xff\xff\x00\x00"),
		"08P01 26000"},
	"bind, many formats":  {frame('B', 4+3+2, "\x00a\x00\xff\xff"), "08P01 26000"},
	"describe of nothing": {frame('D', 4, ""), "08P01"},
	"close without a NUL": {frame('C', 6, "Sx"), "08P01"},
	"startup again":       {packet(version3, "user\x00alice\x00\x00"), "08P01"},
}

// Frames that cannot be end their session, with PostgreSQL's kind of error, and no other session. What is in a frame is
// PostgreSQL's own to judge, and the session goes on.
func TestBadMessages(t *testing.T) {
	db := adultDatabase(t)
	f := serve(t, options{limits: func(c *wire.Config) { c.MessageBytes = 1 << 20 }})
	unharmed := bystander(t, f)
	for name, x := range badMessages {
		for _, prepared := range []bool{false, true} {
			p := dial(t, f.dsn("alice"))
			if prepared { // so that Fugu has to look into every message
				p.Send(t, parse("a", "SELECT count(*) FROM adult"), bind("p", "a"), sync)
				p.until(t, ready(1))
			}
			if _, err := io.WriteString(p.Conn, x.send); err != nil {
				t.Fatal(err)
			}
			m, err := p.Frontend.Receive()
			e, ok := m.(*pgproto3.ErrorResponse)
			if !ok || !contains(x.code, e.Code) {
				t.Errorf("%s: got %+v, %v, want %s", name, m, err, x.code)
				continue
			}
			switch e.Severity {
			case "FATAL":
				if rest, err := io.ReadAll(p.Conn); len(rest) > 0 || err != nil && !isReset(err) {
					t.Errorf("%s: after a FATAL error came %q, %v", name, rest, err)
				}
			default: // PostgreSQL found it, and lives on
				replies := 2
				if x.send[0] == 'Q' { // which has a ReadyForQuery of its own
					replies++
				}
				p.Send(t, sync, query("SELECT 'in step'"))
				if got := p.until(t, ready(replies)); !contains(got, "in step") {
					t.Errorf("%s: the session is out of step:\n%s", name, got)
				}
			}
			_ = p.Conn.Close()
		}
	}
	// A client that goes in the middle of a message takes its guest with it.
	p := dial(t, f.dsn("alice"))
	if _, err := io.WriteString(p.Conn, frame('Q', 100, "INSERT")); err != nil {
		t.Fatal(err)
	}
	_ = p.Conn.Close()
	unharmed()
	truth := db.truth(t)
	eventually(t, func() bool {
		return rows(t, truth, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'fugu_guest'") == "[\"1\"]\n"
	}, "only the bystander's guest is left")
}

// A cancel request with a wrong key does nothing, and says nothing.
func TestWrongCancelKey(t *testing.T) {
	db := adultDatabase(t)
	f := serve(t, options{})
	victim, truth := dial(t, f.dsn("alice")), db.truth(t)
	rows(t, truth, "SELECT pg_advisory_lock(7)")
	victim.Send(t, query("SELECT pg_advisory_lock_shared(7)"))
	const waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'fugu_guest' " +
		"AND wait_event = 'advisory')"
	eventually(t, func() bool { return rows(t, truth, waiting) == "[\"t\"]\n" }, "the victim waits")
	pid := string(binary.BigEndian.AppendUint32(nil, victim.PID))
	key := func(secret []byte) string { return packet(80877102, pid+string(secret)) }
	wrong := append([]byte(nil), victim.SecretKey...)
	wrong[0] ^= 1
	for _, send := range []string{key(wrong), key(nil), key(victim.SecretKey[:3]),
		key(append(append([]byte(nil), victim.SecretKey...), 0)),
		packet(80877102, "\x00\x00\x00\x01"+string(victim.SecretKey))} {
		c, err := net.Dial("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(hang))
		if _, err := io.WriteString(c, send); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(c)
		if err != nil && !isReset(err) {
			t.Errorf("the connection stays open: %v", err)
		}
		if contains(string(got), "Z\x00\x00\x00\x05") {
			t.Errorf("a cancel request was answered %q", got)
		}
		_ = c.Close()
	}
	if rows(t, truth, waiting) != "[\"t\"]\n" {
		t.Error("the victim does not wait any more")
	}
	rows(t, truth, "SELECT pg_advisory_unlock(7)")
	if got := victim.until(t, ready(1)); contains(got, "57014") || !contains(got, "SELECT 1") {
		t.Errorf("the victim got %s", got)
	}
}
