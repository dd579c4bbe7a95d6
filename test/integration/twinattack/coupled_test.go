//go:build fuguhooks

package twinattack

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/pgcluster"
	"fugu/test/policies"
	"fugu/twin"
)

// rows is how many rows the table has: public.
const rows = 1000

// highs are how many rows have the secret in the two worlds: so far apart as the policy says that nobody can tell.
var highs = [2]int64{250, 200}

// told is what both worlds are told as.
var told = []int64{270, rows - 270}

// key is that of the order of drawing.
var key = sha256.Sum256([]byte("one order for both worlds"))

// person is a row of the table, and the rows that go with it.
type person struct {
	id     int
	high   bool
	fields []any // behind the id, in the table's order
	visits [][]any
}

var (
	tableColumns = strings.Fields("id age fnlwgt education education_num sex race hours_per_week capital_gain income " +
		"name token joined spike note ssn")
	visitColumns = strings.Fields("id person day cost")
)

// make makes a person. Those who are odd have what nobody else has: other values, longer texts, more visits.
func newPerson(id int, high, odd bool) person {
	rng := rand.New(rand.NewPCG(uint64(id), 1))
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	p := person{id: id, high: high}
	income, shift, visits, note, spike := "<=50K", 0, rng.IntN(4), "seen", strconv.Itoa(rng.IntN(9))
	if high {
		income, shift = ">50K", 3
	}
	race, education := pick("White", "Black", "Other"), pick("HS-grad", "Some-college", "Bachelors", "Masters")
	if odd {
		race, education, visits, note, spike = pick("White", "Martian"), pick("HS-grad", "Doctorate"),
			rng.IntN(12), strings.Repeat("x", 200+rng.IntN(700)), pick("NaN", "1e300", "0")
	}
	p.fields = []any{17 + shift + rng.IntN(60), 10000 + rng.IntN(400000), education, 5 + shift + rng.IntN(8),
		pick("Female", "Male"), race,
		20 + shift + rng.IntN(40), rng.IntN(3) * rng.IntN(9000), income, fmt.Sprint("name ", id), fmt.Sprintf("%x",
			sha256.Sum256([]byte(fmt.Sprint(id))))[:32],
		fmt.Sprintf("2026-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28)), spike, note, fmt.Sprint("ssn ", id)}
	for i := range visits {
		p.visits = append(p.visits, []any{100*id + i, id, fmt.Sprintf("2026-%02d-01", 1+rng.IntN(12)),
			rng.IntN(100000)})
	}
	return p
}

// fill copies people into the tables, in an order of their own.
func fill(t testing.TB, c *pgcluster.Cluster, people []person) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DSN("postgres", database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var adult, visit bytes.Buffer
	line := func(to *bytes.Buffer, fields ...any) {
		for i, f := range fields {
			if i > 0 {
				to.WriteByte('\t')
			}
			fmt.Fprint(to, f)
		}
		to.WriteByte('\n')
	}
	for _, p := range people {
		line(&adult, append([]any{p.id}, p.fields...)...)
		for _, v := range p.visits {
			line(&visit, v...)
		}
	}
	for _, table := range []struct {
		name    string
		columns []string
		text    *bytes.Buffer
	}{{"adult", tableColumns, &adult}, {"visit", visitColumns, &visit}} {
		if _, err := conn.PgConn().CopyFrom(t.Context(), table.text, fmt.Sprintf("COPY %s (%s) FROM STDIN",
			table.name, strings.Join(table.columns, ", "))); err != nil {
			t.Fatal(err)
		}
	}
}

// place is a row's place in the order of drawing, as docs/twin.md has it: SHA-256 of the key and the row's primary key.
func place(id int) string {
	h := sha256.Sum256(append(key[:], fmt.Sprintf("(%d)", id)...))
	return string(h[:16])
}

// people are those of two coupled worlds, for numbers of rows that are taken: all who are taken are in both.
func people(taken []int64) (out [2][]person) {
	var classes [2][]person
	for id := 1; id <= rows; id++ {
		high := int64(id) <= highs[0]
		class := 1
		if high {
			class = 0
		}
		classes[class] = append(classes[class], newPerson(id, high, false))
	}
	last := ""
	for class, list := range classes {
		slices.SortFunc(list, func(a, b person) int { return strings.Compare(place(a.id), place(b.id)) })
		out[0] = append(out[0], list...)
		out[1] = append(out[1], list[:taken[class]]...)
		last = max(last, place(list[taken[class]-1].id))
	}

	// The others of the second world are all odd, and come behind those who are taken.
	missing := [2]int64{highs[1] - taken[0], rows - highs[1] - taken[1]}
	for id := 10 * rows; missing[0]+missing[1] > 0; id++ {
		if place(id) <= last {
			continue
		}
		high := missing[0] > 0
		if high {
			missing[0]--
		} else {
			missing[1]--
		}
		out[1] = append(out[1], newPerson(id, high, true))
	}
	for i := range out {
		rand.New(rand.NewPCG(5, uint64(i))).Shuffle(len(out[i]), func(a, b int) {
			out[i][a], out[i][b] = out[i][b],
				out[i][a]
		})
	}
	return out
}

// seedFor finds random bytes with which a table with so many rows of the first class is told as these counts.
func seedFor(d *twin.Design, high int64, told []int64) (uint64, error) {
	for seed := range uint64(100_000) {
		noisy, err := d.Draw(noise(seed), []int64{high, rows - high})
		if err != nil {
			return 0, err
		}
		if slices.Equal(noisy, told) {
			return seed, nil
		}
	}
	return 0, errors.New("no seed")
}

// The coupled worlds: the first, the same again, and the second. What differs between the first two differs by chance.
const (
	first = iota
	again
	second
)

// settings keep out what happens at any time.
var settings = map[string]string{"autovacuum": "off"}

// couple makes the worlds, with clusters of their own.
func couple(t *testing.T) (out [3]*world) {
	t.Helper()
	p := policies.Load(t, policyYAML)
	d := design(t, p)
	taken, err := d.Take(told)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("told %v, taken %v, of %v and of %v rows", told, taken, highs[0], highs[1])
	both := people(taken)
	for i, side := range [3]int{first: 0, again: 0, second: 1} {
		c := pgcluster.StartTest(t, pgcluster.Options{Settings: settings})
		seed, err := seedFor(d, highs[side], told)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = newWorld(t, c, p, both[side], seeded(key, seed))
		if !same(out[i].report, out[first].report) {
			t.Fatalf("the worlds are not coupled: %+v and %+v", out[first].report, out[i].report)
		}
	}
	return out
}
