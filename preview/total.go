package preview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"fugu/account"
	"fugu/policy"
	"fugu/privacy"
)

// Workload is what there is to say of the statements of a text, and of each dataset that they ask.
type Workload struct {
	Epsilon    float64     `json:"epsilon"` // of each answer with noise, and of the twin
	Statements []Statement `json:"statements"`
	Totals     []Total     `json:"totals"`

	desk     *Desk
	twins    map[string]twinOf         // by dataset and table
	policies map[string]*policy.Policy // by dataset
}

// Total is what all statements about one dataset come to.
type Total struct {
	Dataset  string  `json:"dataset"`
	Delta    float64 `json:"delta"` // of the budget, and of the twin
	Answered int     `json:"answered"`
	Refused  int     `json:"refused"`
	Price    float64 `json:"price"` // ε of one run with noise, beside what was spent; -1: no ε is enough
	Left     float64 `json:"left"`  // ε of the budget
	// Runs is how many times the budget answers all that is answered, each time anew; -1: it costs nothing. What was
	// asked before word for word is free.
	Runs int `json:"runs"`

	// Medians, over the statements of which both are foreseen, of the medians of their values' errors.
	Noise *float64 `json:"noise_error,omitempty"`
	Twin  *float64 `json:"twin_error,omitempty"`

	// Supposed is the least share of the rows that the twin takes every combination of the secrets to have, which its
	// policy would have to say (smallest); 0: none is needed.
	Supposed   float64 `json:"twin_supposes_smallest,omitempty"`
	Impossible string  `json:"twin_impossible,omitempty"` // why there can be no twin
	Advice     Advice  `json:"advice"`
	Reason     string  `json:"reason"`
}

// Advice is what to write for answers in a policy.
type Advice string

// The two ways to answer.
const (
	AdviseTwin  Advice = "twin"
	AdviseNoise Advice = "noise"
)

// settle finds the dataset of a statement that is refused before its policy is asked: that of the only policy.
func (w *Workload) settle(_ context.Context, s *Statement) error {
	if s.Dataset == "" && len(w.desk.loaded.Policies) == 1 {
		p := w.desk.loaded.Policies[0]
		s.Dataset, w.policies[p.Dataset] = p.Dataset, p
	}
	if s.Unknown == "" && s.Twin == nil {
		s.Unknown = "a twin answers it; no model says how well"
	}
	return nil
}

// sum adds up what was noted of each dataset's statements.
func (w *Workload) sum(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(w.policies)) {
		p := w.policies[name]
		t := Total{Dataset: name, Delta: float64(p.Privacy.Budget.Delta)}
		losses, seen := map[string]privacy.Loss{}, map[string]bool{}
		var noise, twin []float64
		for _, s := range w.Statements {
			switch {
			case s.Dataset != name:
				continue
			case s.Noise == nil:
				t.Refused++
				continue
			}
			t.Answered++
			if s.Twin != nil && s.Noise.Relative != nil && s.Twin.Relative != nil {
				noise, twin = append(noise, *s.Noise.Relative), append(twin, *s.Twin.Relative)
			}

			// The same question is paid for once.
			if seen[s.question] {
				continue
			}
			seen[s.question] = true
			for secret, l := range s.losses {
				losses[secret] = losses[secret].Plus(l)
			}
		}
		if len(noise) > 0 {
			n, o := median(noise), median(twin)
			t.Noise, t.Twin = &n, &o
		}
		for _, k := range slices.Sorted(maps.Keys(w.twins)) {
			x := w.twins[k]
			switch {
			case !strings.HasPrefix(k, name+" "):
			case x.err == nil:
				t.Supposed = max(t.Supposed, x.supposed)
			case !errors.Is(x.err, errPublic):
				t.Impossible = x.err.Error()
			}
		}

		balances, err := account.Balances(ctx, w.desk.desk.Ledger, p, "")
		if err != nil {
			return err
		}
		t.spend(balances, losses, len(seen))
		t.advise()
		w.Totals = append(w.Totals, t)
	}
	return nil
}

// mostRuns is a number of runs that nobody counts any more.
const mostRuns = 1 << 20

// spend says what so many answers with these losses take from the accounts of everybody.
func (t *Total) spend(balances []account.Balance, losses map[string]privacy.Loss, answers int) {
	t.Runs, t.Left = -1, math.Inf(1)
	for _, b := range balances {
		l, ok := losses[b.Secret]
		if b.Scope != "" || !ok || l == (privacy.Loss{}) {
			continue
		}
		after := func(runs int) float64 {
			releases := b.Loss.Releases()
			if answers*runs > 1 {
				releases = 2
			}
			k := float64(runs)
			all := b.Loss.Plus(privacy.Loss{Pure: k * l.Pure, Kappa2: k * l.Kappa2, Delta: k * l.Delta})
			return all.SpentAt(b.Delta, releases)
		}

		// As many as fit: between a number that does and one that does not.
		fits, not := 0, 1
		for not < mostRuns && after(not) <= b.Total {
			fits, not = not, 2*not
		}
		for not-fits > 1 {
			if mid := (fits + not) / 2; after(mid) <= b.Total {
				fits = mid
			} else {
				not = mid
			}
		}
		if t.Runs < 0 || fits < t.Runs {
			t.Runs = fits
		}
		t.Price, t.Left = max(t.Price, after(1)-b.Spent), min(t.Left, b.Left)
	}
	if math.IsInf(t.Left, 1) {
		t.Left = 0
	}
	if math.IsInf(t.Price, 1) {
		t.Price = -1
	}
}

// advise says which of the two to choose, and why.
func (t *Total) advise() {
	all := t.Answered + t.Refused
	choose := func(a Advice, format string, args ...any) { t.Advice, t.Reason = a, fmt.Sprintf(format, args...) }
	percent := func(x *float64) string { return fmt.Sprintf("%.2g%%", 100**x) }

	// The first reason that holds decides: what cannot be, what is refused, what the budget pays for, and then the
	// errors.
	switch {
	case t.Impossible != "":
		choose(AdviseNoise, "there can be no twin: %s", t.Impossible)
	case t.Refused > 0:
		choose(AdviseTwin, "%d of %d statements have no answer with noise, and a twin answers all", t.Refused, all)
	case t.Runs == 0:
		choose(AdviseTwin, "with noise the budget does not answer all of it even once, and a twin is paid for once")
	case t.Noise == nil:
		choose(AdviseNoise, "all of it is answered, and nothing says how far a twin would be off")
	case *t.Twin <= *t.Noise:
		choose(AdviseTwin, "it is off by %s (noise: %s), and paid for once", percent(t.Twin), percent(t.Noise))
	case t.Runs < 0:
		choose(AdviseNoise, "it costs nothing")
	default:
		choose(AdviseNoise, "it is off by %s (a twin: %s), and the budget answers all of it %d times, "+
			"each time of other rows or with other constants", percent(t.Noise), percent(t.Twin), t.Runs)
	}
}
