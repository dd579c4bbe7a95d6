package columns

import (
	"testing"

	"fugu/policy"
)

// There is a warning where the twin shows all that a secret's condition reads, and none where a column of it is left
// out, wherever the condition mentions that.
func TestAsked(t *testing.T) {
	shown := policy.Column{Name: "hours", Transport: &policy.Transport{Hide: "rich"}}
	for _, c := range []struct {
		condition string
		drop      []string
		warned    bool
	}{
		{"income > 50", nil, true},
		{"income > 50", []string{"age"}, true},
		{"income > 50", []string{"income"}, false},
		{"income > 50 AND lower(people.sex) = 'f'", []string{"sex"}, false},
		{"(people).income > 50", []string{"income"}, false},
		{"people IS NOT NULL", nil, true},
		{"people IS NOT NULL", []string{"age"}, false},
		{"income >", []string{"income"}, true}, // which nobody can read
	} {
		table := policy.Table{Schema: "public", Name: "people",
			Twin: &policy.Twin{Drop: c.drop, Columns: []policy.Column{shown}}}
		p := &policy.Policy{Secrets: []policy.Secret{{Name: "rich", Table: table.Qualified(), Proportion: c.condition}}}
		shown, warnings := Asked(p, table)
		if len(shown) != 1 || len(warnings) > 0 != c.warned {
			t.Errorf("%s without %v: %q, %q", c.condition, c.drop, shown, warnings)
		}
	}
}
