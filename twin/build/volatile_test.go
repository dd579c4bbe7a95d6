package build_test

import (
	"strings"
	"testing"

	"fugu/test/policies"
	"fugu/twin/build"
)

// A condition of a secret that may be another at each look at a row is refused before anything is read or charged,
// however far down it is so; one that only the rows, the statement or the transaction decide about is not.
func TestVolatileConditions(t *testing.T) {
	w := newWorld(t, "volatile", shop+`
		CREATE FUNCTION mine(int) RETURNS bool LANGUAGE sql AS 'SELECT $1 > 30';
		CREATE FUNCTION theirs(int) RETURNS bool LANGUAGE sql STABLE AS 'SELECT $1 > 30';
		CREATE FUNCTION unlike(int, int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN $1 > $2; END';
		CREATE OPERATOR >>> (LEFTARG = int, RIGHTARG = int, FUNCTION = unlike);
		CREATE VIEW dice AS SELECT random() AS thrown;
		GRANT SELECT ON dice TO shop_keeper`, shopPolicy)
	for condition, volatile := range map[string]bool{
		"rich":                              false,
		"age > 30":                          false,
		"age IS NULL":                       false,
		"true":                              false,
		"now() > '2020-01-01' AND age > 30": false,
		"public.theirs(age)":                false,
		"EXISTS (SELECT FROM public.line WHERE nr = age)": false,
		"random() < 0.5": true,
		"rich AND clock_timestamp() > '2020-01-01'":                                      true,
		"CASE WHEN rich THEN true ELSE length(gen_random_uuid()::text || note) > 40 END": true,
		"age OPERATOR(public.>>>) 30":                                                    true,
		"age > (SELECT 60 * thrown FROM public.dice)":                                    true,
		"(SELECT bool_or(public.unlike(age, nr)) FROM public.line)":                      true,
	} {
		p := policies.Load(t, strings.Replace(shopPolicy, "proportion: rich", "proportion: \""+condition+"\"", 1))
		err := build.CheckConditions(t.Context(), w.keeper.Conn, p, p.Tables[0].Qualified(), nil)
		if volatile && (err == nil || !strings.Contains(err.Error(), "volatile")) || !volatile && err != nil {
			t.Errorf("%s: %v", condition, err)
		}
	}

	p := policies.Load(t, strings.Replace(shopPolicy, "proportion: rich", "proportion: random() < 0.5", 1))
	_, err := w.keeper.Build(t.Context(), p, p.Tables[0], build.Options{})
	if err == nil || !strings.Contains(err.Error(), "secret rich: its condition calls a volatile function") {
		t.Errorf("a build: %v", err)
	}
	if got := w.one("SELECT to_regclass('fugu_twin.customer') IS NULL"); got != "t" {
		t.Error("something was built")
	}
}
