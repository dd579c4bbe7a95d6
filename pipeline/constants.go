package pipeline

import (
	"fugu/parser"
	"fugu/parser/lex"
)

// toShape moves edits of a text to its shape. No edit is within a constant.
func toShape(edits []parser.Edit, found []lex.Constant) []parser.Edit {
	out := make([]parser.Edit, len(edits))
	i, gone := 0, 0
	for k, e := range edits {
		for ; i < len(found) && found[i].At < e.At; i++ {
			gone += found[i].Len - found[i].Stand
		}
		e.At -= gone
		out[k] = e
	}
	return out
}

// fromShape moves edits of a shape to a text that has it.
func fromShape(edits []parser.Edit, found []lex.Constant) []parser.Edit {
	out := make([]parser.Edit, len(edits))
	i, gone := 0, 0
	for k, e := range edits {
		for ; i < len(found) && found[i].At-gone < e.At; i++ {
			gone += found[i].Len - found[i].Stand
		}
		e.At += gone
		out[k] = e
	}
	return out
}
