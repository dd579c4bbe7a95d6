package lex

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestContainsFold(t *testing.T) {
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"select * from adult", "adult", true}, {"ADULT", "adult", true}, {"aDuLt", "adult", true},
		{`"Adult"`, "adult", true},
		{"xadultx", "adult", true}, {"adul", "adult", false}, {"", "adult", false}, {"adul t", "adult", false},
		{"aadult", "adult", true},
		{"SHOW fugu.epsilon", "fugu", true}, {"my_table", "my_table", true}, {"MY_TABLE", "my_table", true},
		{"my\x7ftable", "my_table", false},
		{"a table of Käufer", "käufer", true}, {"KÄUFER", "käufer", true},
	} {
		if got := ContainsFold(c.text, c.word); got != c.want {
			t.Errorf("%q in %q: %v", c.word, c.text, got)
		}
	}
}

func FuzzContainsFold(f *testing.F) {
	f.Add("SELECT 1 FROM Adult", "adult")
	f.Add("ad\xffult", "u")
	f.Fuzz(func(t *testing.T, text, word string) {
		for _, b := range []byte(text + word) {
			if b >= 0x80 {
				return
			}
		}
		word = strings.ToLower(word)
		if word == "" {
			return
		}
		if got, want := ContainsFold(text, word), strings.Contains(strings.ToLower(text), word); got != want {
			t.Errorf("%q in %q: %v, want %v", word, text, got, want)
		}
	})
}

// Names are such as PostgreSQL allows for a table: plain, with digits and dollar signs, above ASCII, with capitals that
// need quotes, with quotes in them, and as long as can be.
var Names = []string{"adult", "fugu", "my_table", "t2", "a$b", "_x", "Käufer", "Ⱥbc", "Order Lines", `6" pipes`,
	`say "hi"`, "1st", "$cash", "Mixed",
	strings.Repeat("n", maxIdent), strings.Repeat("ü", maxIdent/2), "a.b"}

// What can name a protected table, or a setting or table of Fugu's, is never taken for ordinary.
func TestWords(t *testing.T) {
	w := NewWords(Names...)
	for _, sql := range []string{
		"SELECT count(*) FROM adult", "TABLE Public.ADULT", `SELECT 1 FROM "adult"`, "SHOW FUGU.epsilon",
		"SELECT * FROM fugu.budget", "adult", "(adult)",
		"SELECT 1adult", "SELECT 1e5adult", "SELECT $1adult", "SELECT 0x1adult", "SELECT 1.adult", "SELECT $$x$$adult",
		"SELECT $t$adult$t$", "SELECT A$B",
		`SELECT count(*) FROM U&"\0061dult"`, `u&"d!0061t" UESCAPE '!'`, "SELECT 'adult'", "-- adult", "/*adult*/",
		"DROP TABLE x,adult;", "x\nadult\ty", "t2", "x.t2",
		`SELECT 1 FROM "Order Lines"`, `SELECT 1 FROM "6"" pipes"`, `"say ""hi"""`, `"1st"`, `"$cash"`, "Käufer",
		`"Ⱥbc"`, "ⱥbc Ⱥbc", `"a.b"`,
		strings.Repeat("N", maxIdent+9), `"` + strings.Repeat("n", maxIdent) + ` and so on"`,
		strings.Repeat("n", maxIdent) + "$1", "1" + strings.Repeat("n", maxIdent+1),
		strings.Repeat("ü", maxIdent/2+1),
	} {
		if !w.In(sql) {
			t.Errorf("%s: taken for ordinary", sql)
		}
	}
	for _, sql := range []string{"", "SELECT 1", "SELECT * FROM country", "adults", "adult_reference", "an_adult",
		"adul t", "SELECT $1, $2, $13 FROM t1", "a$c", "xt2", "t21",
		"u & \"a\"", "1+2-3e5", strings.Repeat("n", maxIdent-1), "&\"", "U&'\\0061dult'"} {
		if w.In(sql) {
			t.Errorf("%s: not taken for ordinary", sql)
		}
	}
}

// Spell writes a name as one of the ways in which PostgreSQL reads it.
func Spell(r *rand.Rand, name string) string {
	plain := true
	for i := range len(name) {
		c := class[name[i]]
		plain = plain && c != other && (i > 0 || c == letter) && !('A' <= name[i] && name[i] <= 'Z')
	}
	switch form := r.IntN(4); {
	case plain && form == 0:
		return name
	case plain && form == 1:
		b := []byte(name)
		for i := range b {
			if 'a' <= b[i] && b[i] <= 'z' && r.IntN(2) == 0 {
				b[i] -= 0x20
			}
		}
		return string(b)
	case form == 2:
		var b strings.Builder
		for _, c := range name {
			switch r.IntN(4) {
			case 0:
				fmt.Fprintf(&b, `\%04x`, c)
			case 1:
				fmt.Fprintf(&b, `\+%06X`, c)
			case 2:
				b.WriteString(strings.ReplaceAll(string(c), `"`, `""`))
			default:
				b.WriteString(strings.ReplaceAll(string(c), `"`, `""`))
			}
		}
		return "Uu"[r.IntN(2):][:1] + `&"` + b.String() + `"`
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
