package lex

import "strings"

// Lasting reports whether a text may change what outlives its transaction in the database's session: settings,
// temporary tables, cursors WITH HOLD, prepared statements, channels, advisory locks. It looks at words alone, and what
// it does not know lasts. What functions do inside cannot be seen here: the session itself is asked for that
// (upstream.Guest.Renew).
func Lasting(sql string) bool {
	var first, previous word // of the statement
	for s := (scanner{rest: sql}); ; {
		w, kind := s.next()
		switch {
		case kind == noToken:
			return false
		case kind == endOfStatement:
			first, previous = word{}, word{}
			continue
		case kind == awkwardToken, w.text == "":
			return true
		case first.text == "" && w.is("set"):
		case first.text == "" && (w.quoted || !w.passes()):
			return true
		case first.is("set") && previous.is("set") && (w.quoted || !w.is("local") && !w.is("transaction") &&
			!w.is("constraints")):
			return true
		case w.leaves(previous):
			return true
		}

		// Words that passed are remembered: what SET LOCAL is shows in its second.
		if first.text == "" {
			first = w
		}
		previous = w
	}
}

// passing are the words that statements begin with of which nothing outlives the transaction, or only what all sessions
// see.
var passing = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(
		`abort alter analyze begin close cluster comment commit copy create declare delete drop end
		explain fetch grant insert lock merge move notify reindex refresh release revoke rollback savepoint select show
		start table truncate update vacuum values with`) {
		m[w] = true
	}
	return m
}()

// word is an identifier or a keyword.
type word struct {
	text   string
	quoted bool
}

func (w word) passes() bool {
	var b [maxIdent]byte
	return len(w.text) <= maxIdent && passing[string(fold(&b, w.text))]
}

func (w word) is(name string) bool { return strings.EqualFold(w.text, name) }

func (w word) begins(prefix string) bool {
	return len(w.text) >= len(prefix) && strings.EqualFold(w.text[:len(prefix)], prefix)
}

// leaves reports whether a word, behind another, is one of what lasts; a column of such a name makes no difference.
func (w word) leaves(previous word) bool {
	if len(w.text) < len("hold") {
		return false
	}
	switch w.text[0] | 0x20 {
	case 't': // CREATE [LOCAL] TEMPORARY TABLE, SELECT INTO TEMP
		return (w.is("temp") || w.is("temporary")) &&
			(previous.is("create") || previous.is("replace") || previous.is("local") || previous.is("global") ||
				previous.is("into"))
	case 'h': // DECLARE ... CURSOR WITH HOLD
		return w.is("hold") && previous.is("with")
	case 'e': // EXPLAIN EXECUTE, CREATE TABLE AS EXECUTE
		return w.is("execute")
	case 's':
		return w.is("set_config") || w.is("setseed")
	case 'c', 'l': // what a sequence gave the session last
		return w.is("currval") || w.is("lastval")
	case 'd':
		return w.begins("dblink")
	case 'p': // a client that knows its process may name it to others
		return w.begins("pg_temp") || w.is("pg_backend_pid") ||
			(w.begins("pg_advisory_") || w.begins("pg_try_advisory_")) && !w.begins("pg_advisory_xact_") &&
				!w.begins("pg_try_advisory_xact_")
	}
	return false
}
