package pipeline

import (
	"context"
	"slices"

	"fugu/parser"
	"fugu/parser/lex"
	"fugu/wire"
)

// A text that means twins and asks nothing else of Fugu differs from what the guest runs by the names alone. They are
// changed where they stand, and the text is then relayed as an ordinary one is. Where it has constants, the next text
// that differs by these alone is changed at the same places, without being parsed.
//
// That is as sound as an ordinary text is: whatever comes of it is looked at as one is before it is sent, and the guest
// has no right on the tables whose names might have been missed.

// shape is what texts come to that differ by constants alone.
type shape struct {
	template                 // of one of them
	edits     []parser.Edit  // of that one's text
	constants []lex.Constant // of that one's text
}

// renaming is a text that was interpreted under a snapshot, when its names meant what they mean everywhere, and the one
// statement that came of it, which is the session's own. Interpreting it again would come to the same.
type renaming struct {
	snapshot   *Snapshot
	sql        string
	types      []uint32
	statements []wire.Statement
}

func (r renaming) is(snap *Snapshot, sql string, types []uint32) bool {
	return r.snapshot == snap && r.sql == sql && slices.Equal(r.types, types)
}

// size is how many bytes it keeps alive, about.
func (s shape) size() int {
	n := s.template.size() + 24*len(s.constants)
	for _, e := range s.edits {
		n += 32 + len(e.Put)
	}
	return n
}

// shapeEntries and shapeMemory, in bytes, bound the shapes that are known.
const (
	shapeEntries = 4096
	shapeMemory  = 16 << 20
)

// renamed plans a text that only has to name twins; ok is false if there is more to it.
func (p planning) renamed(ctx context.Context, key planKey, statements []*parser.Statement,
	paramTypes []uint32) (t template, ok bool, err error) {
	splice, ok := parser.Rename(key.sql, statements)
	if !ok {
		return template{}, false, nil
	}

	var uses []parser.TwinUse
	params := 0
	for _, st := range statements {
		uses = append(uses, st.Twins...)
		params = max(params, st.Params)
	}
	t = template{params: params, fingerprint: parser.Fingerprint(key.sql)}
	if t.twins, err = p.built.Tables(ctx, p.reader, p.Snapshot.Snapshot, uses); err != nil {
		return template{}, false, err
	}

	// Another text of the same shape need not be parsed, unless one of its strings could mean anything to a mask.
	if found, ok := lex.Constants(key.sql); ok && splice.Plain && !p.Shadows().Touches(splice.Text) {
		by := planKey{sql: lex.Shape(key.sql, found), means: key.means}
		sh := shape{t, splice.Edits, found}
		p.shapes.Add(by, sh, by.size()+sh.size())
	}
	return t.renames(key.sql, splice, paramTypes), true, nil
}

// reshaped returns the template of a text if another was planned that differs from it by constants alone.
func (s *Snapshot) reshaped(key planKey, paramTypes []uint32) (template, bool) {
	found, ok := lex.Constants(key.sql)
	if !ok {
		return template{}, false
	}
	sh, ok := s.shapes.Get(planKey{sql: lex.Shape(key.sql, found), means: key.means})
	if !ok {
		return template{}, false
	}
	edits, ok := moved(sh.edits, sh.constants, found)
	if !ok {
		return template{}, false
	}
	splice := parser.Spliced(key.sql, edits)
	if s.Shadows().Touches(splice.Text) { // by a word in a string: whoever parses it may find more to do
		return template{}, false
	}
	return sh.renames(key.sql, splice, paramTypes), true
}

// renames returns the template for one text of the shape.
func (t template) renames(sql string, splice parser.Splice, paramTypes []uint32) template {
	t.masked, t.source, t.text, t.splice = true, sql, splice.Text, &splice
	t.types, t.params = paramTypes, max(t.params, len(paramTypes))
	return t
}

// moved moves the edits of one text to their places in another that differs from it by constants alone. from are the
// constants of the one and to those of the other, and no edit is within a constant. ok is false if one text has more of
// them than the other.
func moved(edits []parser.Edit, from, to []lex.Constant) (out []parser.Edit, ok bool) {
	if len(from) != len(to) {
		return nil, false
	}
	out = make([]parser.Edit, len(edits))
	i, longer := 0, 0
	for k, e := range edits {
		for ; i < len(from) && from[i].At < e.At; i++ {
			longer += to[i].Len - from[i].Len
		}
		e.At += longer
		out[k] = e
	}
	return out, true
}
