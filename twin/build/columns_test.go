package build_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"fugu/test/patient"
	"fugu/test/policies"
	"fugu/twin/build"
)

// What a build shows has the law that it says: Pearson's chi-square over about 3,000 rows of the sample and three
// columns, one seed. A channel of no noise at all would pass for itself, so the numbers are looked at besides.
func TestColumnsFollowTheirChannels(t *testing.T) {
	patient.Test(t)
	w := personsWorld(t, "people", 1)
	r := w.build(build.Options{})
	matrix, seen := w.matrix(), w.showings()
	p, n, freedom := follow(matrix, seen)
	t.Logf("p = %.3g of %d values with %d degrees of freedom", p, n, freedom)
	if p < falseAlarm || n < 5000 || freedom < 14 {
		t.Errorf("what is shown does not follow the channels: p = %g, n = %d, freedom %d", p, n, freedom)
	}
	for key, least := range map[string]float64{"sex  f": .05, "sex  m": .05} {
		if len(matrix[key]) < 2 || slices.Max(slices.Collect(mapValues(matrix[key]))) > 1-least {
			t.Errorf("%s is hardly obfuscated: %v", key, matrix[key])
		}
	}
	if matrix["region  gone"] != nil {
		t.Error("a value that the reference does not have is in the channel: the list tells that the table has it")
	}
	if n := w.one(`SELECT count(*) FROM fugu_twin."fugu columns"`); n != "3" {
		t.Errorf("%s columns are said to be shown row by row", n)
	}
	if len(r.Twins[0].Columns) != 3 || len(r.Warnings) > 0 {
		t.Errorf("columns %+v, warnings %q", r.Twins[0].Columns, r.Warnings)
	}
	if got := w.one(
		"SELECT count(DISTINCT (name, sex, region, hours)) - count(DISTINCT name) FROM fugu_twin.people"); got !=
		"0" {
		t.Errorf("%s copies of rows show something else than the row", got)
	}
	if _, err := build.Drop(t.Context(), w.keeper.Conn, false, w.policy, w.policy.Tables[0]); err != nil {
		t.Fatal(err)
	}
	if n := w.one(`SELECT count(*) FROM fugu_twin."fugu columns"`); n != "0" {
		t.Errorf("without a twin %s columns are said to be shown", n)
	}
}

