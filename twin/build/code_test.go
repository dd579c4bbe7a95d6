package build_test

import (
	"strings"
	"testing"

	"fugu/test/patient"
	"fugu/test/policies"
	"fugu/twin/build"
)

// A function of a secret's condition that guests may replace is not called with the keeper's rights: this one, once it
// is replaced, leaves how many customers are rich in a sequence of the guest's, where nothing is rolled back.
func TestConditionByAGuestsFunction(t *testing.T) {
	patient.Test(t)
	const guests = `CREATE FUNCTION is_rich(bool) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $1; END $$;
		CREATE OPERATOR !!! (RIGHTARG = bool, FUNCTION = is_rich); CREATE SEQUENCE loot;
		ALTER FUNCTION is_rich OWNER TO shop_guest; ALTER SEQUENCE loot OWNER TO shop_guest;
		GRANT ALL ON SEQUENCE loot TO PUBLIC;
		CREATE OR REPLACE FUNCTION is_rich(bool) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
		  PERFORM pg_catalog.setval('public.loot', (SELECT count(*) FROM public.customer WHERE rich));
		  RETURN $1; END $$;`
	for name, condition := range map[string]string{"function": "public.is_rich(rich)",
		"operator": "(OPERATOR(public.!!!) rich)", "subquery": "EXISTS (SELECT WHERE public.is_rich(rich))",
		"constant": "rich AND public.is_rich(true)"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "guests_"+name, shop+guests, richPolicy)
			w.policy = policies.Load(t, strings.Replace(richPolicy, "proportion: rich",
				"proportion: '"+condition+"'", 1))
			const why = "calls public.is_rich(boolean), which belongs to a role that guests can be"

			// A check comes before the first build, and leaves nothing behind.
			err := build.CheckConditions(t.Context(), w.keeper.Conn, w.policy, w.policy.Tables[0].Qualified(),
				w.keeper.Guests)
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("a check: %v", err)
			}
			if got := w.one("SELECT to_regnamespace('fugu_twin') IS NULL"); got != "t" {
				t.Error("a check made the schema of twins")
			}
			w.refused(build.Options{}, why)
			if got := w.one("SELECT is_called FROM loot"); got != "f" {
				t.Error("the guest's function was called")
			}

			// Of another owner it may be called.
			w.column("CREATE OR REPLACE FUNCTION is_rich(bool) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT $1'")
			w.column("ALTER FUNCTION is_rich OWNER TO CURRENT_USER")
			if r := w.build(build.Options{}); !r.Made {
				t.Errorf("%+v", r)
			}
		})
	}
}
