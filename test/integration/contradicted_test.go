package integration

import (
	"strings"
	"testing"
)

// An answer that contradicts the model by hundreds of standard deviations, as the secret is far outside of the policy's
// range, has no estimates. It is paid for: the result is what was released, with a notice, and fugu.estimate is a clear
// error.
func TestContradictedAnswerIsReleased(t *testing.T) {
	f := serve(t, options{policy: append([]string{"values: {from: 0.10, to: 0.60, within: 0.05}",
		"values: {from: 0.80, to: 0.85, within: 0.0001}", "budget: {epsilon: 20, delta: 0.01",
		"budget: {epsilon: 2000, delta: 0.9", "epsilon: 1  ", "epsilon: 50  "}, estimatesPolicy...)})
	out, err := f.psql(t, `SET fugu.answer = 'estimate';
SELECT 'shown ' || count(*) FROM adult WHERE income = '>50K';
SELECT mean FROM fugu.estimate;
RESET fugu.answer;
SELECT 'shown ' || count(*) FROM adult WHERE income = '>50K';
`)
	if err != nil {
		t.Error(err)
	}
	var shown []string
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "shown ") {
			shown = append(shown, line)
		}
	}
	if len(shown) != 2 || shown[0] != shown[1] {
		t.Errorf("shown %v, not what was released, in\n%s", shown, out)
	}
	for _, want := range []string{"NOTICE:  fugu: the values are those released, and no estimates",
		"ERROR:  the answer has no estimates"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
