package row

import "testing"

// Columns of any collation can be used together.
func TestCollations(t *testing.T) {
	s := connect(t)
	const collated = `
		CREATE COLLATION public.blurred (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		ALTER TABLE public.x ALTER s TYPE text COLLATE "POSIX", ALTER c TYPE char(6) COLLATE public.blurred`
	if _, err := s.Exec(t.Context(), collated).ReadAll(); err != nil {
		t.Skip("this server has no ICU: ", err)
	}
	for _, e := range []string{"s < v", "s = v", "s || v = 'x'", "lower(s || v) < 'x'", "v IN (s, 'a')",
		"coalesce(s, v) > 'x'", "greatest(s, v) = 'x'", "CASE WHEN i4 > 1 THEN s ELSE v END < 'x'",
		"nullif(s, v) = 'x'",
		"c LIKE 'a%'", "c ILIKE 'a%'", "strpos(c, 'a') > 0", "replace(c, 'a', 'b') = 'x'",
		"split_part(c, 'a', 1) = 'x'", "starts_with(c, 'a')", "c = 'ABC'", "c < s", "v || c LIKE '%a'",
		"concat(s, v, c) < 'a'", "s IS DISTINCT FROM v", "upper(concat(s, c)) = 'x'",
		"strpos(s, v) > 0", "initcap(least(s, c, v)) = 'x'", "lower(CASE WHEN b THEN s ELSE v END) = lower(v || s)"} {
		form, err := s.condition(t.Context(), e)
		if err != nil {
			t.Errorf("%s: %v", e, err)
			continue
		}

		if r := s.ExecParams(t.Context(), "SELECT count(*) FROM public.x AS t WHERE "+form, nil, nil, nil,
			nil).Read(); r.Err != nil {
			t.Errorf("%s: %v\nas %s", e, r.Err, shorten(form))
		}
	}
}
