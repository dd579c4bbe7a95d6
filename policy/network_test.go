package policy

import (
	"reflect"
	"testing"
)

func TestNetwork(t *testing.T) {
	p := load(t, "testdata/network.good.yaml")
	n, ok := p.Network(QualifiedName{"public", "adult"})
	want := Network{Table: QualifiedName{"public", "adult"}, Independent: []string{"sex", "Age"}, At: at(10, 3),
		Parameters: []Parameter{
			{Name: "economy", Values: []string{"weak", "strong"}, Probabilities: [][]float64{{.4, .6}}, At: at(13, 7)},
			{Name: "incomes", Column: "income", Values: []string{"low", "high"}, Parents: []int{0},
				Probabilities: [][]float64{{.7, .3}, {.45, .55}}, At: at(14, 7)},
			{Name: "hours", Column: "hours_per_week", Values: []string{"short", "long"}, Parents: []int{0},
				Probabilities: [][]float64{{.6, .4}, {.5, .5}}, At: at(19, 7)},
			{Name: "schooling", Column: "education", Values: []string{"1", "2", "3"}, Parents: []int{1, 2},
				Probabilities: [][]float64{{.5, .3, .2}, {.4, .4, .2}, {.3, .4, .3}, {.2, .4, .4}}, At: at(20, 7)},
		}}
	if !ok || !reflect.DeepEqual(n, want) {
		t.Errorf("got\n%+v\nwant\n%+v", n, want)
	}
	if s := p.Secrets[0]; s.Parameter != "incomes" || s.About != AboutDistribution || s.Spans != nil ||
		s.PropertyAt != at(22, 45) {
		t.Errorf("%+v", s)
	}
}
