package privacy

import (
	"math"
	"testing"
)

func TestWorth(t *testing.T) {
	for text, want := range map[string]Worth{"50%": .5, " 250% ": 2.5, "0.1%": .001} {
		w, err := ParseWorth(text)
		if err != nil || math.Abs(float64(w-want)) > 1e-12 {
			t.Errorf("%q: %v, %v", text, w, err)
		}
		if again, err := ParseWorth(w.String()); err != nil || again != w {
			t.Errorf("%q is written as %q", text, w)
		}
		if !w.Allows(float64(want)) || w.Allows(1.01*float64(want)) || w.Allows(math.Inf(1)) || w.Allows(math.NaN()) {
			t.Errorf("%q allows the wrong noise", text)
		}
	}

	for _, text := range []string{"", "%", "50", "0%", "-5%", "NaN%", "Inf%", "half", "5 0%"} {
		if w, err := ParseWorth(text); err == nil {
			t.Errorf("%q is %v", text, w)
		}
	}
	if none := Worth(0); !none.Allows(math.Inf(1)) || none.String() != "" {
		t.Error("no limit is one")
	}
}
