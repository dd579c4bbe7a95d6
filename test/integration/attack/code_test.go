//go:build fuguhooks

package attack

import (
	"fmt"
	"testing"

	"fugu/internal/hook"
)

// plantedCode makes tables and types whose functions look at what they may not, wherever they are called.
const plantedCode = `
	CREATE OR REPLACE FUNCTION public.look(way int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
	  IF pg_catalog.has_table_privilege('public.customer', 'SELECT') THEN
	    PERFORM pg_catalog.pg_advisory_lock_shared(way, (SELECT count(*)::int FROM public.customer
	      WHERE income = 'high'));
	  END IF;
	  RETURN 1; END $$;
	CREATE OR REPLACE FUNCTION public.spied(int, int) RETURNS boolean LANGUAGE plpgsql AS $$
	  BEGIN PERFORM pg_catalog.pg_advisory_lock_shared(5, $1); RETURN pg_catalog.int4gt($1, $2); END $$;
	CREATE OR REPLACE FUNCTION public.lead() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
	  BEGIN PERFORM pg_catalog.set_config('search_path', 'public, pg_catalog', false); RETURN 1; END $$;
	DO $$ BEGIN CREATE OPERATOR public.> (LEFTARG = int, RIGHTARG = int, FUNCTION = public.spied); EXCEPTION
	  WHEN duplicate_function THEN NULL; END $$;
	RESET ROLE; DROP TABLE IF EXISTS public.lent; SET ROLE fugu_guest;
	DROP TABLE IF EXISTS public.indexed, public.partly, public.counted, public.led, public.parent CASCADE;
	CREATE TABLE public.indexed AS SELECT 'north' AS region, 1 AS weight;
	CREATE TABLE public.partly AS TABLE public.indexed;
	CREATE TABLE public.counted AS TABLE public.indexed;
	CREATE TABLE public.led AS TABLE public.indexed;
	CREATE TABLE public.parent AS TABLE public.indexed;
	CREATE TABLE public.child (CHECK (weight < 10 + public.look(4))) INHERITS (public.parent);
	CREATE INDEX ON public.indexed ((weight + public.look(1)));
	CREATE INDEX ON public.partly (weight) WHERE weight > public.look(2);
	CREATE STATISTICS public.looked ON (weight + public.look(3)), region FROM public.counted;
	CREATE INDEX ON public.led ((weight + public.lead()));
	GRANT SELECT ON public.indexed, public.partly, public.counted, public.led, public.parent,
	  public.child TO fugu_reader;
	DROP TYPE IF EXISTS public.mood CASCADE;
	DROP DOMAIN IF EXISTS public.checked;
	CREATE TYPE public.mood AS ENUM ('north');
	CREATE FUNCTION public.felt(public.mood) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.look(6);
	  RETURN 'north'; END $$;
	CREATE CAST (public.mood AS text) WITH FUNCTION public.felt(public.mood) AS IMPLICIT;
	CREATE DOMAIN public.checked AS text CHECK (public.look(7) = 1);
	RESET ROLE;
	CREATE TABLE public.lent AS TABLE public.indexed;
	CREATE INDEX ON public.lent ((weight + public.look(8)));
	GRANT SELECT ON public.lent TO fugu_reader, fugu_guest;`

// Code of the analyst's own that PostgreSQL runs for whoever reads a table or takes a value: with the reader's rights
// it reads the table, and leaves what it saw in a lock, which others try to take. The planner evaluates what is
// constant in an index, a condition of a partial one, statistics, or the constraint of a child; a parameter is cast, or
// checked, when it is bound. Who wrote an operator to stand in for pg_catalog's needs no right and no name of the
// table: the code sets the reader's search_path. The table lent is the owner's own, who made an index of it by the
// analyst's function.
func TestPlantedCode(t *testing.T) {
	seen := func(way int) string {
		return fmt.Sprintf(" | SELECT max(n) FROM generate_series(1, 2000) AS n "+
			"WHERE NOT pg_try_advisory_xact_lock(%d, n)", way)
	}
	join := func(table, condition string, way int) string {
		return "SELECT count(*) FROM customer c JOIN public." + table + " p ON c.region = p.region " +
			"WHERE c.income = 'high'" + condition + seen(way)
	}
	channel{off: []*bool{&hook.GuestCode}, plant: plantedCode, worlds: worlds, tell: []string{
		join("indexed", "", 1),
		join("partly", "", 2),
		join("counted", "", 3),
		join("parent", " AND p.weight > 0", 4),
		join("led", " AND c.id > -1", 5),
		join("lent", "", 8),
		"PREPARE q (public.mood) AS SELECT count(*) FROM customer WHERE region = lower($1) | EXECUTE q('north')" +
			seen(6),
	}, more: []string{
		"PREPARE q (public.checked) AS SELECT count(*) FROM customer WHERE region = lower($1) | EXECUTE q('north')" +
			seen(7),
		"EXPLAIN (PRIVACY) " + join("indexed", "", 1),
		"SELECT count(*) FROM customer c WHERE EXISTS (SELECT FROM public.indexed p WHERE p.region = c.region)" +
			seen(1),
		"SELECT p.weight, count(*) FROM customer c JOIN public.indexed p ON c.region = p.region GROUP BY p.weight" +
			seen(1),
		"SELECT count(*) FROM customer WHERE region = ANY ('{north}'::public.mood[]::text[])" + seen(1),
	}}.compare(t)
}
