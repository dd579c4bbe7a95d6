package pipeline

import (
	"testing"

	"fugu/mechanism"
	"fugu/test/patient"
)

// A count, a sum, and an average over every row are certified by their own law where a mechanism counts the rows'
// randomness; several values at once, and an average over some of the rows, for normal ones. The law moves as the
// model's means do: otherwise it would not have been taken.
func TestSumsAreCertifiedByTheirLaw(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	for sql, want := range map[string]string{
		"SELECT count(*) FROM adult WHERE age > 40":       "independent rows, translation",
		"SELECT sum(hours_per_week) FROM adult":           "independent rows, translation",
		"SELECT avg(age) FROM adult":                      "independent rows, translation",
		"SELECT avg(age) FROM adult WHERE sex = 'Female'": "gaussian, translation",
		"SELECT sex, count(*) FROM adult GROUP BY sex":    "gaussian, translation",
	} {
		q, err := h.question(t, sql, nil, settings{mechanism: mechanism.OptimalGaussian, confidence: defaultConfidence})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		x, err := q.Explain(t.Context())
		if err != nil || x.Assumption != want || len(x.Certificates) != 2 {
			t.Errorf("%s: assuming %s, %d certificates, %v; want %s", sql, x.Assumption, len(x.Certificates), err, want)
		}
		for _, c := range x.Certificates {
			if !(c.Delta > 0 && c.Delta <= .001) {
				t.Errorf("%s: %+v", sql, c)
			}
		}
	}
}
