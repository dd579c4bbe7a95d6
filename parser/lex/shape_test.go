package lex

import (
	"strings"
	"testing"
)

// What stands in a constant's place in another way is of another shape.
func TestTextsApart(t *testing.T) {
	for _, pair := range [][2]string{
		{`SELECT 1 FROM account`, `SELECT 1.0 FROM account`}, {`SELECT 1 FROM account`, `SELECT '1' FROM account`},
		{`SELECT 1 FROM account`, `SELECT 3000000000 FROM account`}, {`SELECT 1 FROM account`, `SELECT $1 FROM account`},
		{`SELECT 'a' FROM account`, `SELECT 'a' 'b' FROM account`}, {`SELECT "a" FROM account`, `SELECT "b" FROM account`},
		{`SELECT 1 FROM account -- 1`, `SELECT 1 FROM account -- 2`}, {`SELECT a1 FROM account`, `SELECT a2 FROM account`},
		{`SELECT $1 FROM account`, `SELECT $2 FROM account`}, {`SELECT 1.5 FROM account`, `SELECT 2.5 FROM account`},
		{`SELECT 1 FROM account`, `SELECT  FROM account`},
		{`SELECT 1e5 FROM account`, `SELECT 1e6 FROM account`}, {`SELECT 0x1 FROM account`, `SELECT 0x2 FROM account`},
	} {
		a, ok1 := ShapeOf(pair[0])
		b, ok2 := ShapeOf(pair[1])
		if !ok1 || !ok2 || a.Text == b.Text {
			t.Errorf("%q and %q have one shape", pair[0], pair[1])
		}
	}
	for _, sql := range []string{`SELECT E'a'`, `SELECT b'1'`, `SELECT x'1'`, `SELECT n'a'`, `SELECT U&'a'`,
		`SELECT U&"a"`, `SELECT $$a$$`, `SELECT $a$b$a$`, `SELECT 'a\'`, `SELECT 'a`, `SELECT "a`, `SELECT /* a`,
		`SELECT 1'a'`, `SELECT $1a`, "SELECT '\x00'", strings.Repeat("x", shapeBytes+1)} {
		if _, ok := ShapeOf(sql); ok {
			t.Errorf("%q has a shape", sql)
		}
	}
}
