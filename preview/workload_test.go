package preview_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"fugu/ledger"
	"fugu/preview"
	"fugu/sqlstate"
	"fugu/test/town"
	"fugu/twin"
)

const dashboard = `-- How many there are
SELECT 1 + 1;

-- By city
SELECT city, count(*) FROM people GROUP BY city;
-- Their ages
SELECT avg(age) FROM people;
SELECT city, count(*) FROM people GROUP BY city;
SELECT sex,
  max(age) FROM people GROUP BY sex
`

// Each statement of a dashboard has its place, its title, its price and how far it is off in both ways; what is refused
// says where and why, and the total is what the ledger would charge for the rest.
func TestWorkload(t *testing.T) {
	w := town.Build(t, "dashboards")
	d, l := deskAndLedger(t, w)
	got, err := d.Workload(t.Context(), dashboard, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Statements) != 5 || len(got.Totals) != 1 {
		t.Fatalf("%d statements of %d datasets, want 5 of 1", len(got.Statements), len(got.Totals))
	}
	ordinary, city, age, again, refused := got.Statements[0], got.Statements[1], got.Statements[2], got.Statements[3],
		got.Statements[4]
	if ordinary.Dataset != "" || ordinary.Refused != nil || ordinary.Line != 2 ||
		ordinary.Title != "How many there are" {
		t.Errorf("an ordinary statement is %+v", ordinary)
	}
	if city.Line != 5 || city.Title != "By city" || city.Noise == nil || city.Noise.Values != 3 || city.Price <= 0 {
		t.Errorf("counts by city are %+v", city)
	}
	if age.Noise == nil || age.Twin == nil || *age.Noise.Relative <= 0 || *age.Twin.Relative <= 0 {
		t.Errorf("the average is %+v", age)
	}
	if again.Price != city.Price {
		t.Errorf("the same statement costs %v and %v by itself", again.Price, city.Price)
	}
	if r := refused.Refused; r == nil || r.Code != sqlstate.NotAnswerable || r.Line != 10 || r.Column != 3 ||
		r.Fix == "" || !strings.Contains(r.What, "max") {
		t.Errorf("max is refused with %+v", refused.Refused)
	}

	// The same question is paid for once, and two cost no more than each by itself and together no less than one.
	total := got.Totals[0]
	if total.Answered != 3 || total.Refused != 1 || total.Price < city.Price || total.Runs < 1 ||
		float64(total.Runs) > total.Left/max(city.Price, age.Price)+1 {
		t.Errorf("in all it is %+v", total)
	}
	if total.Advice != preview.AdviseTwin || !strings.Contains(total.Reason, "1 of 4 statements") {
		t.Errorf("the advice is %s: %s", total.Advice, total.Reason)
	}

	// Nothing was charged.
	if accounts, err := l.Spent(t.Context(), "town", ledger.Everybody); err != nil || len(accounts) > 0 {
		t.Errorf("%v was charged, %v", accounts, err)
	}
}

