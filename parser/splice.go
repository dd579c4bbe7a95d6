package parser

import (
	"strings"
	"unicode/utf8"
)

// Edit is a change of a text where it stands: the word put takes the place of cut bytes at an offset.
type Edit struct {
	At, Cut int
	Put     string
}

// Splice is a client's text in which nothing but names was changed, so that it is sent as the client's own would be.
type Splice struct {
	Text  string
	Edits []Edit // of the client's text, in order
	// Plain: all of it are SELECT, INSERT, UPDATE, DELETE and MERGE, in which no string is code, nor a name.
	Plain  bool
	client string
}

// Spliced changes a text. The edits are in order, and do not overlap.
func Spliced(sql string, edits []Edit) Splice {
	var b strings.Builder
	n := len(sql)
	for _, e := range edits {
		n += len(e.Put) - e.Cut
	}
	b.Grow(n)
	at := 0
	for _, e := range edits {
		b.WriteString(sql[at:e.At])
		b.WriteString(e.Put)
		at = e.At + e.Cut
	}
	b.WriteString(sql[at:])
	return Splice{Text: b.String(), Edits: edits, client: sql}
}

// At gives the position in the client's text of one in the spliced text, both in characters from 1; 0 stays 0.
func (s *Splice) At(position int32) int32 {
	if position < 1 {
		return 0
	}
	offset := 0 // in bytes, of the spliced text
	for range position - 1 {
		_, n := utf8.DecodeRuneInString(s.Text[offset:])
		offset += n
	}

	// Edits come in order: those before the place have moved it.
	moved := 0
	for _, e := range s.Edits {
		begin := e.At + moved
		if offset < begin {
			break
		}
		if offset < begin+len(e.Put) { // within what the client did not write
			return int32(charPosition(s.client, e.At))
		}
		moved += len(e.Put) - e.Cut
	}
	return int32(charPosition(s.client, min(offset-moved, len(s.client))))
}

// Size is how many bytes it keeps alive, about.
func (s Splice) Size() int {
	n := 96 + len(s.Text) + len(s.client)
	for _, e := range s.Edits {
		n += 32 + len(e.Put)
	}
	return n
}
