// Package tree walks the trees that PostgreSQL's grammar makes of statements (pg_query_go), and compares them with
// text. It knows how the structures are laid out, and nothing of what they mean to Fugu.
package tree

import (
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// Position is the position of a byte offset in a text, in characters from 1; 0 (none) of one outside of it.
func Position(sql string, offset int32) int {
	if offset < 0 || int(offset) > len(sql) {
		return 0
	}
	return utf8.RuneCountInString(sql[:offset]) + 1
}

// Clone copies a message and all that is below it.
func Clone[M proto.Message](m M) M { return proto.Clone(m).(M) }

// Displace takes the places from a tree that no client has written.
func Displace(root *pg.Node) {
	Inspect(root, func(m proto.Message) bool {
		Unplace(m)
		return true
	})
}

// LastString returns the last part of a qualified name.
func LastString(ns []*pg.Node) string {
	if len(ns) == 0 {
		return ""
	}
	return ns[len(ns)-1].GetString_().GetSval()
}

// Qualified refers to a column of the relation that has the alias.
func Qualified(alias, column string) *pg.Node_ColumnRef {
	return &pg.Node_ColumnRef{ColumnRef: &pg.ColumnRef{Fields: []*pg.Node{pg.MakeStrNode(alias),
		pg.MakeStrNode(column)}}}
}

// Code returns the language and the text of a DO block or a function. A function in C has two texts: its language
// decides.
func Code(options []*pg.Node) (language, code string) {
	language = "plpgsql"
	for _, n := range options {
		d := n.GetDefElem()
		switch d.GetDefname() {
		case "language":
			language = d.Arg.GetString_().GetSval()
		case "as":
			code = d.Arg.GetString_().GetSval()
			if l := d.Arg.GetList(); l != nil {
				code = LastString(l.Items)
			}
		}
	}
	return language, code
}