// What a count is off by on a twin is what twin.CountError says of a group with the parts of either class that the
// reference shows, over the law's examples: two roads to one number, of which that one averages over the noise and the
// other takes the mean of it.
func TestTwinError(t *testing.T) {
	w := town.Build(t, "twinned")
	got, err := desk(t, w).Workload(t.Context(), "SELECT count(*) FROM people WHERE city = 'Rome'", 1)
	if err != nil {
		t.Fatal(err)
	}

	parts := [2]float64{} // of the rich and of the others that live in Rome
	for i, class := range []string{"rich", "NOT rich"} {
		const rome = "SELECT avg((city = 'Rome')::int) FROM public.reference WHERE "
		rows, err := w.Reader.Query(t.Context(), rome+class, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if parts[i], err = strconv.ParseFloat(rows[0][0].Text, 64); err != nil {
			t.Fatal(err)
		}
	}
	b := w.Policy.Privacy.Budget
	law, err := twin.New(twin.Spec{Rows: 6000, Secrets: []twin.Secret{{Secret: w.Policy.Secrets[0]}}, Epsilon: 1,
		Delta: float64(b.Delta)})
	if err != nil {
		t.Fatal(err)
	}
	squares := 0.
	for _, counts := range law.Tables() {
		group, rows := make([]int64, 2), 0.
		for c, n := range counts {
			group[c] = int64(math.Round(parts[law.Classes[c].Outcomes[0]] * float64(n)))
			rows += float64(group[c])
		}
		off := rows * law.CountError(counts, group)
		squares += off * off / float64(len(law.Tables()))
	}
	want := math.Sqrt(squares)
	if twin := got.Statements[0].Twin; twin == nil || math.Abs(twin.SD/want-1) > 0.05 {
		t.Errorf("the count is off by %+v on a twin, want %v", twin, want)
	} else {
		t.Logf("off by %.1f, by the other road %.1f", twin.SD, want)
	}
}

// twoSecrets make of the town's policy one of two secrets: how many are rich, and how many live in Rome.
var twoSecrets = []string{"values: {from: 0.10, to: 0.60, within: 0.05}}\n",
	"values: {from: 0.30, to: 0.60, within: 0.02}}\n" +
		"  roman: {table: public.people, proportion: city = 'Rome', values: {from: 0.30, to: 0.60, within: 0.02}}\n"}

// Of several secrets the error follows from the rows of each combination of them, which the reference is asked for. The
// other road to it is the law's own count error of a group that has so many rows of each class. What nobody said of the
// rarest combination is supposed, and said.
func TestTwinErrorOfSeveralSecrets(t *testing.T) {
	w := town.Build(t, "twinned_twice", twoSecrets...)
	const asked = "SELECT count(*) FROM people WHERE sex = 'f'; SELECT sex, avg(age) FROM people GROUP BY sex"
	got, err := desk(t, w).Workload(t.Context(), asked, 8)
	if err != nil {
		t.Fatal(err)
	}
	total := got.Totals[0]
	if total.Impossible != "" || total.Supposed != 0.04 { // half of .3·.3, in one digit
		t.Fatalf("in all it is %+v", total)
	}

	spec := twin.Spec{Rows: 6000, Epsilon: 8, Delta: float64(w.Policy.Privacy.Budget.Delta), Smallest: total.Supposed}
	for _, s := range w.Policy.Secrets {
		spec.Secrets = append(spec.Secrets, twin.Secret{Secret: s})
	}
	law, err := twin.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	const women = "SELECT coalesce(avg((sex = 'f')::int), 0) FROM public.reference WHERE (%s) = %t AND (%s) = %t"
	parts := make([]float64, len(law.Classes))
	for i, c := range law.Classes {
		rows, err := w.Reader.Query(t.Context(), fmt.Sprintf(women, w.Policy.Secrets[0].Proportion,
			c.Outcomes[0] == twin.True, w.Policy.Secrets[1].Proportion, c.Outcomes[1] == twin.True), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if parts[i], err = strconv.ParseFloat(rows[0][0].Text, 64); err != nil {
			t.Fatal(err)
		}
	}

	squares := 0.
	for _, counts := range law.Tables() {
		var told, taken []int64
		var noise []float64
		var group []twin.Part
		for i, x := range law.Expect(counts) {
			told, taken = append(told, int64(math.Round(x.Noisy))), append(taken, int64(math.Round(x.Taken)))
			rows := parts[i] * float64(counts[i])
			noise, group = append(noise, x.Noise), append(group, twin.Part{Sum: rows, Squares: rows})
		}
		off := twin.DeviationOf(told, taken, noise, len(told), group).Both()
		squares += off * off / float64(len(law.Tables()))
	}
	want := math.Sqrt(squares)
	if twin := got.Statements[0].Twin; twin == nil || math.Abs(twin.SD/want-1) > 1e-6 {
		t.Errorf("the count is off by %+v on a twin, want %v", twin, want)
	}
	if age := got.Statements[1].Twin; age == nil || age.Values != 2 || !(age.SD > 0) {
		t.Errorf("the average is off by %+v on a twin (%s)", age, got.Statements[1].Unknown)
	}
}
