package privacy

import "testing"

func TestTolerance(t *testing.T) {
	for text, want := range map[string]Tolerance{"25": {Absolute: 25}, " 1.5e3": {Absolute: 1500},
		"110%": {Relative: 1.1}, "0": {}, "0%": {}, "0.5%": {Relative: .005}} {
		got, err := ParseTolerance(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := ParseTolerance(got.String()); err != nil || again != got {
			t.Errorf("%q is written %q", text, got)
		}
	}

	for _, text := range []string{"", "-1", "-1%", "NaN", "inf", "inf%", "1 %%", "fresh", "%"} {
		if got, err := ParseTolerance(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, c := range []struct {
		t         Tolerance
		sd, fresh float64
		want      bool
	}{
		{Tolerance{Absolute: 5}, 5, 1, true}, {Tolerance{Absolute: 5}, 5.01, 100, false},
		{Tolerance{Relative: 1.5}, 15, 10, true}, {Tolerance{Relative: 1.5}, 15.01, 10, false},
		{Tolerance{}, 1e-9, 1e9, false},
	} {
		if got := c.t.Allows(c.sd, c.fresh); got != c.want {
			t.Errorf("%s allows %v where a fresh one has %v: %v", c.t, c.sd, c.fresh, got)
		}
	}
}