func mapValues[K comparable, V any](m map[K]V) func(func(V) bool) {
	return func(yield func(V) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// A transported column shows one law in both classes, where the true laws differ: differences of more than five
// standard deviations are found before, and none after.
func TestTransportHidesTheClass(t *testing.T) {
	patient.Test(t)
	w := personsWorld(t, "transported", 2)
	w.build(build.Options{})
	apart := func(value string) float64 {
		v, err := strconv.ParseFloat(w.one(`WITH s AS (SELECT DISTINCT ON (t.name) t.rich, `+value+` AS hours
				FROM fugu_twin.people t JOIN people p USING (name))
			SELECT abs(avg(hours) FILTER (WHERE rich) - avg(hours) FILTER (WHERE NOT rich))
				/ sqrt(variance(hours) * (1.0 / count(*) FILTER (WHERE rich) + 1.0 / count(*) FILTER (WHERE NOT rich)))
			FROM s`), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if d := apart("p.hours"); d < 5.5 {
		t.Errorf("the true hours of the classes differ by %.2f standard deviations: nothing is tested", d)
	}
	if d := apart("t.hours"); d > 5.5 {
		t.Errorf("the shown hours of the classes differ by %.2f standard deviations", d)
	}
}

// What a row shows is the same in every build of the same rows: made again, with new counts, after the reference has
// changed, by another keeper; it is drawn anew for rows that the owner declares to be others.
func TestColumnsAreDrawnOnce(t *testing.T) {
	patient.Test(t)
	w := personsWorld(t, "once", 3)
	w.build(build.Options{})
	first := w.rows()
	same := func(what string) {
		t.Helper()
		both, differ := 0, 0
		for name, row := range w.rows() {
			if other, ok := first[name]; ok {
				if both++; row != other {
					differ++
				}
			}
		}
		if both < 1500 || differ > 0 {
			t.Errorf("%s: of %d rows in both twins %d show something else", what, both, differ)
		}
	}
	w.build(build.Options{Again: true})
	same("made again")
	w.column("UPDATE before SET sex = 'f' WHERE region = 'south'")
	w.build(build.Options{Again: true})
	same("by another reference")
	w.build(build.Options{New: true, Reason: "more rows"})
	same("by new counts")
}

// together is the p-value of the sexes that rows show in two twins against two independent draws, each by its channel:
// first by that of the value f or m that before says, then of after.
func together(first, second map[string]string, one, two map[string]map[string]float64,
	before, after func(id int) string) (p float64, n int) {
	matrix, seen := map[string]map[string]float64{}, map[string]map[string]int{}
	for name, row := range second {
		id, _ := strconv.Atoi(name[1:])
		earlier, ok := first[name]
		if !ok || before(id) == "" {
			continue
		}
		key := before(id) + after(id)
		if matrix[key] == nil {
			matrix[key], seen[key] = map[string]float64{}, map[string]int{}
			for x, p := range one["sex  "+before(id)] {
				for y, q := range two["sex  "+after(id)] {
					matrix[key][x+y] = p * q
				}
			}
		}
		seen[key][earlier[:1]+row[:1]]++
	}
	p, n, _ = follow(matrix, seen)
	return p, n
}

// sexOf is the sex that a row of the table has, and the other one.
func sexOf(id int) string      { return map[bool]string{true: "f", false: "m"}[id%10 < 3] }
func otherSexOf(id int) string { return map[bool]string{true: "m", false: "f"}[id%10 < 3] }

// even is what f says of rows with an even number, and nothing of others.
func even(f func(int) string) func(int) string {
	return func(id int) string {
		if id%2 == 1 {
			return ""
		}
		return f(id)
	}
}

// A corrected value has a draw that is independent of the one before, so have rows that the owner declares to be others
// under the same keys, and so has another law: Pearson's chi-square of what about 1,500 to 3,000 rows show in both
// twins.
func TestColumnsAreDrawnAnew(t *testing.T) {
	patient.Test(t)
	for name, p := range drawnAnew(t, "anew") {
		t.Logf("%s: p = %.3g", name, p)
		if p < falseAlarm {
			t.Errorf("%s: two draws are not independent: p = %g", name, p)
		}
	}
}

// drawnAnew has rows shown twice, and says how likely what they show is if both draws are independent.
func drawnAnew(t *testing.T, name string) map[string]float64 {
	const otherSex = "UPDATE people SET sex = CASE sex WHEN 'f' THEN 'm' ELSE 'f' END WHERE id % 2 = 0"
	out := map[string]float64{}
	w := personsWorld(t, name, 8)
	w.build(build.Options{})
	first, matrix := w.rows(), w.matrix()
	note := func(what string, p float64, n int) {
		if out[what] = p; n < 1000 {
			t.Fatalf("%s: only %d rows are in both twins", what, n)
		}
	}

	w.column(otherSex)
	w.build(build.Options{Again: true})
	p, n := together(first, w.rows(), matrix, matrix, even(sexOf), even(otherSexOf))
	note("corrected", p, n)
	w.column(otherSex)

	w.policy = policies.Load(t, strings.Replace(personsPolicy, "0.3,", "0.4,", 1))
	w.build(build.Options{})
	p, n = together(first, w.rows(), matrix, w.matrix(), sexOf, sexOf)
	note("another law", p, n)

	w.policy = policies.Load(t, personsPolicy)
	w.column("UPDATE people SET rich = NOT rich WHERE id IN (1, 4)")
	w.build(build.Options{New: true, Independent: true, Reason: "other people"})
	p, n = together(first, w.rows(), matrix, matrix, sexOf, sexOf)
	note("other rows", p, n)
	return out
}

// A policy that says something else of a column needs a build, which is free and warns where rows were shown before.
func TestColumnsChange(t *testing.T) {
	patient.Test(t)
	w := personsWorld(t, "columns_change", 4)
	w.policy = policies.Load(t, strings.Replace(personsPolicy, "        sex: {obf", "        #: {obf", 1))
	w.build(build.Options{})
	if n := w.one(`SELECT count(*) FROM fugu_twin.people t JOIN people p USING (name) WHERE p.sex <> t.sex`); n != "0" {
		t.Errorf("a column that nothing is said of shows %s other values", n)
	}
	for _, step := range []struct {
		epsilon string
		warned  bool
	}{{"0.3", false}, {"0.4", true}, {"0.3", false}} {
		text := strings.Replace(personsPolicy, "0.3,", step.epsilon+",", 1)
		w.policy = policies.Load(t, text)
		misfits, err := build.Misfits(t.Context(), w.admin, false, w.policy)
		if err != nil || len(misfits) != 1 || !strings.Contains(misfits[0].Error(), "free") {
			t.Errorf("epsilon %s: misfits %q, %v", step.epsilon, misfits, err)
		}
		r := w.build(build.Options{})
		if warned := len(r.Warnings) == 1 && strings.Contains(r.Warnings[0], "by another law"); warned != step.warned ||
			r.Charged {
			t.Errorf("epsilon %s: warnings %q, charged %v", step.epsilon, r.Warnings, r.Charged)
		}
	}
}

// What would betray a column, or cannot be shown otherwise, is refused before anything is charged.
func TestColumnsAreRefused(t *testing.T) {
	patient.Test(t)
	w := personsWorld(t, "columns_refused", 5)
	for _, sql := range []string{
		`CREATE TYPE mood AS ENUM ('good', 'bad')`,
		`ALTER TABLE people ADD COLUMN twice numeric(6,1) GENERATED ALWAYS AS (hours * 2) STORED,
			ADD COLUMN mood mood, ADD COLUMN more text`,
		`ALTER TABLE before ADD COLUMN id int, ADD COLUMN mood mood, ADD COLUMN more varchar(9)`,
		`CREATE VIEW seen AS SELECT * FROM before`, `CREATE TABLE theirs AS TABLE before`,
		`ALTER TABLE theirs OWNER TO shop_guest`, `CREATE TABLE closed AS TABLE before`,
	} {
		w.column(sql)
	}
	obfuscate := func(column string) string {
		return strings.Replace(personsPolicy, "        sex: {", "        "+column+": {", 1)
	}
	reference := func(name string) string {
		return strings.Replace(personsPolicy, "public.before", "public."+name, 1)
	}
	for text, policy := range map[string]string{
		"no such column":                    obfuscate("nothing"),
		"counts anew":                       obfuscate("id"),
		`"twice" is generated from "hours"`: personsPolicy,
		"not PostgreSQL's own":              obfuscate("mood"),
		`no column "more"`:                  obfuscate("more"),
		"condition or a public count": strings.Replace(obfuscate("rich"), "      columns:",
			"      drop: [twice]\n      columns:", 1),
		"what a view is made of": reference("seen"),
		"guests can be":          reference("theirs"),
		"may not read it":        reference("closed"),
		"there is no such table": reference("nowhere"),
	} {
		if !strings.Contains(text, "twice") && !strings.Contains(policy, "drop:") {
			policy = strings.Replace(policy, "      columns:", "      drop: [twice]\n      columns:", 1)
		}
		w.policy = policies.Load(t, policy)
		_, err := w.keeper.Build(t.Context(), w.policy, w.policy.Tables[0], build.Options{})
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want one with %q", err, text)
		}
	}
	drawn, err := build.Drawn(t.Context(), w.ledger, w.policy.Tables[0].Qualified())
	if err != nil || drawn {
		t.Errorf("something was charged: %v, %v", drawn, err)
	}
}

// In a database of their own twins show the very same, and fugu.channel is a view there.
func TestColumnsApart(t *testing.T) {
	w := personsWorld(t, "columns_apart", 9)
	w.build(build.Options{})
	want, matrix := w.rows(), w.matrix()

	_, admin := w.apart()
	at := w.on(admin)
	w.build(build.Options{Again: true})
	both := 0
	for _, line := range at.column("SELECT DISTINCT name, sex, region, hours FROM people") {
		name, row, _ := strings.Cut(line, "|")
		if other, ok := want[name]; ok {
			if both++; other != row {
				t.Fatalf("%s shows %s, and beside the tables %s", name, row, other)
			}
		}
	}
	if both != len(want) {
		t.Errorf("%d rows of %d are in both", both, len(want))
	}
	for key, row := range matrix {
		column, rest, _ := strings.Cut(key, " ")
		outcome, from, _ := strings.Cut(rest, " ")
		for to, p := range row {
			got := at.column(
				`SELECT probability FROM fugu.channel WHERE table_name = 'public.people' AND column_name = '` +
					column + `' AND coalesce(outcome, '') = '` + outcome + `' AND coalesce(from_value, '-') = '` +
					from +
					`' AND coalesce(to_value, '-') = '` + to + `'`)
			if len(got) != 1 {
				t.Fatalf("%s as %s: fugu.channel has %q", key, to, got)
			}
			if chance, err := strconv.ParseFloat(got[0], 64); err != nil || chance != p {
				t.Errorf("%s as %s: fugu.channel has %v, want %v", key, to, chance, p)
			}
		}
	}
}
