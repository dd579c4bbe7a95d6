package wire

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// The notation of testdata/pgtest: one step a line, with the names of the manual's chapter "Message Formats".
//
//	Query SELECT 1
//	Parse name=s types=20,20 SELECT $1 + $2
//	Bind portal=p statement=s formats=0,1 results=1 "1" NULL 0x00000002
//	Describe statement=s, Describe portal=p, Close statement=s, Close portal=p
//	Execute portal=p rows=2
//	Sync, Flush, Terminate, CopyData "1\n", CopyDone, CopyFail why, FunctionCall 1
//	Startup user=postgres options=-c\ geqo=off: in a script with the word raw
//	frame Q "body", bytes "anything"
//	plain N: reads bytes that are no message
//	until ParseComplete ReadyForQuery x20: reads replies up to those, in turn; what stands before is sent in one write
//	other SQL: another connection, to PostgreSQL itself, runs it
//	running MARK: waits until PostgreSQL runs a statement with the mark in its text
//	cancel, cancel wrong: a cancel request with this session's key, or with one that differs in a bit
//
// In front of a step, times=N repeats it.

// replyNames are the backend's messages by type.
var replyNames = map[byte]string{'1': "ParseComplete", '2': "BindComplete", '3': "CloseComplete",
	'A': "NotificationResponse",
	'C': "CommandComplete", 'D': "DataRow", 'E': "ErrorResponse", 'G': "CopyInResponse", 'H': "CopyOutResponse",
	'I': "EmptyQueryResponse",
	'K': "BackendKeyData", 'N': "NoticeResponse", 'R': "Authentication", 'S': "ParameterStatus", 'T': "RowDescription",
	'W': "CopyBothResponse",
	'Z': "ReadyForQuery", 'c': "CopyDone", 'd': "CopyData", 'n': "NoData", 's': "PortalSuspended",
	't': "ParameterDescription",
	'v': "NegotiateProtocolVersion"}

// named writes replies with their messages' names. brief leaves out the words of errors and notices, which differ
// between versions of PostgreSQL. What comes several times in a row, one reply or all up to a ReadyForQuery, is written
// once with its number.
func named(replies []string, brief bool) string {
	var cycles, cycle []string
	for _, r := range replies {
		cycle = append(cycle, describeReply(r, brief))
		if r[0] == 'Z' {
			cycles, cycle = append(cycles, strings.Join(counted(cycle), "\n")), nil
		}
	}
	return strings.Join(append(counted(cycles), counted(cycle)...), "\n") + "\n"
}

func describeReply(r string, brief bool) string {
	typ, rest, _ := strings.Cut(r, " ")
	if name, ok := replyNames[typ[0]]; ok && len(typ) == 1 {
		typ = name
	}
	if parts := strings.SplitN(rest, " ", 3); brief && len(parts) == 3 && (r[0] == 'E' || r[0] == 'N') {
		rest = parts[0] + " " + parts[1]
	}
	if text, err := strconv.Unquote(rest); err == nil && strings.ContainsRune("CZS123sncKI", rune(r[0])) {
		rest = strings.ReplaceAll(strings.TrimSuffix(text, "\x00"), "\x00", "=")
	}
	if name, _, ok := strings.Cut(rest, "="); ok && r[0] == 'S' && name == "server_version" {
		// Which one is installed does not matter.
		rest = name
	}
	return strings.TrimSpace(typ + " " + rest)
}

// counted puts a number behind what is there several times in a row.
func counted(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		line := lines[i]
		if n > 1 {
			line += fmt.Sprintf("  x%d", n)
		}
		out = append(out, line)
		i += n
	}
	return out
}

// readScript reads the notation.
func readScript(t testing.TB, text string) script {
	t.Helper()
	var s script
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		n := 1
		if rest, ok := strings.CutPrefix(line, "times="); ok {
			count, rest, _ := strings.Cut(rest, " ")
			n, line = number(t, count), rest
		}
		step := readStep(t, line)
		for range n {
			s = append(s, step)
		}
	}
	return s
}

