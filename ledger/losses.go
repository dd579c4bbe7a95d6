package ledger

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"fugu/privacy"
)

// names returns the secrets of the losses in order.
func names(losses map[string]privacy.Loss) []string { return slices.Sorted(maps.Keys(losses)) }

// plus returns the loss of both, each part rounded up: however many losses are added one after the other, the total is
// never below their sum.
func plus(a, b privacy.Loss) privacy.Loss {
	return privacy.Loss{Pure: addUp(a.Pure, b.Pure), Kappa2: addUp(a.Kappa2, b.Kappa2), Delta: addUp(a.Delta, b.Delta)}
}

// addUp returns the least float64 that is at least a+b. The rounding error of the nearest float64 is itself a float64
// [Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B], and its sign says whether to step up.
func addUp(a, b float64) float64 {
	s := a + b
	bb := s - a
	if (a-(s-bb))+(b-bb) > 0 {
		return math.Nextafter(s, math.Inf(1))
	}
	return s
}

// Exhausted is the error of a charge that its scope cannot pay. Nothing was booked.
type Exhausted struct {
	Dataset, Scope, Secret string
	Limit                  privacy.Budget
	Spent, Wanted          privacy.Loss
}

// Error says what is left and what would be needed, as ε at the limit's δ. It depends on the ledger and on what was
// asked, never on protected rows, so a client may see it.
func (e *Exhausted) Error() string {
	limit, delta := float64(e.Limit.Epsilon), float64(e.Limit.Delta)
	spent, after := e.Spent.SpentAt(delta, 2), plus(e.Spent, e.Wanted).SpentAt(delta, e.Spent.Releases())
	left, needs := limit-spent, after-spent
	leftText, needsText := "nothing", "more than its delta allows"
	if left > 0 {
		leftText = "epsilon " + short(left, apart(left, needs))
	}
	if finite(needs) {
		needsText = "epsilon " + short(needs, apart(left, needs))
	}
	return fmt.Sprintf("the privacy budget of %s is exhausted for secret %q: of epsilon %s at delta %s, %s is left, and the statement needs %s",
		whose(e.Dataset, e.Scope), e.Secret, short(limit, -1), short(delta, -1), leftText, needsText)
}

// apart is the number of significant digits, 4 or more, that shows v and w as different where they are.
func apart(v, w float64) int {
	n := 4
	for n < 17 && short(v, n) == short(w, n) {
		n++
	}
	return n
}

func short(v float64, digits int) string { return strconv.FormatFloat(v, 'g', digits, 64) }
