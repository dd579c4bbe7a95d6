package policy

import (
	"os"
	"strings"
	"testing"
	"time"

	"fugu/privacy"
)

func TestShares(t *testing.T) {
	p := load(t, "testdata/shares.good.yaml")
	b := p.Privacy.Budget
	for user, want := range map[string]privacy.Epsilon{"alice": 20, `o'brien "x"`: 1, "carol": 5, "eve": 5, "": 5} {
		if got, ok := b.Share(user); !ok || got.Epsilon != want {
			t.Errorf("%q has %+v, %v, want %v", user, got, ok, want)
		}
	}
	if gs := b.Groups("carol"); len(gs) != 2 || gs[0].Name != "a-team" || gs[1].Name != "interns" ||
		gs[1].Limit != (privacy.Budget{Epsilon: 4, Delta: 0.001}) {
		t.Errorf("carol is in %+v", gs)
	}
	if gs := b.Groups("alice"); len(gs) > 0 {
		t.Errorf("alice is in %+v", gs)
	}
	if b.Renew != 91*24*time.Hour || p.Epoch != (Epoch{"2026-Q4", IndependentDraw}) {
		t.Errorf("renewed after %v, epoch %+v", b.Renew, p.Epoch)
	}
	if s := b.Renewal(); !strings.Contains(s,
		"after k periods everything told is (k times 20, k times 0.01)-indistinguishable") ||
		!strings.Contains(s, "of 5 periods, epsilon 100 at delta 0.05") {
		t.Error(s)
	}
}

// A user's share and a group's are enough, without one for everybody else; and a draw is enough of an epoch.
func TestSharesWithoutADefault(t *testing.T) {
	data, err := os.ReadFile("testdata/shares.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, edit := range [][2]string{{"      default: {epsilon: 5, delta: 0.002}\n", ""},
		{"        'o''brien \"x\"': {epsilon: 1, delta: 0.001}\n", ""},
		{"        a-team: {members: [carol], epsilon: 6, delta: 0.002}\n", ""}, {"label: 2026-Q4, ", ""}} {
		if !strings.Contains(text, edit[0]) {
			t.Fatalf("%q is not in the file", edit[0])
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	p, err := Parse("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Privacy.Budget.Shares; s.Default != nil || len(s.Users) != 1 || len(s.Groups) != 1 ||
		p.Epoch != (Epoch{"", IndependentDraw}) {
		t.Errorf("%+v, %+v", s, p.Epoch)
	}
}

// With per: user and no share, a user's own account is as large as the budget; per: dataset has none.
func TestNoShares(t *testing.T) {
	for per, want := range map[Per]bool{PerUser: true, PerDataset: false} {
		b := Budget{Epsilon: 20, Delta: 0.01, Per: per}
		if got, ok := b.Share("alice"); ok != want || ok && got != (privacy.Budget{Epsilon: 20, Delta: 0.01}) {
			t.Errorf("%s: %+v, %v", per, got, ok)
		}
		if b.Groups("alice") != nil || b.Renewal() != "" {
			t.Errorf("%s: %+v", per, b)
		}
	}
}

// What is only a limit, or names the data, does not end stored answers by another fingerprint.
func TestFingerprintIgnoresSharesAndEpochs(t *testing.T) {
	data, err := os.ReadFile("testdata/shares.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	original, err := Parse("f", data)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, c := range [][2]string{{"epsilon: 5, ", "epsilon: 7, "}, {"[carol, dave]", "[dave]"},
		{"interns:", "juniors:"}, {"P13W", "P30D"}, {"renew: P13W", "renew: never"},
		{"2026-Q4", "2027-Q1"}, {"draw: independent",
			"draw: dependent"}, {"epoch: {label: 2026-Q4, draw: independent}\n", ""},
		{text[strings.Index(text, "    shares:"):strings.Index(text, "    renew:")], ""}} {
		changed := strings.Replace(text, c[0], c[1], 1)
		p, err := Parse("f", []byte(changed))
		if err != nil || changed == text {
			t.Fatalf("%q: %v", c, err)
		}
		if p.Fingerprint != original.Fingerprint {
			t.Errorf("%q changes the fingerprint", c)
		}
	}
}
