package pipeline

import (
	"fmt"
	"testing"

	"fugu/ledger"
	"fugu/privacy"
)

var jointly = []string{"budget: {", "composition: joint\n  budget: {"}

// costs asks statements one after the other, each at its ε.
func (h *house) costs(t *testing.T, epsilon float64, statements ...string) []ledger.Answer {
	t.Helper()
	var out []ledger.Answer
	for _, sql := range statements {
		q, err := h.question(t, sql, nil, settings{epsilon: privacy.Epsilon(epsilon)})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		a, err := q.answer(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		out = append(out, a)
	}
	return out
}

func TestSmokeJoint(t *testing.T) {
	h, n := newHouse(t, append(jointly, "mechanism: auto", "mechanism: optimal-gaussian")...), newHouse(t, "mechanism: auto", "mechanism: optimal-gaussian","budget: {epsilon: 20","budget: {epsilon: 20000")
	for _, sql := range []string{
		"SELECT count(*) FROM adult WHERE age > 40",
		"SELECT sex, count(*) FROM adult GROUP BY sex",
		"SELECT education, count(*) FROM adult GROUP BY education",
		"SELECT sex, avg(age), count(*) FROM adult GROUP BY sex",
		"SELECT education, count(*) FROM adult WHERE age > 40 GROUP BY education",
		"SELECT sum(age) FROM adult WHERE sex = 'Male'",
	} {
		a, b := h.costs(t, 1, sql)[0], n.costs(t, 1, sql)[0]
		fmt.Println(sql, a.Mechanism, a.Assumption, a.Losses, a.Certificates, "NOISE", b.Mechanism, b.Losses, a.Cells[0].SD, b.Cells[0].SD)
	}
	sa, _ := h.engine.ledger.Spent(t.Context(), "adult", "")
	sb, _ := n.engine.ledger.Spent(t.Context(), "adult", "")
	fmt.Println(sa, sb)
	for i := range sa {
		fmt.Println(sa[i].Loss.EpsilonAt(.01), sb[i].Loss.EpsilonAt(.01))
	}
}
