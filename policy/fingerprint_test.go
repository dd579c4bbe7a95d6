package policy

import (
	"os"
	"strings"
	"testing"
)

// changes are those of the example's text, and whether it means the same after them.
var changes = []struct {
	old, new string
	same     bool
}{
	{old: "# Contract:", new: "# Example:", same: true},
	{old: "version: 1\n", new: "version:   1\n\n", same: true},
	{old: "public.adult:", new: `'"public".adult':`, same: true},
	{old: "table: public.adult", new: "table: Adult", same: true},
	{old: "[Female, Male]", new: "['Female', Male]", same: true},
	{old: "income = '>50K'", new: `"income = '>50K'"`, same: true},
	{old: "[[0.68, 0.72]]", new: "[[0.72, 68e-2]]", same: true},
	{old: "[translation, gaussian]", new: "[gaussian, translation]", same: true},
	{old: "mechanism: auto", new: "", same: true},
	{old: "[alice, bob]", new: "[alice]", same: true},
	{old: "epsilon: 20", new: "epsilon: 21", same: true},
	{old: "per: dataset}", new: "per: user}", same: true},

	{old: "dataset: adult", new: "dataset: adult2"},
	{old: "dataset: adult", new: "dataset: adult\ndatabase: other"},
	{old: "public.adult", new: "public.adult3"},
	{old: "rows: 35222", new: "rows: 35223"},
	{old: "adult_reference", new: "adult_reference2"},
	{old: "plain_rows: reference", new: "plain_rows: deny"},
	{old: "[Female, Male]", new: "[Male, Female]"},
	{old: "[Female, Male]", new: "[Female, Male, null]"},
	{old: "education: reference", new: "education: [reference]"},
	{old: "to: 90", new: "to: 91"},
	{old: "high_income:", new: "higher_income:"},
	{old: ">50K", new: ">60K"},
	{old: "within: 0.05", new: "within: 0.06"},
	{old: "0.72", new: "0.73"},
	{old: "[translation, gaussian]", new: "[translation]"},
	{old: "epsilon: 1 ", new: "epsilon: 2 "},
	{old: "delta: 0.001", new: "delta: 0.002"},
	{old: "mechanism: auto", new: "mechanism: directional"},
	{old: "mechanism: auto", new: "estimation: 2"},
	{old: "mechanism: auto", new: "estimation: {delta: 1e-6}"},
	{old: "mechanism: auto", new: "weights: absolute"},
	{old: "mechanism: auto", new: "model: {within: {rows: 5, lambda: 0.1}}"},
	{old: "mechanism: auto", new: "estimation: 0\n  weights: sampling", same: true},
	{old: "mechanism: auto", new: "error: 150%", same: true}, // answers stay what they are
	{old: "rows: 35222", new: "rows: 35222\n    drawn: from-reference"},
	{old: "rows: 35222", new: "rows: 35222\n    drawn: independently", same: true},
	{old: "proportion: income", new: "about: distribution\n    proportion: income"},
	{old: "proportion: income", new: "about: dataset\n    proportion: income", same: true},
	{old: "proportion: income", new: "mean: income"},
}

// TestFingerprint changes the example one place at a time.
func TestFingerprint(t *testing.T) {
	data, err := os.ReadFile("testdata/adult.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	print := func(text string) string {
		t.Helper()
		p, err := Parse("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return p.Fingerprint
	}
	original := print(text)
	for _, c := range changes {
		changed := strings.ReplaceAll(text, c.old, c.new)
		if changed == text {
			t.Fatalf("%q is not in the example", c.old)
		}
		if got := print(changed); (got == original) != c.same {
			t.Errorf("%q for %q: same fingerprint %v, want %v", c.new, c.old, got == original, c.same)
		}
	}
}

// TestFingerprintOfCategories changes the pairs of categories.
func TestFingerprintOfCategories(t *testing.T) {
	data, err := os.ReadFile("testdata/properties.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	text := strings.ReplaceAll(string(data), "{grade: [", "{g2: [a, b, null], grade: [")
	for _, c := range [][2]string{
		{"", ""}, {"within: 0.05", "within: 0.06"}, {"{b: 1, a: 0}", "{b: 0.9, a: 0.1}"},
		{"categories: zone, values: {from: 0.1", "categories: zone, values: {from: 0.2"},
		{"to: 0.5, within: 0.2", "to: 0.6, within: 0.2"}, {"12.5", "12"}, {"[[3e3, 2500]]", "[[3e3, 2501]]"},
		{"categories: grade", "categories: g2"},
	} {
		p, err := Parse("f", []byte(strings.ReplaceAll(text, c[0], c[1])))
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[p.Fingerprint]; twice {
			t.Errorf("%q has the fingerprint of %q", c[1], other)
		}
		seen[p.Fingerprint] = c[1]
	}
}

func TestFingerprintOrder(t *testing.T) {
	data, err := os.ReadFile("testdata/names.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	first := strings.Index(text, "  '\"Shop\"")
	second := strings.Index(text, "  shop.customers:\n")
	end := strings.Index(text, "secrets:")
	swapped := text[:first] + text[second:end] + text[first:second] + text[end:]
	a, errA := Parse("f", []byte(text))
	b, errB := Parse("f", []byte(swapped))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.Tables[0].Name == b.Tables[0].Name {
		t.Fatal("not swapped")
	}
	if a.Fingerprint != b.Fingerprint {
		t.Error("the order of tables changes the fingerprint")
	}
}

// TestFingerprintOfNetworks changes one place of a network at a time.
func TestFingerprintOfNetworks(t *testing.T) {
	data, err := os.ReadFile("testdata/network.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	original, err := Parse("f", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old, new string
		same     bool
	}{
		{old: `[sex, '"Age"']`, new: `['"Age"', sex]`, same: true},
		{old: `[sex, '"Age"']`, new: "[sex]"},
		{old: "[weak, strong]", new: "[strong, weak]"},
		{old: "[[0.4, 0.6]]", new: "[[0.6, 0.4]]"},
		{old: "column: income", new: "column: incomes"},
		{old: "parents: [incomes, hours]", new: "parents: [hours, incomes]"},
		{old: "parameter: incomes", new: "parameter: schooling"},
	} {
		changed := strings.Replace(text, c.old, c.new, 1)
		if changed == text {
			t.Fatalf("%q is not in the file", c.old)
		}
		p, err := Parse("f", []byte(changed))
		if err != nil {
			t.Fatal(err)
		}
		if (p.Fingerprint == original.Fingerprint) != c.same {
			t.Errorf("%q for %q: same fingerprint %v, want %v", c.new, c.old, !c.same, c.same)
		}
	}
}