func readStep(t testing.TB, line string) any {
	t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "Query":
		return q(rest)
	case "Parse":
		o, sql := options(rest, "name", "types")
		m := parse(o["name"], sql)
		for _, oid := range list(o["types"]) {
			m.ParameterOIDs = append(m.ParameterOIDs, uint32(number(t, oid)))
		}
		return m
	case "Bind":
		return readBind(t, rest)
	case "Describe", "Close":
		kind, name, _ := strings.Cut(rest, "=")
		if kind != "statement" && kind != "portal" {
			t.Fatalf("%q: of a statement or a portal?", line)
		}
		of := strings.ToUpper(kind)[0]
		if word == "Close" {
			return &pgproto3.Close{ObjectType: of, Name: name}
		}
		return &pgproto3.Describe{ObjectType: of, Name: name}
	case "Execute":
		o, _ := options(rest, "portal", "rows")
		m := exec(o["portal"])
		if o["rows"] != "" {
			m.MaxRows = uint32(number(t, o["rows"]))
		}
		return m
	case "Sync":
		return sync_
	case "Flush":
		return flush
	case "CopyData":
		return data(unquote(t, rest))
	case "CopyDone":
		return copyDone
	case "CopyFail":
		return &pgproto3.CopyFail{Message: rest}
	case "FunctionCall":
		return frame('F', string(binary.BigEndian.AppendUint32(nil, uint32(number(t, rest))))+
			"\x00\x00\x00\x00\x00\x00")
	case "Terminate":
		return &pgproto3.Terminate{}
	case "frame":
		typ, body, _ := strings.Cut(rest, " ")
		return frame(typ[0], unquote(t, body))
	case "bytes":
		return []byte(unquote(t, rest))
	case "until":
		return readUntil(t, rest)
	}
	return readAction(t, line, word, rest)
}

func readBind(t testing.TB, rest string) *pgproto3.Bind {
	o, rest := options(rest, "portal", "statement", "formats", "results")
	m := bind(o["portal"], o["statement"])
	for _, f := range list(o["formats"]) {
		m.ParameterFormatCodes = append(m.ParameterFormatCodes, int16(number(t, f)))
	}
	for _, f := range list(o["results"]) {
		m.ResultFormatCodes = append(m.ResultFormatCodes, int16(number(t, f)))
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		var value string
		switch {
		case rest[0] == '"':
			prefix, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatalf("%q: %v", rest, err)
			}
			m.Parameters, rest = append(m.Parameters, []byte(unquote(t, prefix))), rest[len(prefix):]
		default:
			value, rest, _ = strings.Cut(rest, " ")
			b, err := hex.DecodeString(strings.TrimPrefix(value, "0x"))
			if value != "NULL" && err != nil {
				t.Fatalf("%q is no value", value)
			}
			if value == "NULL" {
				b = nil
			}
			m.Parameters = append(m.Parameters, b)
		}
	}
	return m
}

// readUntil gives the types to wait for.
func readUntil(t testing.TB, rest string) string {
	var types []byte
	for _, word := range strings.Fields(rest) {
		if n, ok := strings.CutPrefix(word, "x"); ok {
			for range number(t, n) - 1 {
				types = append(types, types[len(types)-1])
			}
			continue
		}
		typ := byte(0)
		for k, name := range replyNames {
			if name == word {
				typ = k
			}
		}
		if typ == 0 && word != "end" {
			t.Fatalf("no message is called %q", word)
		}
		types = append(types, typ)
	}
	return string(types)
}

// options reads name=value words of the given names, and returns what stands behind them. A backslash makes a space
// part of a value.
func options(rest string, names ...string) (map[string]string, string) {
	out := map[string]string{}
	for {
		name, after, ok := strings.Cut(rest, "=")
		if !ok || names != nil && !contained(names, name) || strings.Contains(name, " ") {
			return out, rest
		}
		i := 0
		for i < len(after) && (after[i] != ' ' || i > 0 && after[i-1] == '\\') {
			i++
		}
		out[name] = strings.ReplaceAll(after[:i], `\ `, " ")
		rest = strings.TrimPrefix(after[i:], " ")
	}
}

func contained(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func number(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%q is no number", s)
	}
	return n
}

func unquote(t testing.TB, s string) string {
	t.Helper()
	text, err := strconv.Unquote(s)
	if err != nil {
		t.Fatalf("%q is no Go string", s)
	}
	return text
}
