package wire

import (
	"bytes"
	"encoding/binary"

	"fugu/sqlstate"
)

// fields reads a message's fields, strictly and without copies. After the first that is not there, torn says so in
// PostgreSQL's words.
type fields struct {
	rest []byte
	torn string
}

// What PostgreSQL says of a message whose fields cannot be (pqformat.c).
const (
	noString = "invalid string in message"
	tooShort = "insufficient data left in message"
	noByte   = "no data left in message"
	tooLarge = "invalid message format"
)

// tear takes note of the first field that is not there.
func (f *fields) tear(why string) {
	if f.torn == "" {
		f.torn = why
	}
	f.rest = nil
}

// take gives the next n bytes.
func (f *fields) take(n int) []byte {
	if n < 0 || n > len(f.rest) {
		f.tear(tooShort)
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

// text is a String of the manual's: the bytes before the next NUL.
func (f *fields) text() []byte {
	n := bytes.IndexByte(f.rest, 0)
	if n < 0 {
		f.tear(noString)
		return nil
	}
	return f.take(n + 1)[:n]
}

func (f *fields) byte() byte {
	if len(f.rest) == 0 {
		f.tear(noByte)
		return 0
	}
	return f.take(1)[0]
}

func (f *fields) count() int {
	if b := f.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (f *fields) int32() int32 {
	if b := f.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// end is an error unless all fields were there, and nothing behind them.
func (f *fields) end() error {
	if len(f.rest) > 0 {
		f.tear(tooLarge)
	}
	if f.torn != "" {
		return sqlstate.New(sqlstate.ProtocolViolation, "%s", f.torn)
	}
	return nil
}

// The functions below check a message as a whole, and give the names and texts in it; these are good as long as the
// body.

func queryFields(body []byte) (sql []byte, err error) {
	f := fields{rest: body}
	sql = f.text()
	return sql, f.end()
}

func parseFields(body []byte) (name, sql, types []byte, err error) {
	f := fields{rest: body}
	name, sql = f.text(), f.text()
	types = f.take(4 * f.count())
	return name, sql, types, f.end()
}

func bindFields(body []byte) (portal, statement []byte, err error) {
	f := fields{rest: body}
	portal, statement = f.text(), f.text()
	f.take(2 * f.count()) // format codes of parameters
	for n := f.count(); n > 0 && f.torn == ""; n-- {
		if length := f.int32(); length != -1 { // NULL
			f.take(int(length))
		}
	}
	f.take(2 * f.count()) // format codes of results
	return portal, statement, f.end()
}

func executeFields(body []byte) (portal []byte, err error) {
	f := fields{rest: body}
	portal = f.text()
	f.int32() // rows at most
	return portal, f.end()
}

// objectFields are those of Describe and Close: a statement, S, or a portal, P, and its name.
func objectFields(body []byte) (kind byte, name []byte, err error) {
	f := fields{rest: body}
	kind, name = f.byte(), f.text()
	return kind, name, f.end()
}
