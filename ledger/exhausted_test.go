package ledger

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/privacy"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func TestExhaustedText(t *testing.T) {
	limit := privacy.Budget{Epsilon: 20, Delta: 0.01}
	exact := privacy.Budget{Epsilon: 1}
	pure := func(v float64) privacy.Loss { return privacy.Loss{Pure: v} }
	var out []string
	for _, e := range []Exhausted{
		{"adult", "", "high_income", limit, pure(19.5), pure(1)},
		{"adult", "bob", "high_income", limit, pure(19.5), pure(1)},
		{"adult", "", "high_income", limit, pure(20), pure(0.1)},
		{"adult", "", "high_income", limit, pure(25), pure(0.1)}, // the limit was lowered
		{"adult", "", "high_income", limit, privacy.Loss{}, pure(21)},
		{"adult", "", "high_income", exact, pure(0.9999), pure(0.00010000001)}, // four digits would look alike
		{"adult", "", "high_income", limit, privacy.Loss{Pure: 1, Delta: 0.009}, privacy.Loss{Delta: 0.002}},
		{"adult", "", "high_income", limit, privacy.Loss{Delta: 0.02}, pure(1)},
		{"adult", "", "high_income", limit, privacy.Loss{Pure: 13, Kappa2: 4}, privacy.Loss{Kappa2: 4}},
	} {
		out = append(out, e.Error())
	}
	golden(t, "exhausted.txt", strings.Join(out, "\n")+"\n")
}
