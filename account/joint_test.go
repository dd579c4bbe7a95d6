package account_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"fugu/account"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/test/adult/asking"
	"fugu/test/patient"
)

// few rows are those of which the randomness counts beside the noise; the table of the example is larger, which no
// account knows.
const fewRows = 300

// newJoint is a house whose answers share an account.
func newJoint(t *testing.T, mechanism string) *asking.House {
	t.Helper()
	return asking.New(t, fmt.Sprintf("rows: %d", asking.RowsOf(t)), fmt.Sprintf("rows: %d", fewRows),
		"mechanism: auto", "mechanism: "+mechanism, "budget: {", "composition: joint\n  budget: {")
}

// counted is the account of the house's one policy and one table.
func counted(h *asking.House) (*account.Joint, *account.JointTable) {
	return h.Known.Joint(h.Policy).Only()
}

// price is what a statement would cost.
func price(t *testing.T, h *asking.House, sql string, epsilon privacy.Epsilon) account.Price {
	t.Helper()
	q := h.Question(t, sql, epsilon, "")
	m, err := q.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := q.Price(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// κ² of two counts by hand, from the classes' means and covariances in the reference: for the pair at each end of the
// range, with the rows that are the same under both values and how far from normal their sum is, and all that is beside
// the direction by the noise alone.
func TestJointCostByHand(t *testing.T) {
	patient.Test(t)
	h := newJoint(t, "optimal-gaussian")
	const sql = "SELECT count(*) FILTER (WHERE age > 40), count(*) FILTER (WHERE sex = 'Male') FROM adult"
	h.Answered(t, sql, 1)
	m := h.Quote(t, sql, 1)
	mean, cov := kindsOfClasses(t, h.Desk.Reader)
	noise := func(k, l int) float64 { return m.Calibration.Noise.Covariance(k, l) }
	most, skewed := 0.0, 0.0
	for _, q := range []float64{.10, .55} { // within .05 in [.10, .60]
		s := [3]float64{noise(0, 0), noise(1, 1), noise(0, 1)}
		var d [2]float64
		for i := range s {
			s[i] += fewRows * (q*cov[1][i] + (1-q-.05)*cov[0][i])
		}
		for i := range d {
			d[i] = fewRows * .05 * (mean[1][i] - mean[0][i])
		}
		det := s[0]*s[1] - s[2]*s[2]
		w := [2]float64{(d[0]*s[1] - d[1]*s[2]) / det, (d[1]*s[0] - d[0]*s[2]) / det}
		kappa := math.Sqrt(w[0]*d[0] + w[1]*d[1])
		most = math.Max(most, kappa*kappa)

		third, fourth := 0.0, 0.0
		for c, n := range [2]float64{fewRows * (1 - q - .05), fewRows * q} {
			skew, excess := cumulantsOfKinds(w, mean[c], cov[c])
			third, fourth = third+n*skew, fourth+n*excess
		}
		skewed = math.Max(skewed, privacy.SkewedKappa(float64(h.Policy.Privacy.Budget.Epsilon), kappa,
			privacy.Shape{Skewness: third / math.Pow(kappa, 3), Kurtosis: fourth / math.Pow(kappa, 4)}))
	}
	_, account := counted(h)
	part := m.Joint.Parts[0]
	if skewed < 1.005*math.Sqrt(most) {
		t.Errorf("κ is %v, and %v with what is not normal: the test shows nothing", math.Sqrt(most), skewed)
	}
	want := skewed + part.Aside["high_income"]
	if got := math.Sqrt(account.Cost("high_income").Kappa2); math.Abs(got/want-1) > 1e-6 {
		t.Errorf("κ %v, want %v", got, want)
	}
	if alone := math.Sqrt(m.Calibration.Losses["high_income"].Kappa2); alone < 1.2*math.Sqrt(most) {
		t.Errorf("by the noise alone κ is %v, and %v with the rows: the test shows nothing", alone, math.Sqrt(most))
	}
	if len(part.Lines) == 0 || part.Hidden["high_income"] {
		t.Errorf("%d lines, hidden %v", len(part.Lines), part.Hidden)
	}
}

// kindsOfClasses are, of a reference row of each class that is over 40, that is male: the means; variance, variance and
// covariance.
func kindsOfClasses(t *testing.T, reader planner.Querier) (mean, cov [2][3]float64) {
	t.Helper()
	rows, err := reader.Query(t.Context(),
		`SELECT (income = '>50K')::int, avg((age > 40)::int)::float8, avg((sex = 'Male')::int)::float8,
	    avg((age > 40 AND sex = 'Male')::int)::float8
	  FROM public.adult_reference GROUP BY 1 ORDER BY 1`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for c, r := range rows {
		var v [4]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(r[i].Text, 64)
		}
		a, b, both := v[1], v[2], v[3]
		mean[c], cov[c] = [3]float64{a, b}, [3]float64{a * (1 - a), b * (1 - b), both - a*b}
	}
	return mean, cov
}

// cumulantsOfKinds are the third and the fourth cumulant along w of one row of a class, which has both, one or neither
// of two properties: what it is besides normal.
func cumulantsOfKinds(w [2]float64, mean, cov [3]float64) (third, fourth float64) {
	both := cov[2] + mean[0]*mean[1]
	chances := [4]float64{1 - mean[0] - mean[1] + both, mean[0] - both, mean[1] - both, both}
	var central [5]float64
	for kind, p := range chances {
		x := w[0]*(float64(kind&1)-mean[0]) + w[1]*(float64(kind>>1)-mean[1])
		for power := range central {
			central[power] += p * math.Pow(x, float64(power))
		}
	}
	return central[3], central[4] - 3*central[2]*central[2]
}

// The same statement again, with fresh noise, costs less and less: all that it can tell is what the rows leave.
func TestJointRepetitionIsBounded(t *testing.T) {
	patient.Test(t)
	h := newJoint(t, "optimal-gaussian")
	const sql = "SELECT sex, count(*) FROM adult GROUP BY sex"
	var costs []float64
	alone := 0.0
	for i := range 12 {
		epsilon := privacy.Epsilon(1 - float64(i)/1000)
		costs = append(costs, h.Answered(t, sql, epsilon).Losses["high_income"].Kappa2)
		alone += h.Quote(t, sql, epsilon).Calibration.Losses["high_income"].Kappa2
	}
	total := 0.0
	for _, c := range costs {
		total += c
	}
	if costs[11] > costs[0]/4 || total > alone/3 {
		t.Errorf("costs %v, in all %v; by the noise alone %v", costs, total, alone)
	}
	spent, err := h.Desk.Ledger.Spent(t.Context(), "adult", "")
	if err != nil || math.Abs(spent[0].Loss.Kappa2/total-1) > 1e-9 {
		t.Errorf("the ledger has %+v of %v, %v", spent, total, err)
	}
}

// What is counted is in the ledger: another process counts the same, and one that was overtaken counts anew.
func TestJointAccountIsTheLedgers(t *testing.T) {
	patient.Test(t)
	h := newJoint(t, "expm-gaussian")
	other := h.Other(t, "bob")
	statements := []string{
		"SELECT count(*) FROM adult WHERE age > 40",
		"SELECT sex, avg(age), count(*) FROM adult GROUP BY sex",
		"SELECT education, sum(age) FROM adult WHERE sex = 'Male' GROUP BY education",
		"SELECT sex, education, count(*) FROM adult GROUP BY GROUPING SETS ((sex), (education), ())",
	}
	for i, sql := range statements {
		[]*asking.House{h, other}[i%2].Answered(t, sql, 1)
	}
	const next = "SELECT count(*) FROM adult WHERE age > 30"
	a, b, c := price(t, h, next, 1), price(t, other, next, 1), price(t, h.Other(t, "bob"), next, 1)
	for _, p := range []struct{ name string }{{"high_income"}, {"private_sector"}} {
		x, y, z := a.Losses[p.name].Kappa2, b.Losses[p.name].Kappa2, c.Losses[p.name].Kappa2
		if !(x > 0) || math.Abs(y/x-1) > 1e-6 || math.Abs(z/x-1) > 1e-6 || a.After() != b.After() ||
			a.After() != c.After() {
			t.Errorf("%s costs %v, %v and %v", p.name, x, y, z)
		}
	}

	// While this one's rows are read, the other charges.
	const sql = "SELECT count(*) FROM adult WHERE age > 50"
	q := h.Question(t, sql, 1, "")
	m, err := q.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, err := q.Price(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	h.Desk.Ledger = &overtaking{Ledger: h.Desk.Ledger, first: func() { other.Answered(t, sql, .9) }}
	got, err := q.Answer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if x, y := got.Losses["high_income"].Kappa2, before.Losses["high_income"].Kappa2; !(x < .99*y) {
		t.Errorf("behind nearly the same answer it costs %v, and %v before it", x, y)
	}
	first, _ := counted(h)
	second, _ := counted(other)
	if err := second.CatchUp(t.Context(), other.Desk.Ledger, 0); err != nil ||
		first.Last() != got.ID || second.Last() != got.ID {
		t.Errorf("counted up to %d and %d of %d, %v", first.Last(), second.Last(), got.ID, err)
	}
}

// overtaking is a ledger that another proxy charges just before this one does.
type overtaking struct {
	ledger.Ledger
	first func()
}

func (l *overtaking) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	if f := l.first; f != nil {
		l.first = nil
		f()
	}
	return l.Ledger.Charge(ctx, c)
}

// A Laplace along the direction hides the movement: its loss is pure, and what it tells of the rows is counted all the
// same.
func TestJointDirectional(t *testing.T) {
	patient.Test(t)
	plain, after := newJoint(t, "optimal-gaussian"), newJoint(t, "optimal-gaussian")
	const sql = "SELECT sex, count(*) FROM adult GROUP BY sex"
	a, err := after.Question(t, sql, 0, mechanism.Directional).Answer(t.Context())
	if err != nil || !(a.Losses["high_income"].Pure > .5) || a.Losses["high_income"].Kappa2 > .05 ||
		a.Assumption != quote.JointAssumption {
		t.Fatalf("%+v, %v", a, err)
	}
	x := plain.Answered(t, sql, 1).Losses["high_income"].Kappa2
	y := after.Answered(t, sql, 1).Losses["high_income"].Kappa2
	if !(y > 1.05*x) {
		t.Errorf("it costs %v behind a release whose floor tells of the rows, and %v without", y, x)
	}
}

func TestJointRefusals(t *testing.T) {
	patient.Test(t)
	h := newJoint(t, "auto")
	for sql, want := range map[string]sqlstate.Code{
		"SELECT stddev(age) FROM adult":         sqlstate.NotAnswerable,
		"SELECT corr(age, fnlwgt) FROM adult":   sqlstate.NotAnswerable,
		"SELECT count(DISTINCT sex) FROM adult": sqlstate.NotAnswerable,
	} {
		if _, err := h.Answer(t, sql, 1); !sqlstate.Is(err, want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	q := h.Question(t, "SELECT count(*) FROM adult WHERE age > 30", 0, mechanism.ExpmLaplace)
	if _, err := q.Answer(t.Context()); !sqlstate.Is(err, sqlstate.NotAllowed) {
		t.Errorf("expm-laplace: %v", err)
	}
	h.Answered(t, "SELECT count(*) FROM adult WHERE age > 40", 1)

	// The reference's rows have changed since.
	a, table := counted(h)
	right := table.SetDigest(strings.Repeat("0", 64))
	a.Forget()
	if _, err := h.Answer(t, "SELECT count(*) FROM adult WHERE age > 30", 1); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("another reference: %v", err)
	}
	table.SetDigest(right)

	// An answer of which the account knows nothing.
	promised, err := h.Desk.Ledger.Promised(t.Context(), "adult", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Desk.Ledger.Charge(t.Context(), ledger.Charge{Key: ledger.Key(strings.Repeat("ab", 32)),
		Dataset: "adult", User: "alice",
		Losses: map[string]privacy.Loss{"high_income": {Pure: .1}}, Limit: privacy.Budget{Epsilon: 20, Delta: .01},
		Requested: privacy.Budget{Epsilon: .1},
		Mechanism: "expm-laplace", Assumption: "translation", Answer: []byte("x"),
		Promised: &promised.Newest}); err != nil {
		t.Fatal(err)
	}
	fresh := h.Other(t, "bob")
	_, err = fresh.Answer(t, "SELECT count(*) FROM adult WHERE age > 30", 1)
	if !sqlstate.Is(err, sqlstate.ModelUnfit) ||
		!strings.Contains(err.Error(), "composition: noise") {
		t.Errorf("behind an answer without terms: %v", err)
	}
}

// The certificate of each answer says what all together reach, and the explanation what they would.
func TestJointCertificate(t *testing.T) {
	h := newJoint(t, "optimal-gaussian")
	const sql = "SELECT sex, count(*) FROM adult GROUP BY sex"
	x, err := h.Question(t, sql, 1, "").Explain(t.Context())
	if err != nil || !strings.Contains(strings.Join(x.Lines(), "\n"),
		"Joint account: with all answers before, delta ") {
		t.Fatalf("%v: %q", err, x.Lines())
	}
	a := h.Answered(t, sql, 1)
	b := h.Answered(t, sql, .9)
	for i, c := range b.Certificates {
		if !(c.Together > 0 && c.Together <= .01) || c.Together < a.Certificates[i].Together {
			t.Errorf("together %v behind %v", c.Together, a.Certificates[i].Together)
		}
	}
	if _, err := h.Desk.Ledger.Audit(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// Of a secret that the policy has only since, nobody has counted what answers tell by the noise alone: the account
// does.
func TestJointNewSecretCountsWhatWasAnswered(t *testing.T) {
	patient.Test(t)
	h := newJoint(t, "optimal-gaussian")
	h.Answered(t, "SELECT sex, count(*) FROM adult GROUP BY sex", 1)
	past, err := h.Desk.Ledger.History(t.Context(), "adult", 0)
	if err != nil || len(past) != 1 {
		t.Fatal(past, err)
	}
	other, fresh := counted(h.Other(t, "bob"))
	past[0].Terms = []byte(strings.ReplaceAll(string(past[0].Terms), "private_sector", "a_secret_of_then"))
	if err := other.Count(past[0], 0); err != nil {
		t.Fatal(err)
	}
	if got, all := fresh.Kappa2("private_sector"), fresh.Cost("private_sector").Kappa2; !(got > 0) || got != all {
		t.Errorf("the answer costs the new secret %v of %v", got, all)
	}
}
