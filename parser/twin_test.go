package parser

import (
	"strings"
	"testing"
)

// twinned is a catalog in which the table account is answered from its twin.
type twinned struct{ catalog }

func (twinned) Twin(schema, name string) (Table, bool) {
	ours := schema == "" || schema == "public" || schema == TwinSchema
	return Table{Schema: "public", Name: "account", Twin: true}, ours && name == "account"
}

// A name that means the table gets the schema of twins where it stands, and nothing else changes. What an error says of
// a place behind it is brought back to where that is in the client's text.
func TestTwinsAreNamedWhereTheyStand(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a.id FROM account a WHERE here":         "SELECT a.id FROM fugu_twin.account a WHERE here",
		"SELECT 'ä', id FROM public.account WHERE here": "SELECT 'ä', id FROM fugu_twin.account WHERE here",
		"SELECT public.account.id FROM public.account, log WHERE here": "SELECT fugu_twin.account.id FROM " +
			"fugu_twin.account, log WHERE here",
		"INSERT INTO log SELECT id FROM account WHERE here": "INSERT INTO log SELECT id FROM fugu_twin.account " +
			"WHERE here",
		"WITH x AS (SELECT id FROM account) SELECT 1 FROM x, account AS x2 WHERE here": "WITH x AS (SELECT id FROM " +
			"fugu_twin.account) SELECT 1 FROM x, fugu_twin.account AS x2 WHERE here",
	} {
		statements, err := Parse(sql, twinned{})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		splice, ok := Rename(sql, statements)
		if !ok || splice.Text != want || !splice.Plain || len(statements[0].Twins) == 0 {
			t.Errorf("%s became %q (%v, plain: %v)", sql, splice.Text, ok, splice.Plain)
			continue
		}
		place := int32(len([]rune(want[:strings.Index(want, "here")])) + 1)
		if got, want := splice.At(place), len([]rune(sql[:strings.Index(sql, "here")]))+1; int(got) != want {
			t.Errorf("%s: character %d was %d, not %d", sql, place, want, got)
		}
		if inside := int32(strings.Index(want, "twin.") + 1); splice.At(inside) >= place || splice.At(0) != 0 {
			t.Errorf("%s: what is put in stands at %d", sql, splice.At(inside))
		}
	}
}

// Of these no edit of names makes the twin's statement: there is no twin in them, or more to do than to name it.
func TestTwinsThatTakeMoreThanEdits(t *testing.T) {
	for _, sql := range []string{
		"SELECT 1",
		"WITH account AS (SELECT 1 AS id) SELECT id FROM account",
		"SELECT id FROM other.account",
		"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT max(id) FROM account'",
		"SET fugu.epsilon = 1",
	} {
		statements, err := Parse(sql, twinned{})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if splice, ok := Rename(sql, statements); ok {
			t.Errorf("%s became %s", sql, splice.Text)
		}
	}

	// A function's body is written anew, where it is SQL.
	statements, err := Parse("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT max(id) FROM account'", twinned{})
	if err != nil {
		t.Fatal(err)
	}
	if text, _, err := statements[0].RewriteShadows(); err != nil || !strings.Contains(text, "fugu_twin.account") {
		t.Errorf("%s, %v", text, err)
	}
}
