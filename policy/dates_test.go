package policy

import (
	"os"
	"strings"
	"testing"
)

// What a range of days means is a part of the policy's fingerprint, and how it is written is not.
func TestDates(t *testing.T) {
	p := load(t, "testdata/dates.good.yaml")
	want := []DateRange{{"2023-01-01", "2024-12-31", Month}, {"2024-02-29", "2024-02-29", Day},
		{"0001-01-01", "0001-12-31", Week}}
	for i, d := range p.Tables[0].GroupBy {
		if d.Dates == nil || *d.Dates != want[i] || d.Range != nil || d.Values != nil || d.FromReference {
			t.Errorf("%s is %+v", d.Column, d)
		}
	}

	data, err := os.ReadFile("testdata/dates.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for edit, same := range map[[2]string]bool{
		{"{from: 2023-01-01, to: 2024-12-31, by: month}", "{by: 'month', to: '2024-12-31', from: 2023-01-01}"}: true,
		{"by: month", "by: quarter"}: false, {"2024-12-31", "2024-12-30"}: false, {"2023-01-01", "2023-01-02"}: false,
	} {
		other, err := Parse("dates", []byte(strings.ReplaceAll(string(data), edit[0], edit[1])))
		if err != nil {
			t.Fatal(err)
		}
		if (other.Fingerprint == p.Fingerprint) != same {
			t.Errorf("%s for %s: the same fingerprint is %v", edit[1], edit[0], !same)
		}
	}
}
